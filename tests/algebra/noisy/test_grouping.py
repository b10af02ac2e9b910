"""Noisy aggregates: right without noise, calibrated to what one row can change, silent about who is there."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.noisy import grouping
from tarnkappe.algebra.noisy.grid import NumberGrid
from tarnkappe.algebra.noisy.mechanisms import _calibrated, laplace, least
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy import Hierarchy

SILENT = 10**12
"""An epsilon at which no noise is ever drawn."""
TOWNS = Hierarchy.from_rows([["Bonn", "*"], ["Kiel", "*"], ["Ulm", "*"], [None, "*"]])
ROWS = [
    ("Ulm", 30, 1.5),
    ("Ulm", 50, -9.0),
    ("Bonn", 200, 2.25),
    (None, 20, None),
    ("Atlantis", 1, 1.0),
    ("Ulm", None, 3.5),
]


def backend_of(rows: list[tuple[Any, ...]]) -> Backend:
    towns, ages, values = zip(*rows, strict=True) if rows else ((), (), ())
    return connect(
        {
            "t": pa.table(
                {
                    "town": pa.array(towns, pa.string()),
                    "alter": pa.array(ages, pa.int64()),
                    "value": pa.array(values, pa.float64()),
                }
            )
        }
    )


def ask(backend: Backend, text: str) -> list[dict[str, Any]]:
    catalog = Catalog(backend.relations, {"town": TOWNS})
    return backend.execute(read_sql(text, backend.relations), catalog).to_pylist()


@pytest.fixture(scope="module")
def towns() -> Iterator[Backend]:
    with backend_of(ROWS) as backend:
        yield backend


def clamped(values: list[Any], low: float, high: float) -> list[float]:
    return [min(max(value, low), high) for value in values if value is not None]


def test_without_noise_they_are_the_aggregates_of_clamped_values(towns: Backend) -> None:
    e = f"epsilon => {SILENT}"
    found = ask(
        towns,
        f"""SELECT town, noisy_count(*, {e}) AS n, noisy_count(alter, {e}) AS known,
            noisy_sum(alter, {e}, lower => 18, upper => 90) AS total,
            noisy_sum(value, {e}, lower => -2, upper => 2) AS real,
            noisy_mean(alter, {e}, lower => 18, upper => 90) AS mean FROM t GROUP BY town""",
    )
    assert {row["town"] for row in found} == set(TOWNS.values)
    for row in found:
        mine = [r for r in ROWS if r[0] == row["town"]]
        ages = clamped([r[1] for r in mine], 18, 90)
        assert (row["n"], row["known"], row["total"]) == (len(mine), len(ages), sum(ages))
        assert row["real"] == pytest.approx(sum(clamped([r[2] for r in mine], -2, 2)), abs=1e-4)
        if ages:
            assert row["mean"] == pytest.approx(sum(ages) / len(ages))


def test_without_noise_a_quantile_is_balanced() -> None:
    with backend_of([("Ulm", n, None) for n in (20, 21, 22, 70, 71)]) as backend:
        for at, expected in (("0", 18), ("1/2", 22), ("1", 90)):
            text = f"SELECT noisy_quantile(alter, at => {at}, epsilon => {SILENT}, lower => 18, upper => 90) AS q FROM t"
            ((found,),) = [row.values() for row in ask(backend, text)]
            if at == "1/2":
                assert found == expected
            else:  # every value beyond the last is as balanced
                assert (found <= 20) if at == "0" else (found >= 71)


def test_groups_do_not_depend_on_the_data(towns: Backend) -> None:
    """An attacker looks for the only person of a town: the town is there without him, and no other town is."""
    text = "SELECT town, noisy_count(*, epsilon => 1) AS n FROM t GROUP BY town"
    with backend_of([]) as empty:
        assert {row["town"] for row in ask(empty, text)} == {row["town"] for row in ask(towns, text)}
    with pytest.raises(HierarchyError, match="must not depend on the data"):
        ask(towns, "SELECT alter, noisy_count(*, epsilon => 1) AS n FROM t GROUP BY alter")


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT x.town, x.alter FROM t AS x JOIN (SELECT alter AS y FROM t) ON x.alter < y)",
        "generalize(t, k => 2, by => [town])",
        "slice(t, groups => [[town], [alter], [value]])",
        "(SELECT town, count(*) AS alter FROM t GROUP BY town)",
    ],
)
def test_where_one_row_reaches_without_bound_there_is_no_noise_that_hides_it(
    towns: Backend, source: str
) -> None:
    with pytest.raises(ParameterError, match="cannot stand above"):
        ask(towns, f"SELECT noisy_count(*, epsilon => 1) AS n FROM {source}")


def test_a_plain_aggregate_beside_a_noisy_one_is_refused(towns: Backend) -> None:
    with pytest.raises(ParameterError, match="no plain ones"):
        ask(towns, "SELECT noisy_count(*, epsilon => 1) AS n, count(*) AS m FROM t")


def test_a_noisy_result_is_a_relation_like_any_other(towns: Backend) -> None:
    text = f"SELECT town, noisy_count(*, epsilon => {SILENT}) AS n FROM t GROUP BY town"
    assert {row["town"] for row in ask(towns, f"SELECT town FROM ({text}) WHERE n > 1")} == {"Ulm"}


rows = st.lists(
    st.tuples(
        st.sampled_from(["Ulm", "Bonn", None, "Atlantis"]),
        st.none() | st.integers(-(10**6), 10**6),
        st.none() | st.floats(-1e9, 1e9, allow_nan=False),
    ),
    max_size=6,
)
SOURCES = ["t", "(SELECT * FROM t UNION ALL SELECT * FROM t)", "(SELECT DISTINCT * FROM t WHERE alter > 0)"]
ASKED = """SELECT town, noisy_count(*, epsilon => 1) AS n, noisy_sum(alter, epsilon => 1, lower => -5, upper => 40) AS a,
    noisy_sum(value, epsilon => 1, lower => 2, upper => 3) AS b, noisy_mean(value, epsilon => 1, lower => -1, upper => 7) AS c,
    noisy_quantile(alter, at => 1/3, epsilon => 1, lower => 0, upper => 100) AS d FROM {} GROUP BY town"""


@settings(max_examples=8)
@given(rows, st.sampled_from(SOURCES))
def test_the_noise_is_calibrated_to_what_one_row_can_change(
    several: list[tuple[Any, ...]], source: str
) -> None:
    """The attacker has the table with and without one row, and looks at all numbers before they are noised."""
    several = [("Ulm", 10**6, 1e9), *several]
    seen: list[list[tuple[list[int], int]]] = []
    for some in (several, several[1:]):
        calls: list[tuple[list[int], int]] = []
        with pytest.MonkeyPatch.context() as patch, backend_of(some) as backend:
            patch.setattr(
                grouping, "laplace", lambda v, s, e, calls=calls: calls.append((list(v), s)) or list(v)
            )
            patch.setattr(grouping, "least", lambda v, s, e, calls=calls: calls.append((list(v), s)) or 0)
            ask(backend, ASKED.format(source))
        seen.append(calls)
    sums, quantiles = 5, len(TOWNS.values)
    assert len(seen[0]) == len(seen[1]) == sums + quantiles
    for place, ((one, s), (other, t)) in enumerate(zip(*seen, strict=True)):
        changes = [abs(a - b) for a, b in zip(one, other, strict=True)]
        assert s == t
        assert (sum(changes) if place in (0, 1, 2, 3, 4) or max(changes) == 0 else max(changes)) <= s


@pytest.mark.parametrize(
    ("sensitivity", "epsilon"), list(itertools.product((1, 7, 10**6), ("1/1000", "1/3", "1", "20")))
)
def test_every_measurement_keeps_its_epsilon_by_its_own_account(sensitivity: int, epsilon: str) -> None:
    from opendp import domains, measurements, metrics, mod

    mod.enable_features("contrib")

    def make(scale: float) -> Any:
        domain = domains.vector_domain(domains.atom_domain(T="i64"))
        return measurements.make_laplace(domain, metrics.l1_distance(T="i64"), scale=scale)

    spent = Fraction(_calibrated(make, sensitivity, Fraction(epsilon)).map(sensitivity))
    assert Fraction("0.999999") * Fraction(epsilon) < spent <= Fraction(epsilon)


def test_noise_is_drawn_anew_for_every_answer() -> None:
    assert len({tuple(laplace([0] * 20, 1, Fraction(1, 10))) for _ in range(3)}) == 3
    assert len({least([0] * 1000, 1, Fraction(1)) for _ in range(20)}) > 1


def test_a_grid_spans_its_bounds() -> None:
    fine = NumberGrid.of(Fraction(-1), Fraction(3), whole=False)
    assert fine.value(0) == -1
    assert fine.value(fine.last) == 3
    assert NumberGrid.of(Fraction("17.5"), Fraction("90.5"), whole=True) == NumberGrid(
        Fraction(18), Fraction(1), 72
    )
    assert math.isclose(float(NumberGrid.of(Fraction(0), Fraction(10**9), whole=True).step), 10**9 / 2**20)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"noisy_sum(value, epsilon => 1, lower => {10**30}, upper => {10**30 + 1})", "too close together"),
        ("noisy_sum(town, epsilon => 1, lower => 0, upper => 1)", "needs numbers, but it is a text"),
    ],
)
def test_what_cannot_be_noised_is_refused(towns: Backend, text: str, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        ask(towns, f"SELECT {text} AS x FROM t")


def test_noise_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(ParameterError, match="too small"):
        laplace([1], 1, Fraction(1, 10**400))
