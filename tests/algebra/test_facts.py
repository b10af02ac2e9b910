"""Facts derived from declarations must be true of all data for which the declarations are true."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.facts import DeclaredFacts, MeasuredFacts
from tarnkappe.algebra.nodes import (
    Generalization,
    Join,
    Plan,
    Projection,
    Randomization,
    Relation,
    Selection,
    SlicingNode,
    Union,
)
from tarnkappe.algebra.rules import RL, RULES
from tarnkappe.algebra.rules.samples import is_not
from tarnkappe.algebra.space import WorldSpace
from tarnkappe.algebra.world import World
from tarnkappe.errors import NoSolutionError

LEFT, RIGHT = Relation("r1", ("ID", "A")), Relation("r2", ("ID", "A"))
KEY = frozenset({"ID"})
DECLARED = DeclaredFacts(
    rows={"r1": 3},
    least_rows={"r2": 4},
    keys={"r1": [KEY], "r2": [KEY]},
    inclusions=[("r1", "r2", KEY)],
    orders=[(frozenset({"r1", "r2"}), KEY)],
)
SPACE = WorldSpace.of(Generalization(LEFT, ("A",), 2), Randomization.of(LEFT, {"A": "1/2", "ID": "1/2"}))


@st.composite
def plans(draw: st.DrawFn, depth: int = 3) -> Plan:
    if depth == 0:
        return draw(st.sampled_from([LEFT, RIGHT]))
    child = draw(plans(depth - 1))
    both = child.schema == {"ID", "A"}
    options: list[Plan] = [child, Selection(child, is_not(min(child.schema), "a1"))]
    options += [
        Projection(child, (column,), distinct) for column in child.columns for distinct in (True, False)
    ]
    options.append(Randomization.of(child, {"A": "1/2"} if "A" in child.schema else {}))
    if both:
        options += [
            SlicingNode(child, (("A",), ("ID",))),
            SlicingNode(child, (("A", "ID"),)),
            Generalization(child, ("A",), 2),
            Union(child, RIGHT),
            Join(child, RIGHT),
        ]
    return draw(st.sampled_from(options))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Data for which the declarations are true: r2 continues the keys of r1, in order."""
    keys = ["1", "2", "3", "4"]
    cells = st.sampled_from(SPACE.domains["A"])
    left = tuple((key, draw(cells)) for key in keys[:3])
    right = tuple((key, draw(cells)) for key in keys)
    return World({"r1": left, "r2": right}, SPACE.hierarchies, SPACE.noise)


@given(plans(), plans(), worlds(), st.sampled_from([{"ID"}, {"A"}, {"ID", "A"}]))
@settings(max_examples=150)
def test_what_is_derived_is_true(first: Plan, second: Plan, world: World, columns: set[str]) -> None:
    measured = MeasuredFacts(world)
    try:
        for plan in (first, second):
            assert measured.fewest_rows(plan) >= DECLARED.fewest_rows(plan)
            exact = DECLARED.row_count(plan)
            assert exact is None or exact == measured.row_count(plan)
            if columns <= plan.schema and DECLARED.is_unique(plan, columns):
                assert measured.is_unique(plan, columns)
        if columns <= first.schema & second.schema and DECLARED.has_partners(first, second, columns):
            assert measured.has_partners(first, second, columns)
    except NoSolutionError:
        return


def test_orders_and_keys_pass_operators_that_do_not_touch_them() -> None:
    noisy = Randomization.of(RIGHT, {"A": "1/2"})
    assert DECLARED.same_order(LEFT, noisy, KEY)
    assert not DECLARED.same_order(LEFT, Selection(noisy, is_not("A", "a1")), KEY)
    assert not DECLARED.same_order(LEFT, Randomization.of(RIGHT, {"ID": "1/2"}), KEY)
    assert DECLARED.has_partners(Selection(LEFT, is_not("A", "a1")), noisy, KEY)
    assert not DECLARED.has_partners(noisy, LEFT, KEY)
    assert not DECLARED.same_keys(LEFT, RIGHT, KEY)
    assert DECLARED.same_keys(LEFT, Generalization(LEFT, ("A",), 2), KEY)


def test_counted_rows_let_a_generalization_pass_a_selection() -> None:
    early = Selection(LEFT, is_not("ID", "9"))
    late = Selection(Generalization(LEFT, ("A",), 3), early.predicate)
    assert not RULES["G14"].apply(late, RL, DECLARED)
    assert RULES["G14"].apply(late, RL, DeclaredFacts(counted={early: 3}))
    assert not RULES["G14"].apply(late, RL, DeclaredFacts(counted={early: 2}))


def test_nothing_is_known_of_what_is_not_declared() -> None:
    nothing = DeclaredFacts()
    assert nothing.fewest_rows(LEFT) == 0
    assert nothing.row_count(Union(LEFT, RIGHT)) is None
    assert not nothing.is_unique(LEFT, KEY)
    assert not nothing.is_static("A")
    assert not nothing.stable_buckets
    assert nothing.bucket is None
