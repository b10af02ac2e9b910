"""Random plans and predicates: every operator on every other, with names that are hard to print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction

from hypothesis import strategies as st

from tarnkappe.algebra.aggregates import FUNCTIONS, NOISY_FUNCTIONS, Aggregate, Noise
from tarnkappe.algebra.expressions import (
    COMPARISONS,
    And,
    ColumnRef,
    ComparisonPredicate,
    IsNull,
    Like,
    Literal,
    Not,
    OneOf,
    Or,
    Predicate,
)
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Plan,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
    ThetaJoin,
    Union,
)

Catalogue = Mapping[str, tuple[str, ...]]

AWKWARD: Catalogue = {
    "spender": ("plz", "alter", "blutgruppe"),
    "Spender": ("alter", "plz", "x y"),
    "select": ("from", "Alter", 'say "hi"', "a.b"),
    "archiv.spender": ("plz", "größe", "k", "count", "1st", "it's", "group"),
    "randomize": ("by", "drop", "end", "null", "current_date", "[x]", "\n", "::"),
}
"""Keywords, capitals, spaces, quotes, dots, German letters, a newline."""

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=5) | st.sampled_from(
    ["'", "''", "\\", "%", "--", "/* */", '"', "B0", "\n", " ", ";", "<&>", "]]>"]
)
numbers = st.integers(-(10**12), 10**12) | st.decimals(allow_nan=False, allow_infinity=False, places=3)
constants = st.one_of(
    texts, numbers, st.booleans(), st.none(), st.dates(date(1, 1, 1), date(9999, 12, 31))
).map(Literal)
probabilities = st.fractions(0, 1, max_denominator=1000)


def predicates(
    columns: Sequence[str], literals: st.SearchStrategy[Literal] = constants, depth: int = 2
) -> st.SearchStrategy[Predicate]:
    """Predicates over columns of which some are used."""
    operands = st.sampled_from(list(columns)).map(ColumnRef) | literals
    simple: st.SearchStrategy[Predicate] = st.one_of(
        st.builds(ComparisonPredicate, st.sampled_from(list(COMPARISONS)), operands, operands),
        st.builds(OneOf, operands, st.lists(literals, min_size=1, max_size=3).map(tuple)),
        st.builds(Like, operands, texts),
        st.builds(IsNull, operands),
    )
    for _ in range(depth):
        several = st.lists(simple, min_size=2, max_size=3).map(tuple)
        simple = simple | st.builds(Not, simple) | st.builds(And, several) | st.builds(Or, several)
    return simple


@st.composite
def plans(
    draw: st.DrawFn,
    catalogue: Catalogue = AWKWARD,
    depth: int = 3,
    literals: st.SearchStrategy[Literal] = constants,
    only: Sequence[str] = (),
) -> Plan:
    """A plan over the relations of a catalogue, well-formed in the sense of `Plan.check`."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        name = draw(st.sampled_from(sorted(catalogue)))
        return Relation(name, tuple(catalogue[name]))
    below = plans(catalogue, depth - 1, literals, only)
    operator = draw(st.sampled_from(list(only) or [*_UNARY, *_BINARY]))
    if operator in _UNARY:
        return _UNARY[operator](draw, draw(below), literals)
    return _BINARY[operator](draw, draw(below), draw(below), literals)


def _subset(draw: st.DrawFn, plan: Plan, least: int = 0) -> tuple[str, ...]:
    return tuple(draw(st.lists(st.sampled_from(plan.columns), min_size=least, unique=True)))


def _projection(draw: st.DrawFn, child: Plan, _: object) -> Plan:
    return Projection(child, _subset(draw, child, 1), draw(st.booleans()))


def _selection(draw: st.DrawFn, child: Plan, literals: st.SearchStrategy[Literal]) -> Plan:
    return Selection(child, draw(predicates(child.columns, literals)))


def _rename(draw: st.DrawFn, child: Plan, _: object) -> Plan:
    old = _subset(draw, child, 1)
    shift = draw(st.booleans()) and len(old) > 1
    new = (*old[1:], old[0]) if shift else tuple(f"{column}_{len(child.columns)}" for column in old)
    taken = child.schema - set(old)
    return child if taken & set(new) else Rename(child, tuple(zip(old, new, strict=True)))


def _grouping(draw: st.DrawFn, child: Plan, _: object) -> Plan:
    by = _subset(draw, child)
    names = [name for name in ("n", "sum", "the mean") if name not in by]
    aggregates = [draw(_aggregates(child, name)) for name in names[: draw(st.integers(0, 3))]]
    return Grouping(child, by, tuple(aggregates)) if by or aggregates else child


@st.composite
def _aggregates(draw: st.DrawFn, child: Plan, name: str) -> Aggregate:
    noisy = draw(st.integers(0, 3)) == 0
    function = draw(st.sampled_from(NOISY_FUNCTIONS if noisy else FUNCTIONS))
    column = draw(st.sampled_from(child.columns) | (st.none() if function == "count" else st.nothing()))
    at = draw(probabilities) if function == "quantile" else None
    if not noisy:
        return Aggregate(function, column, name, at)
    bounds = (None, None) if function == "count" else (Fraction(-1, 3), Fraction(120))
    return Aggregate(function, column, name, at, Noise(draw(st.fractions("0.001", 10)), *bounds))


def _generalization(draw: st.DrawFn, child: Plan, _: object) -> Plan:
    return Generalization(child, _subset(draw, child), draw(st.integers(1, 10**6)))


def _slicing(draw: st.DrawFn, child: Plan, _: object) -> Plan:
    number = {column: draw(st.integers(0, 2)) for column in child.columns}
    groups = [tuple(c for c in child.columns if number[c] == group) for group in range(3)]
    return SlicingNode(child, tuple(groups))


def _randomization(draw: st.DrawFn, child: Plan, _: object) -> Plan:
    return Randomization(child, tuple((column, draw(probabilities)) for column in _subset(draw, child)))


def _same_schema(make: type[Union | Intersection | Difference]):  # type: ignore[no-untyped-def]
    def build(draw: st.DrawFn, left: Plan, right: Plan, _: object) -> Plan:
        if left.schema == right.schema:
            return make(left, right)
        common = tuple(left.schema & right.schema)
        return make(Projection(left, common), Projection(right, common)) if common else make(left, left)

    return build


def _join(draw: st.DrawFn, left: Plan, right: Plan, _: object) -> Plan:
    return Join(left, right)


def _theta_join(draw: st.DrawFn, left: Plan, right: Plan, literals: st.SearchStrategy[Literal]) -> Plan:
    if left.schema & right.schema:
        names = tuple((column, f"{column} right {len(left.schema)}") for column in right.columns)
        if {new for _, new in names} & left.schema:
            return left
        right = Rename(right, names)
    return ThetaJoin(left, right, draw(predicates(left.columns + right.columns, literals)))


_UNARY = {
    "projection": _projection,
    "selection": _selection,
    "rename": _rename,
    "grouping": _grouping,
    "generalization": _generalization,
    "slicing": _slicing,
    "randomization": _randomization,
}
_BINARY = {
    "union": _same_schema(Union),
    "intersection": _same_schema(Intersection),
    "difference": _same_schema(Difference),
    "join": _join,
    "theta-join": _theta_join,
}


def number(text: str) -> Literal:
    """A number as a literal of a predicate."""
    return Literal(Decimal(text))
