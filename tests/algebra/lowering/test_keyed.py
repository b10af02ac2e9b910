"""Keyed randomness: exact thresholds, independent secrets, and draws that follow the distribution."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.lowering.keyed import Randomness, threshold
from tarnkappe.algebra.noise import Static
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.errors import ParameterError
from tests.algebra import blood

KEY = bytes(range(32))
LIKELY = 0.001
"""With a fixed key a test gives the same result for ever; one in a thousand keys would fail it."""


@given(st.fractions(0, 1), st.integers(0, 2**256 - 1))
def test_a_hash_is_below_the_digits_if_and_only_if_its_number_is_below_the_share(
    share: Fraction, h: int
) -> None:
    digits = threshold(share)
    assert (digits is None or f"{h:064x}" < digits) == (Fraction(h, 2**256) < share)


def test_secrets_differ_by_key_place_and_purpose() -> None:
    secrets = {
        Randomness(key).secret(path, purpose)
        for key in (KEY, bytes(32))
        for path in ((), (0,), (0, 1), (1,))
        for purpose in ("a", "b")
    }
    assert len(secrets) == 16
    assert all(len(secret) == 32 for secret in secrets)
    assert Randomness(KEY).secret((0,), "a") == Randomness(KEY).secret((0,), "a")
    assert Randomness().secret((0,), "a") != Randomness().secret((0,), "a")


def test_a_key_of_another_length_is_refused() -> None:
    with pytest.raises(ParameterError, match="32 bytes"):
        Randomness(b"short")


def drawn(
    text: str, table: pa.Table, noise: dict[str, Static], key: bytes = KEY, bucket: int = 2
) -> pa.Table:
    with connect({"t": table}) as backend:
        catalog = Catalog(backend.relations, noise=noise, bucket=bucket)
        return backend.execute(read_sql(text, backend.relations), catalog, key=key)


def fits(found: Counter[object], expected: dict[object, Fraction]) -> bool:
    total = sum(found.values())
    assert set(found) <= set(expected)
    values = list(expected)
    return chisquare([found[v] for v in values], [float(expected[v]) * total for v in values]).pvalue > LIKELY


ORACLES = [
    ("B", blood.GENOTYPES, "0.33", "00"),
    ("C", blood.RHESUS_NOISE, "0.5", "+"),
    ("C", blood.RHESUS_NOISE, "0.5", "-"),
    ("A", blood.NEAR_DAYS, "0.16", "01.01."),  # around the turn of the year
    ("A", blood.EVERY_DAY, "1", "29.02."),
]


@pytest.mark.parametrize(("column", "noise", "p", "old"), ORACLES)
def test_single_cells_follow_the_published_oracle(column: str, noise: Static, p: str, old: str) -> None:
    table = pa.table({column: [old] * 20_000})
    found = drawn(f"SELECT * FROM randomize(t, probability => {{{column}: {p}}})", table, {column: noise})
    cells = Counter(found.column(column).to_pylist())
    assert fits(cells, dict(noise.outcomes(old, Fraction(p))))


def test_noise_of_no_probability_never_draws_and_of_certainty_always() -> None:
    noise = {"x": Static({"new": Fraction(1)})}
    table = pa.table({"x": ["old"] * 1000})
    for p, expected in (("0", "old"), ("1", "new")):
        found = drawn(f"SELECT * FROM randomize(t, probability => {{x: {p}}})", table, noise)
        assert set(found.column("x").to_pylist()) == {expected}


def test_two_occurrences_and_two_columns_draw_independently() -> None:
    coin = Static({"h": Fraction(1, 2), "t": Fraction(1, 2)})
    table = pa.table({"n": range(8000), "x": ["h"] * 8000, "y": ["h"] * 8000})
    tosses = "SELECT n, x, y FROM randomize(t, probability => {x: 1, y: 1})"
    again = f"SELECT n, x AS x2 FROM ({tosses.replace('SELECT n, x, y', 'SELECT n, x')})"
    found = drawn(f"SELECT * FROM ({tosses}) NATURAL JOIN ({again})", table, {"x": coin, "y": coin})
    triples = Counter(zip(*(found.column(c).to_pylist() for c in ("x", "y", "x2")), strict=True))
    expected = {(a, b, c): Fraction(1, 8) for a in "ht" for b in "ht" for c in "ht"}
    assert fits(triples, expected)


def test_every_order_of_a_bucket_is_equally_likely_and_every_set_has_its_own() -> None:
    rows = 6000
    table = pa.table({"a": range(rows), "b": range(rows), "c": range(rows)})
    found = drawn("SELECT * FROM slice(t, groups => [[a], [b], [c]])", table, {}, bucket=3)
    parts = sorted(zip(*(found.column(c).to_pylist() for c in "abc"), strict=True))
    assert [b for _, b, _ in parts] != list(range(rows))
    outcomes: Counter[object] = Counter()
    for start in range(0, rows, 3):
        bucket = parts[start : start + 3]
        assert {b for _, b, _ in bucket} == {c for _, _, c in bucket} == set(range(start, start + 3))
        outcomes[tuple((b - start, c - start) for _, b, c in bucket)] += 1
    assert len(outcomes) == 36
    assert fits(outcomes, dict.fromkeys(outcomes, Fraction(1, 36)))


def test_the_remainder_joins_the_last_bucket() -> None:
    found = drawn(
        "SELECT * FROM slice(t, groups => [[a], [b]])", pa.table({"a": range(8), "b": range(8)}), {}, bucket=3
    )
    pairs = zip(found.column("a").to_pylist(), found.column("b").to_pylist(), strict=True)
    assert {(min(a // 3, 1), min(b // 3, 1)) for a, b in pairs} == {(0, 0), (1, 1)}
