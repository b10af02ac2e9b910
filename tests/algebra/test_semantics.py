"""The reference evaluation: bags, the three operators' contracts, and the exact oracles."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.aggregates import Aggregate, Noise
from tarnkappe.algebra.distribution import OutcomeDistribution, Row, Rows, as_bag
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Projection,
    Randomization,
    Relation,
    Rename,
    SlicingNode,
    Union,
)
from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.algebra.semantics import bucket_ranges, evaluate, is_k_anonymous
from tarnkappe.algebra.world import World
from tarnkappe.errors import ColumnError, HierarchyError, NoSolutionError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tests.algebra.blood import DAYS, EVERY_DAY, EXAMPLES, GENOTYPES, NEAR_DAYS, NOISE, base, rows, world

R = Relation("r", ("A", "B"))
S = Relation("s", ("B", "A"))
LADDER = Hierarchy.from_rows([["a1", "a12", "*"], ["a2", "a12", "*"], ["a3", "a3+", "*"]])
OTHER = Hierarchy.from_rows([["b1", "b*"], ["b2", "b*"]])
TABLES = st.lists(st.tuples(st.sampled_from(["a1", "a2", "a3"]), st.sampled_from(["b1", "b2"])), max_size=6)


def only(result: OutcomeDistribution) -> Rows:
    assert len(result) == 1
    return next(iter(result))[0]


def small(table: list[Row] | Rows, other: list[Row] | Rows = (), **more: object) -> World:
    flipped = tuple((b, a) for a, b in other)
    return World({"r": tuple(table), "s": flipped}, {"A": LADDER, "B": OTHER}, **more)  # type: ignore[arg-type]


@given(TABLES, TABLES)
def test_set_operators_work_on_multiplicities_whatever_the_order_of_columns(
    left: list[Row], right: list[Row]
) -> None:
    here = small(left, right)
    mine, its = Counter(left), Counter(right)
    assert Counter(only(evaluate(Union(R, S), here))) == mine + its
    assert Counter(only(evaluate(Intersection(R, S), here))) == mine & its
    assert Counter(only(evaluate(Difference(R, S), here))) == mine - its
    assert Counter(only(evaluate(Projection(R, ("A",)), here))) == Counter((a,) for a, _ in left)
    assert set(only(evaluate(Projection(R, ("A",), True), here))) == {(a,) for a, _ in left}
    assert len(only(evaluate(Projection(R, ("A",), True), here))) == len({a for a, _ in left})
    assert Counter(only(evaluate(Join(R, S), here))) == Counter(
        {row: mine[row] * its[row] for row in mine if its[row]}
    )


def test_equality_ignores_the_order_of_rows_and_columns() -> None:
    here = World({"r": (("x", "y"), ("u", "v")), "s": (("v", "u"), ("y", "x"))})
    assert evaluate(R, here).same_as(evaluate(S, here))


def test_missing_values_join_with_nothing() -> None:
    here = World({"r": ((None, "y"),), "s": (("y", None),)})
    assert only(evaluate(Join(R, S), here)) == ()


def test_renaming_and_grouping() -> None:
    table = Relation("t", ("g", "n"))
    here = World({"t": (("x", 1), ("x", 2), ("y", 5), ("y", None))})
    functions = ["count", "sum", "mean", "min", "max"]
    aggregates = tuple(Aggregate(function, "n", function) for function in functions)
    result = evaluate(Grouping(Rename(table, (("g", "key"),)), ("key",), aggregates), here)
    assert result.columns == ("key", "count", "max", "mean", "min", "sum")
    assert set(only(result)) == {("x", 2, 2, Fraction(3, 2), 1, 3), ("y", 1, 5, 5, 5, 5)}
    median = Aggregate("quantile", "n", "median", at=Fraction(1, 2))
    assert only(evaluate(Grouping(table, (), (median,)), here)) == ((2,),)
    assert only(evaluate(Grouping(table, (), (Aggregate("count", None, "n"),)), World({"t": ()}))) == ((0,),)


def test_a_noisy_aggregate_is_not_enumerated() -> None:
    noisy = Aggregate("count", None, "n", noise=Noise(Fraction(1)))
    with pytest.raises(ParameterError, match="infinitely many"):
        evaluate(Grouping(R, (), (noisy,)), small([]))


# generalization


def test_figure_7_months_and_both_rhesus_factors() -> None:
    example = EXAMPLES["fig7"]
    relation, table = base("BASE7")
    result = evaluate(Generalization(relation, ("A", "C"), 3), world(r=table))
    assert only(result) == as_bag(rows(example["expected"]))


@given(TABLES, st.integers(2, 4), st.sampled_from([("A",), ("B",), ("A", "B")]))
def test_generalization_keeps_its_contract(table: list[Row], k: int, by: tuple[str, ...]) -> None:
    """Full domain, k-anonymous, no smaller node is, other columns untouched; fewer than k rows are refused."""
    plan = Generalization(R, by, k)
    if len(table) < k:
        with pytest.raises(NoSolutionError, match=f"at least {k} rows; there (is|are) {len(table)}"):
            evaluate(plan, small(table))
        return
    result = evaluate(plan, small(table), ordered=True)
    ladders = {"A": {"a1": 0, "a2": 0, "a3": 0, "a12": 1, "a3+": 1, "*": 2}, "B": {"b1": 0, "b2": 0, "b*": 1}}
    released = only(result)
    assert is_k_anonymous(released, result.columns, by, k)
    chosen = []
    for position, name in enumerate("AB"):
        levels = {ladders[name][row[position]] for row in released}
        assert len(levels) == 1
        chosen.append(levels.pop())
        if name not in by:
            assert [row[position] for row in released] == [row[position] for row in table]
    lift = {
        "A": lambda v, level: LADDER.label(v, level),
        "B": lambda v, level: OTHER.label(v, level),
    }
    for node in itertools.product(range(chosen[0] + 1), range(chosen[1] + 1)):
        lower = tuple((lift["A"](a, node[0]), lift["B"](b, node[1])) for a, b in table)
        assert list(node) == chosen or not is_k_anonymous(lower, ("A", "B"), by, k)


@given(TABLES.filter(lambda table: len(table) > 2), st.randoms(use_true_random=False))
def test_levels_depend_on_the_generalized_columns_alone(table: list[Row], random: object) -> None:
    shuffled = [(a, "b1") for a, _ in table]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    plan = Projection(Generalization(R, ("A",), 2), ("A",))
    assert evaluate(plan, small(table)).same_as(evaluate(plan, small(shuffled)))


def test_generalization_goes_on_from_the_level_it_finds() -> None:
    plan = Generalization(Generalization(R, ("A",), 2), ("A",), 4)
    result = evaluate(plan, small([("a1", "b1"), ("a2", "b1"), ("a3", "b1"), ("a3", "b1")]))
    assert {a for a, _ in only(result)} == {"*"}


def test_mixed_levels_are_brought_to_one() -> None:
    result = evaluate(Generalization(R, ("A",), 2), small([("a12", "b1"), ("a1", "b1"), ("a2", "b1")]))
    assert {a for a, _ in only(result)} == {"a12"}


def test_a_label_that_does_not_tell_its_level_is_refused() -> None:
    twisted = Hierarchy.from_rows([["x", "y", "*"], ["y", "x", "*"]])
    here = World({"r": (("x", "b1"), ("x", "b1"))}, {"A": twisted})
    with pytest.raises(HierarchyError, match="two levels"):
        evaluate(Generalization(R, ("A",), 2), here)


def test_a_label_may_stand_on_several_levels_for_the_same_values() -> None:
    steady = Hierarchy.from_rows([["x", "x", "*"], ["y", "y", "*"]])
    here = World({"r": (("x", "b1"), ("y", "b1"))}, {"A": steady})
    assert {a for a, _ in only(evaluate(Generalization(R, ("A",), 2), here))} == {"*"}


def test_what_a_world_lacks_is_named_without_values() -> None:
    here = World({"r": (("x", "y"), ("x", "y"))})
    with pytest.raises(HierarchyError, match="'A' has no hierarchy"):
        evaluate(Generalization(R, ("A",), 2), here)
    with pytest.raises(ColumnError, match="'A' has no noise"):
        evaluate(Randomization.of(R, {"A": "1/2"}), here)
    with pytest.raises(ColumnError, match="no rows for the relation 's'"):
        evaluate(S, here)


# slicing


def test_slicing_oracles_324_and_9() -> None:
    example = EXAMPLES["fig23"]
    relation, table = base("BASE6")
    groups = tuple(map(tuple, example["V"]))
    result = evaluate(SlicingNode(relation, groups), world(example["bucket"], r=table))
    assert len(result) == example["outcomes"]
    assert set(result.probabilities.values()) == {Fraction(example["probability_each"])}
    assert result.probabilities[as_bag(rows(example["possible_outcome"]))] > 0
    pair = evaluate(SlicingNode(Projection(relation, ("A", "B")), (("A",), ("B",))), world(3, r=table))
    assert len(pair) == 9
    assert set(pair.probabilities.values()) == {Fraction(1, 9)}


def test_buckets_are_consecutive_and_the_remainder_joins_the_last() -> None:
    assert [list(bucket) for bucket in bucket_ranges(5, 2)] == [[0, 1], [2, 3, 4]]
    assert bucket_ranges(2, 2) == [range(0, 2)]


@given(TABLES.filter(lambda t: 2 <= len(t) <= 4), st.integers(2, 3))
@settings(max_examples=60)
def test_slicing_is_every_permutation_of_every_set_in_every_bucket(table: list[Row], bucket: int) -> None:
    """The twin permutes both columns, and counts."""
    plan = SlicingNode(R, (("A",), ("B",)))
    if len(table) < bucket:
        with pytest.raises(NoSolutionError, match="a bucket"):
            evaluate(plan, small(table, bucket=bucket))
        return
    cuts = [table[:2], table[2:]] if bucket == 2 and len(table) == 4 else [table]
    counts: Counter[Rows] = Counter()
    permuted = [
        itertools.product(itertools.permutations(part), itertools.permutations(part)) for part in cuts
    ]
    for choice in itertools.product(*map(list, permuted)):
        counts[
            as_bag((x[0], y[1]) for lefts, rights in choice for x, y in zip(lefts, rights, strict=True))
        ] += 1
    total = math.prod(math.factorial(len(part)) ** 2 for part in cuts)
    twin = {result: Fraction(times, total) for result, times in counts.items()}
    assert evaluate(plan, small(table, bucket=bucket)).probabilities == twin


def test_slicing_must_be_a_partition() -> None:
    with pytest.raises(ColumnError, match="leaves out 'B'"):
        evaluate(SlicingNode(R, (("A",),)), small([("a1", "b1")] * 2))


# randomization


def test_the_single_cell_oracle() -> None:
    oracle = EXAMPLES["noise-cell-oracle"]
    drawn = GENOTYPES.outcomes("00", Fraction("0.33"))
    assert drawn == {value: Fraction(str(p)) for value, p in oracle["B"]["out"].items()}
    for old, key in (("+", "in_plus"), ("-", "in_minus")):
        expected = {value: Fraction(str(p)) for value, p in oracle["C"][key].items()}
        assert NOISE["C"].outcomes(old, Fraction(1, 2)) == expected
    assert GENOTYPES.epsilon(Fraction("0.33")) == pytest.approx(oracle["epsilon_static"]["B"], abs=5e-4)
    assert GENOTYPES.epsilon(Fraction(0)) == math.inf


def test_no_noise_never_draws_and_full_noise_always_does() -> None:
    assert GENOTYPES.outcomes("BB", Fraction(0)) == {"BB": 1}
    assert GENOTYPES.outcomes("BB", Fraction(1)) == GENOTYPES.probabilities


def test_day_noise_wraps_around_the_year_and_knows_leap_days() -> None:
    assert sum(EVERY_DAY.probabilities.values()) == 1
    assert EVERY_DAY.probabilities["29.02."] == Fraction(1, 1461)
    assert NEAR_DAYS.drawn("01.01.")["28.12."] == Fraction("0.025")
    assert NEAR_DAYS.drawn("08.03.")["07.03."] == Fraction("0.20")
    assert NEAR_DAYS.drawn("01.03.")["29.02."] == Fraction("0.20")
    assert all(len(NEAR_DAYS.drawn(day)) == 13 for day in DAYS)


def test_a_noise_distribution_that_does_not_add_up_is_refused() -> None:
    visible = {0: "0.05", 1: "0.20", 2: "0.15", 3: "0.05", -1: "0.20", -2: "0.15", -3: "0.05"}
    with pytest.raises(ParameterError, match="add up to 1"):  # the printed table has only 0.85
        Static({shift: Fraction(p) for shift, p in visible.items()})
    with pytest.raises(ParameterError, match="no entry"):
        Dynamic({"x": {"x": Fraction(1)}}).drawn("y")


@pytest.mark.parametrize(
    ("name", "probabilities", "outcome"),
    [
        ("fig39", {"A": "0.16", "B": "0.33", "C": "0.5"}, EXAMPLES["fig39"]["possible_outcome"]),
        ("D4-fig40", {"A": "0.16", "B": "0.5"}, EXAMPLES["D4-fig40"]["right_possible"]),
        ("D6-fig41", {"A": "0.2944", "B": "0.75"}, EXAMPLES["D6-fig41"]["right_possible"]),
        ("D9-fig43", {"A": "0.16", "B": "0.5"}, EXAMPLES["D9-fig43"]["left_possible"]),
    ],
)
def test_published_outcomes_are_possible(
    name: str, probabilities: dict[str, str], outcome: list[Row]
) -> None:
    columns = EXAMPLES[name]["schema"]
    _, table = base("BASE6", columns)
    for old, new in zip(table, outcome, strict=True):
        for column, before, after in zip(columns, old, new, strict=True):
            chance = Fraction(probabilities.get(column, "0"))
            drawn = NOISE[column].outcomes(before, chance) if column in NOISE else {before: 1}
            assert drawn.get(after, 0) > 0


@given(TABLES.map(lambda t: t[:3]), st.fractions(0, 1, max_denominator=4), st.booleans())
@settings(max_examples=60)
def test_randomization_noises_every_cell_by_itself(table: list[Row], p: Fraction, dynamic: bool) -> None:
    """The twin multiplies the probabilities of all cells of all results."""
    third = Fraction(1, 3)
    spread = {"a1": {"a2": 1 - third, "a1": third}, "a2": {"a3": Fraction(1)}, "a3": {"a1": Fraction(1)}}
    noise = {
        "A": Dynamic(spread) if dynamic else Static({"a1": third, "a3": 1 - third}),
        "B": Static({"b1": third, "b2": 1 - third}),
    }
    counts: dict[Rows, Fraction] = {}
    cells = [noise[c].outcomes(cell, p).items() for row in table for c, cell in zip("AB", row, strict=True)]
    for choice in itertools.product(*cells):
        values = [value for value, _ in choice]
        result = as_bag(zip(values[::2], values[1::2], strict=True))
        counts[result] = counts.get(result, Fraction(0)) + math.prod(
            (q for _, q in choice), start=Fraction(1)
        )
    assert evaluate(Randomization(R, (("A", p), ("B", p))), small(table, noise=noise)).probabilities == counts
