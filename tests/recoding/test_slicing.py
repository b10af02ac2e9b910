"""Slicing: what it permutes, which columns it keeps together, and what an attacker makes of it."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe import models
from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.bucketized import Bucketized
from tarnkappe.privacy import Model
from tarnkappe.recoding.column_groups import correlated_groups
from tarnkappe.recoding.correlation import cluster, contingency, correlations
from tarnkappe.recoding.judging import SPOILED_BY_MIXING, GroupEvaluator, group_models, mixing_remarks
from tarnkappe.recoding.matching import Matching
from tarnkappe.recoding.randomness import Chance
from tarnkappe.recoding.slicing import Slicing, slice_table
from tarnkappe.recoding.splitting import split_rows
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import encode, encode_column
from tarnkappe.table.row_tuples import row_tuples
from tests.random_tables import Example, examples
from tests.recoding.people import hierarchies_of, table_of
from tests.recoding.test_anatomy import INSTANCES

BASE6 = pa.table(
    {
        "A": ["01.01.", "05.01.", "31.01.", "20.03.", "25.03.", "31.03."],
        "B": ["00", "00", "B0", "A0", "A0", "B0"],
        "C": ["+", "+", "-", "+", "+", "-"],
        "D": ["18", "24", "32", "36", "42", "56"],
    }
)
ROWS6 = BASE6.to_pydict()
BUCKETS = np.array([0, 0, 0, 1, 1, 1], np.int32)


def outcome(names: str, groups: tuple[tuple[str, ...], ...], chance: Chance) -> tuple[Any, ...]:
    """A sliced table as a multiset of rows."""
    pieces = {}
    for group in groups:
        places = chance.trade_within(BUCKETS).tolist()
        pieces.update({name: [ROWS6[name][place] for place in places] for name in group})
    return tuple(sorted(zip(*(pieces[name] for name in names), BUCKETS.tolist(), strict=True)))


@pytest.mark.parametrize(
    ("names", "groups", "outcomes"),
    [("ABCD", (("A",), ("B", "C"), ("D",)), 324), ("AB", (("A",), ("B",)), 9)],
)
def test_every_outcome_of_the_document_is_equally_probable(
    names: str, groups: tuple[tuple[str, ...], ...], outcomes: int
) -> None:
    """Figure 23: 18 results a bucket, 324 in all; two columns: 9."""
    chance = Chance(seed=11)
    drawn = Counter(outcome(names, groups, chance) for _ in range(outcomes * 10))
    assert len(drawn) == outcomes
    assert scipy.stats.chisquare(list(drawn.values())).pvalue > 1e-4


def test_the_printed_outcome_is_possible() -> None:
    printed = [
        ("31.01.", "00", "+", "18"),
        ("05.01.", "00", "+", "32"),
        ("01.01.", "B0", "-", "24"),
        ("20.03.", "A0", "+", "36"),
        ("25.03.", "B0", "-", "42"),
        ("31.03.", "A0", "+", "56"),
    ]
    chance = Chance(seed=12)
    wanted = tuple(sorted((*row, place // 3) for place, row in enumerate(printed)))
    assert any(outcome("ABCD", (("A",), ("B", "C"), ("D",)), chance) == wanted for _ in range(3000)), (
        "one of 324, looked for 3,000 times"
    )


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=20), st.data())
@settings(max_examples=60)
def test_pieces_stay_whole_and_stay_in_their_bucket(rows: list[tuple[int, ...]], data: st.DataObject) -> None:
    buckets = np.array([data.draw(st.integers(0, 2)) for _ in rows], np.int32)
    names = ["a", "b", "c", "d"]
    table = Table(
        pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})
    ).with_roles(quasi_identifiers=names)
    groups = (("a", "c"), ("b",), ("d",))
    sliced = slice_table(table, groups, buckets, Chance(data.draw(st.integers(0, 9)))).to_pylist()
    for group in groups:
        places = [names.index(name) for name in group]
        before = Counter(
            (int(b) + 1, *(row[i] for i in places)) for b, row in zip(buckets, rows, strict=True)
        )
        assert before == Counter((row["bucket"], *(row[name] for name in group)) for row in sliced)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30))
def test_the_contingency_coefficient_in_fractions(pairs: list[tuple[int, int]]) -> None:
    ours, theirs = ([pair[i] for pair in pairs] for i in (0, 1))
    n = len(pairs)
    least = min(len(set(ours)), len(set(theirs)))
    slow = Fraction(0)
    for a, b in itertools.product(set(ours), set(theirs)):
        expected = Fraction(ours.count(a) * theirs.count(b), n * n)
        slow += (Fraction(pairs.count((a, b)), n) - expected) ** 2 / expected
    slow = slow / (least - 1) if least > 1 else Fraction(0)
    found = contingency(np.array(ours, np.int32), np.array(theirs, np.int32))
    assert found == pytest.approx(float(slow), abs=1e-12)
    assert -1e-12 <= found <= 1 + 1e-12


@given(st.integers(2, 6), st.integers(1, 6), st.randoms(use_true_random=False))
def test_no_exchange_of_a_medoid_makes_clusters_better(size: int, number: int, random: Any) -> None:
    matrix = np.eye(size)
    for i, j in itertools.combinations(range(size), 2):
        matrix[i, j] = matrix[j, i] = random.random()
    found = cluster(matrix, number)
    assert sorted(itertools.chain(*found)) == list(range(size))
    assert len(found) == min(number, size)

    def cost(medoids: tuple[int, ...]) -> float:
        return float((1 - matrix)[:, list(medoids)].min(axis=1).sum())

    best = min(cost(m) for m in itertools.product(*found))
    for group, other in itertools.product(range(len(found)), range(size)):
        for medoids in itertools.product(*found):
            if cost(medoids) == best and other not in medoids:
                changed = tuple(other if place == group else m for place, m in enumerate(medoids))
                assert cost(changed) >= best - 1e-9


def test_correlated_columns_stay_together() -> None:
    random = np.random.default_rng(1)
    town = random.integers(0, 20, 400)
    table = Table(
        pa.table(
            {
                "town": town,
                "county": town // 5,
                "sex": random.integers(0, 2, 400),
                "s": random.integers(0, 4, 400),
            }
        )
    ).with_roles(quasi_identifiers=["town", "county", "sex"], sensitive=["s"])
    columns = encode(table, table.column_names)
    groups = correlated_groups(table, columns, 3, lambda beside: not beside)
    assert ("town", "county") in groups
    assert correlations([columns["town"], columns["county"]])[0, 1] == pytest.approx(1.0)


def test_what_stands_beside_sensitive_columns_leaves_until_the_promises_hold() -> None:
    twin = np.arange(60) % 6
    table = Table(pa.table({"job": twin, "s": twin, "age": np.arange(60) % 7})).with_roles(
        quasi_identifiers=["job", "age"], sensitive=["s"]
    )
    columns = encode(table, table.column_names)
    assert ("job", "s") in correlated_groups(table, columns, 2, lambda _: True)
    assert ("s",) in correlated_groups(table, columns, 2, lambda beside: not beside)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=40), st.integers(2, 5))
def test_buckets_are_as_small_as_cuts_allow(points: list[tuple[int, int]], k: int) -> None:
    assume(len(points) >= k)
    columns = [encode_column(str(i), pa.chunked_array([[p[i] for p in points]])) for i in (0, 1)]

    def forbidden(buckets: np.ndarray) -> np.ndarray:
        return np.bincount(buckets[buckets >= 0], minlength=buckets.max() + 1) < k

    found = split_rows(columns, forbidden)
    for bucket in range(found.max() + 1):
        members = [p for p, own in zip(points, found, strict=True) if own == bucket]
        assert len(members) >= k
        for i in (0, 1):  # the cut nearest to the middle is not allowed in any column
            values = sorted(p[i] for p in members)
            cuts = [sum(v < cut for v in values) for cut in sorted(set(values))[1:]]
            if cuts:
                middle = min(cuts, key=lambda below: abs(2 * below - len(values)))
                assert min(middle, len(values) - middle) < k or any(
                    abs(2 * c - len(values)) == abs(2 * middle - len(values)) for c in cuts if c != middle
                )


@given(st.lists(st.tuples(st.integers(0, 1), *[st.integers(0, 2)] * 4), min_size=2, max_size=14))
@settings(max_examples=50)
def test_matching_buckets_by_brute_force(rows: list[tuple[int, ...]]) -> None:
    """Parts are put together in every way: the share of ways that show a person, with each sensitive value."""
    buckets = [row[0] - min(r[0] for r in rows) for row in rows]
    parts, values = [[row[i] for row in rows] for i in (1, 2, 3)], [row[4] for row in rows]
    matching = Matching(
        np.array(buckets, np.int32), [np.array(p, np.int32) for p in parts], np.array(values, np.int32), 2
    )
    fast = matching.probabilities([np.array(p, np.int32) for p in parts])
    for person in range(len(rows)):
        weights: Counter[int] = Counter()
        for bucket in set(buckets):
            own = [i for i, b in enumerate(buckets) if b == bucket]
            for first, second, third in itertools.product(own, repeat=3):
                shown = (parts[0][first], parts[1][second], parts[2][third])
                if shown == tuple(part[person] for part in parts):
                    weights[values[third]] += Fraction(1, len(own) ** 3)
        total = sum(weights.values())
        for value in range(max(values) + 1):
            assert fast[person, value] == pytest.approx(float(weights[value] / total))
    assert matching.greatest() == pytest.approx(fast.max())


def test_an_attacker_who_tries_every_permutation_learns_what_the_bucket_tells() -> None:
    """He knows the bucket, all quasi-identifiers of its people, and how slicing works."""
    people = [("m", 30), ("m", 31), ("f", 32), ("f", 33)]
    pieces = [("m", "flu"), ("m", "cold"), ("f", "flu"), ("f", "ulcer")]  # (sex, diagnosis) stay together
    worlds = [
        order
        for order in itertools.permutations(pieces)
        if all(piece[0] == sex for piece, (sex, _) in zip(order, people, strict=True))
    ]
    for place, (sex, _) in enumerate(people):
        told = Counter(world[place][1] for world in worlds)
        beside = Counter(value for own, value in pieces if own == sex)
        assert {v: Fraction(n, len(worlds)) for v, n in told.items()} == {
            v: Fraction(n, beside.total()) for v, n in beside.items()
        }


@given(examples(min_rows=6, max_rows=20, max_columns=3), st.integers(2, 3))
@settings(max_examples=12)
def test_nobody_is_told_more_than_the_promise_by_any_bucket(example: Example, least: int) -> None:
    """An attacker tries every bucket in which a person could be, and in the end weighs them all."""
    try:
        found = tarnkappe.anonymize(
            table_of(example),
            privacy=[models.DistinctDiversity("disease", l=least)],
            hierarchies=hierarchies_of(example),
            algorithm=Slicing(),
            seed=1,
        )
    except (NoSolutionError, ParameterError):
        return
    assert isinstance(found, Bucketized)
    described = found.tables["columns"].to_pylist()
    own_group = next(row["group"] for row in described if row["column"] == "disease")
    beside = [r["column"] for r in described if r["group"] == own_group and r["role"] == "quasi-identifier"]
    sliced = found.tables["sliced"].to_pylist()
    for person, bucket in itertools.product(example.rows, {row["bucket"] for row in sliced}):
        rows = [row for row in sliced if row["bucket"] == bucket]
        fits = [row["disease"] for row in rows if all(row[n] == person[n] for n in beside)]
        assert not fits or len(set(fits)) >= least


@pytest.mark.parametrize("model", INSTANCES, ids=str)
def test_a_mixture_of_good_buckets_is_good(model: Model) -> None:
    """An attacker who is not sure of the bucket weighs several; in whatever way, no promise breaks by it.

    The models of which this is not true are known, and releases name them.
    """
    random = np.random.default_rng(5)
    diseases, treatments = ["flu", "cold", "ulcer", "gastritis"], ["A", "B"]
    data = {
        "a": random.integers(0, 3, 24),
        "disease": random.choice(diseases, 24),
        "treatment": random.choice(treatments, 24),
        "income": random.integers(0, 6, 24) * 100,
    }
    rows = row_tuples(Table(pa.table(data)), ["a"], ["disease", "treatment", "income"])
    hierarchy = Hierarchy.from_rows([[d, "lung" if d in diseases[:2] else "stomach", "*"] for d in diseases])
    rows = rows.with_levels({"disease": hierarchy.encode(rows.columns["disease"])})
    judge = GroupEvaluator(rows, group_models([model], "slicing"))

    def good(buckets: list[np.ndarray]) -> np.ndarray:
        owners = np.repeat(np.arange(len(buckets), dtype=np.int32), [len(kinds) for kinds in buckets])
        return judge.excess(owners, np.concatenate(buckets), len(buckets)) <= 0

    tried = [judge.kinds.ids[random.integers(0, 24, random.integers(2, 13))] for _ in range(300)]
    kept = [kinds for kinds, is_good in zip(tried, good(tried), strict=True) if is_good]
    if len(kept) < 2:
        pytest.skip("hardly any bucket is good")
    mixed = []
    for _ in range(300):
        (one, other), weights = random.choice(len(kept), 2), random.integers(1, 4, 2)
        mixed.append(  # each bucket counts by its weight, whatever its size
            np.concatenate(
                [
                    np.tile(kept[one], weights[0] * len(kept[other])),
                    np.tile(kept[other], weights[1] * len(kept[one])),
                ]
            )
        )
    assert good(mixed).all() == (not isinstance(model, SPOILED_BY_MIXING))
    assert bool(mixing_remarks([model])) == isinstance(model, SPOILED_BY_MIXING)


def test_groups_of_a_user_must_be_complete_and_disjoint() -> None:
    table = Table(BASE6).with_roles(quasi_identifiers=["A", "B", "C"], sensitive=["D"])
    for groups, message in (
        ((("A", "B"), ("C",)), "D is in no group"),
        ((("A", "B", "C"), ("C", "D")), "'C' is in two groups"),
        ((("A", "B", "C"), ("D", "E")), "'E' is no published column"),
    ):
        with pytest.raises(ColumnError, match=message):
            tarnkappe.anonymize(table, privacy=[models.KAnonymity(2)], algorithm=Slicing(groups=groups))
    for wrong in ({"number": 1}, {"groups": (("A",),)}, {"groups": (("A",), ("B",)), "number": 2}):
        with pytest.raises(ParameterError):
            Slicing(**wrong)
    given = Slicing(groups=(("A",), ("B", "C"), ("D",)))
    found = tarnkappe.anonymize(table, privacy=[models.KAnonymity(3)], algorithm=given, seed=1)
    assert isinstance(found, Bucketized)
    assert found.state.num_kept == 2


def test_what_shuffling_decides_by_chance_is_never_promised() -> None:
    """Whether rows that are paired at random keep a promise about another column says nothing of the people."""
    rows = [(n % 3, "AB"[n % 2], ("flu", "cold", "ulcer")[n % 3]) for n in range(12)]
    table = tarnkappe.Table(
        pa.table(dict(zip(("age", "treatment", "disease"), map(list, zip(*rows, strict=True)), strict=True))),
        {"age": Role.QUASI_IDENTIFIER, "treatment": Role.SENSITIVE, "disease": Role.SENSITIVE},
    )
    promise = models.DistinctDiversity("disease", l=2, given=("treatment",))
    with pytest.raises(ParameterError, match="shuffle 'treatment' apart from 'disease'"):
        tarnkappe.anonymize(
            table, privacy=[promise], algorithm=Slicing(groups=(("age", "treatment"), ("disease",)))
        )
    for seed in range(5):
        found = tarnkappe.anonymize(
            table,
            privacy=[promise],
            algorithm=Slicing(groups=(("age",), ("treatment", "disease"))),
            seed=seed,
        )
        assert all(each.holds for each in found.verified)
