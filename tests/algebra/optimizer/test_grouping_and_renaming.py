"""Rules reach through GROUP BY and through new names: what is superfluous below goes, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.aggregates import Aggregate, Noise
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.expressions import (
    ColumnRef,
    ComparisonPredicate,
    IsNull,
    Like,
    Literal,
    Not,
    OneOf,
    Or,
)
from tarnkappe.algebra.facts import DeclaredFacts, MeasuredFacts
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.nodes import (
    Anonymization,
    Generalization,
    Grouping,
    Plan,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
)
from tarnkappe.algebra.optimizer import rewrite
from tarnkappe.algebra.rules import RENAMING
from tarnkappe.algebra.rules.samples import AB, ABC, cut, gen, noise, onto, where
from tarnkappe.algebra.session import QuerySession
from tarnkappe.algebra.space import WorldSpace
from tarnkappe.algebra.world import World
from tarnkappe.hierarchy import Hierarchy
from tests.algebra.optimizer.measure import measure
from tests.algebra.optimizer.test_random_plans import MOST_CHOICES, choices, result, small_plans

ROWS = Aggregate("count", None, "n")
KNOWN = DeclaredFacts(
    rows={"r": 100}, static_noise="ABC", hierarchies="ABC", noise="ABC", bucket=2, stable_buckets=True
)


def operators(plan: Plan) -> list[type[Plan]]:
    return [type(node) for node in plan.walk() if isinstance(node, Anonymization)]


def strict(plan: Plan) -> Plan:
    found = rewrite(plan, "strict", KNOWN, {})
    assert found.kind.is_equal
    return found.plan


def test_noise_that_a_grouping_does_not_read_is_not_drawn() -> None:
    """D9 below a grouping."""
    found = strict(Grouping(noise(ABC, A="1/4", B="1/4"), ("B",), (ROWS,)))
    (noisy,) = [node for node in found.walk() if isinstance(node, Randomization)]
    assert noisy.attributes == {"B"}
    assert noisy.child == onto(ABC, "B")


@pytest.mark.parametrize(
    "operator",
    [gen(ABC, "A", 2), noise(ABC, A="1/4"), cut(ABC, "A", "BC")],
    ids=["G11", "D10", "S6"],
)
def test_an_operator_whose_columns_a_grouping_does_not_read_goes(operator: Plan) -> None:
    for by in (("B",), ()):
        assert operators(strict(Grouping(operator, by, (ROWS,)))) == []


def test_under_a_new_name_noise_and_conditions_go_down_as_well() -> None:
    """D9 and D11 below a renaming: the projection passes it, then the condition."""
    late = onto(where(Rename(noise(ABC, A="1/4", C="1/4"), (("A", "D"),)), "B", "b1"), "D")
    found = strict(late)
    (noisy,) = [node for node in found.walk() if isinstance(node, Randomization)]
    assert noisy.attributes == {"A"}
    assert any(isinstance(node, Selection) for node in noisy.walk())


def test_two_operators_meet_below_a_renaming() -> None:
    """D6: noise above noise of the same column is noise once, whatever the column is called between."""
    twice = noise(Rename(noise(AB, A="1/2"), (("A", "D"),)), D="1/2")
    assert operators(strict(twice)) == [Randomization]


def test_a_condition_on_groups_is_asked_of_rows() -> None:
    one = ComparisonPredicate("=", ColumnRef("A"), Literal("a1"))
    assert isinstance(strict(Selection(Grouping(AB, ("A",), (ROWS,)), one)), Grouping)


def test_a_condition_on_noisy_groups_stays_above() -> None:
    """Below, the groups that it removes would be shown as empty ones, with noise."""
    noisy = Aggregate("count", None, "n", noise=Noise(1))  # type: ignore[arg-type]
    late = where(Grouping(AB, ("A",), (noisy,)), "A", "a1")
    assert not RENAMING["SelGroup"].apply(late, RENAMING["SelGroup"].ways[0], KNOWN)
    assert isinstance(strict(late), Selection)


def test_a_condition_above_the_one_group_of_all_rows_stays_there() -> None:
    """Of no rows there still is one group."""
    never = ComparisonPredicate("=", Literal("a"), Literal("b"))
    assert isinstance(strict(Selection(Grouping(AB, (), (ROWS,)), never)), Selection)


def test_names_decide_between_equally_good_levels() -> None:
    """Of two equally good levels, the first by name stays low: so another order of names is another result."""
    rows = (("x1", "y1"), ("x1", "y2"), ("x2", "y1"), ("x2", "y2"))
    ladder = {
        "A": Hierarchy.from_rows([["x1", "*"], ["x2", "*"]]),
        "B": Hierarchy.from_rows([["y1", "*"], ["y2", "*"]]),
    }
    world = World({"r": rows}, {**ladder, "C": ladder["A"]}, {})
    late = gen(Rename(AB, (("A", "C"),)), "BC", 2)
    (rewritten,) = RENAMING["GenRename"].considered(late, RENAMING["GenRename"].ways[0], MeasuredFacts(world))
    assert rewritten.refused == ("the names of X come in the same order",)
    assert rewritten.plan is not None
    before, after = result(late, world), result(rewritten.plan, world)
    assert before is not None
    assert after is not None
    assert not before.same_as(after)


def test_a_new_name_with_a_hierarchy_of_its_own_is_not_the_same() -> None:
    facts = DeclaredFacts(hierarchies="AD", noise="AD")
    for late in (gen(Rename(AB, (("A", "D"),)), "D", 2), noise(Rename(AB, (("A", "D"),)), D="1/4")):
        rule = RENAMING["GenRename" if isinstance(late, Generalization) else "NoiseRename"]
        assert rule.considered(late, rule.ways[0], facts)
        assert not rule.apply(late, rule.ways[0], facts)


def test_a_predicate_is_renamed_in_all_its_parts() -> None:
    column, other = ColumnRef("A"), ColumnRef("B")
    kept = (Literal("A"), Literal(None))
    whole = Or(
        (Not(IsNull(column)), OneOf(column, kept), Like(other, "A%"), ComparisonPredicate("<", column, other))
    )
    swapped = whole.renamed({"A": "B", "B": "A"})
    assert swapped == Or(
        (Not(IsNull(other)), OneOf(other, kept), Like(column, "A%"), ComparisonPredicate("<", other, column))
    )
    assert swapped.columns == {"A", "B"}
    assert swapped.renamed({"A": "B", "B": "A"}) == whole


@st.composite
def grouped(draw: st.DrawFn) -> Plan:
    """A grouping, maybe of renamed columns, maybe selected, over a plan with an anonymization."""
    child = draw(small_plans(3))
    assume(operators(child))
    some = st.lists(st.sampled_from(child.columns), unique=True)
    if draw(st.booleans()):
        names = tuple((column, f"{column}x") for column in draw(some))
        child = Rename(child, names) if names else child
    by = tuple(draw(st.lists(st.sampled_from(child.columns), unique=True)))
    functions = st.sampled_from(["count", "min", "max"])
    read = Aggregate(draw(functions), draw(st.sampled_from(child.columns)), "m")
    plan: Plan = Grouping(child, by, draw(st.sampled_from([(ROWS,), (read,), (ROWS, read)])))
    if by and draw(st.booleans()):
        plan = Selection(plan, ComparisonPredicate("=", ColumnRef(draw(st.sampled_from(by))), Literal("v1")))
    return plan


@st.composite
def grouped_worlds(draw: st.DrawFn) -> tuple[Plan, World]:
    """A grouping that can run, and small relations in which values may be missing."""
    plan = draw(grouped())
    space = WorldSpace.incomplete(plan, worlds=1) if draw(st.booleans()) else None
    space = space or WorldSpace.of(plan, worlds=1)
    relations = {}
    for node in plan.walk():
        if isinstance(node, Relation):
            row = st.tuples(*(st.sampled_from(space.domains[column]) for column in node.columns))
            relations.setdefault(node.name, tuple(draw(st.lists(row, min_size=2, max_size=3))))
    world = World(relations, space.hierarchies, space.noise, space.bucket, space.stable_buckets)
    assume(choices(plan, world) <= MOST_CHOICES)
    assume(result(plan, world) is not None)
    return plan, world


@given(grouped_worlds())
@settings(max_examples=80)
def test_groups_of_rewritten_plans_are_those_of_the_plan_as_written(situation: tuple[Plan, World]) -> None:
    plan, world = situation
    rewriting = rewrite(plan, "strict", MeasuredFacts(world), {}, effort=2_000)
    before, after = result(plan, world), result(rewriting.plan, world)
    assert rewriting.kind.is_equal
    assert before is not None
    assert after is not None
    assert before.same_as(after)


@given(grouped())
@settings(max_examples=40)
def test_rewriting_of_groupings_ends(plan: Plan) -> None:
    rewriting = rewrite(plan, "strict", KNOWN, {}, effort=2_000)
    assert measure(rewriting.plan) <= measure(plan)


# ------------------------------------------------------------------ as people write it

DATA = {
    "donors": pa.table(
        {
            "age": [31, 34, 52, 57, None, None],
            "blood": ["A", "B", "A", None, "B", "A"],
            "plz": ["a", "b", "a", "b", "a", None],
        }
    )
}
AGES = Hierarchy.from_rows(
    [
        ["31", "30-39", "*"],
        ["34", "30-39", "*"],
        ["52", "50-59", "*"],
        ["57", "50-59", "*"],
        [None, "none", "*"],
    ]
)


@pytest.fixture(scope="module")
def session() -> Iterator[QuerySession]:
    with connect(DATA) as backend:
        yield QuerySession(backend, Catalog(backend.relations, {"age": AGES}), key=bytes(32))


PROTECTED = "generalize(donors, k => 2, by => [age])"


@pytest.mark.parametrize(
    ("query", "rules", "expected"),
    [
        (
            f"SELECT blood, count(*) AS n FROM {PROTECTED} GROUP BY blood",
            {"ProjGroup", "G11"},
            {("A", 3), ("B", 2), (None, 1)},
        ),
        (f"SELECT count(*) AS n FROM {PROTECTED}", {"ProjGroup", "G11"}, {(6,)}),
        (
            f"SELECT a, count(*) AS n FROM (SELECT age AS a, blood AS b FROM {PROTECTED}) AS q GROUP BY a",
            {"ProjGroup", "ProjRename", "ProjProj", "G10"},
            {("30-39", 2), ("50-59", 2), ("none", 2)},
        ),
        (
            "SELECT plz AS p, max(age) AS oldest FROM donors GROUP BY plz HAVING plz = 'a'",
            {"ProjGroup", "SelProj", "SelRename", "SelGroup"},
            {("a", 52)},
        ),
    ],
)
def test_a_query_with_groups_and_new_names_is_rewritten_and_answers_the_same(
    session: QuerySession, query: str, rules: set[str], expected: set[tuple[object, ...]]
) -> None:
    result = session.sql(query)
    used = {step.rule for step in result.explanation.rewriting.steps}
    assert used & rules
    assert used <= rules | {"SelProjHelper", "G12"}
    assert {tuple(row.values()) for row in result.table.to_pylist()} == expected


def test_a_slicing_under_new_names_keeps_its_sets() -> None:
    found = strict(onto(cut(Rename(ABC, (("A", "D"),)), "D", "BC"), "CD"))
    (sliced,) = [node for node in found.walk() if isinstance(node, SlicingNode)]
    assert set(sliced.groups) <= {("A",), ("C",), ("D",)}
    assert any(isinstance(node, Projection) for node in sliced.walk())
