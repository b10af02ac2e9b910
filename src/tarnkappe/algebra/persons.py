"""Whether k rows are k people: only where nobody has two rows below an anonymization.

A generalization counts rows, slicing fills its buckets with rows, and noise hides a row. Where it is declared
which column tells people apart (`person`), everybody must have one row there, or the query is refused: the
same table on both sides of a union, a join that multiplies rows, or a table in which one person has many
rows would let one person pass for a crowd. Where nothing is declared, rows are counted, and the answer
says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tarnkappe.algebra.facts import Declaration
from tarnkappe.algebra.nodes import (
    Anonymization,
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
from tarnkappe.algebra.plan import listed
from tarnkappe.errors import ParameterError

Persons = Mapping[str, str]
"""For each relation whose people are declared, the column that tells them apart."""


@dataclass(frozen=True)
class People:
    """Rows of which nobody has two, if what they need is true of the data.

    Attributes:
        column: the column that tells people apart, under its name here; None if it is not there any more.
        needs: what must be true of base relations.
    """

    column: str | None
    needs: frozenset[Declaration]


def counts_people(plan: Plan, persons: Persons) -> bool:
    """Whether the k of every generalization in a plan is a number of people."""
    degrees = [node for node in plan.walk() if isinstance(node, Generalization) and node.k > 1]
    return bool(degrees) and all(_people(node.child, persons) is not None for node in degrees)


def needs_of(plan: Plan, persons: Persons) -> tuple[Declaration, ...]:
    """What must be true of the data so that nobody has two rows below an anonymization of the plan.

    Raises:
        ParameterError: somebody may have, whatever the data are.
    """
    found: dict[Declaration, None] = {}
    for node in plan.walk():
        if isinstance(node, Anonymization) or _is_noisy(node):
            people = _people(node.children[0], persons)
            found.update(dict.fromkeys(sorted(people.needs, key=str)) if people else {})
    return tuple(found)


def _is_noisy(node: Plan) -> bool:
    return isinstance(node, Grouping) and any(aggregate.noise for aggregate in node.aggregates)


def _people(plan: Plan, persons: Persons) -> People | None:
    """The people behind the rows of a plan; None if nobody is declared in it."""
    match plan:
        case Relation(name):
            if name not in persons:
                return None
            column = persons[name]
            return People(column, frozenset({Declaration("person", name, frozenset({column}))}))
        case Projection(child, onto):  # rows that become one are still of different people than all others
            return _shown(_people(child, persons), onto)
        case Rename(child, names):
            people = _people(child, persons)
            new = dict(names)
            return people and replace(people, column=people.column and new.get(people.column, people.column))
        case Grouping(child, by):
            people = _people(child, persons)
            if people is not None and by == (people.column,):
                return People(people.column, frozenset())  # one row for each person, by its making
            return _shown(people, by)
        case Union(left, right):
            return _united(left, right, persons)
        case Difference(left) | Intersection(left):
            return _people(left, persons)
        case Join(left, right):
            return _joined(left, right, plan.on, persons)
        case ThetaJoin(left, right):
            return _joined(left, right, frozenset(), persons)
        case SlicingNode(child):
            return _sliced(plan, _people(child, persons))
        case Randomization() | Generalization():
            people = _people(plan.child, persons)
            return people and _shown(people, plan.schema - plan.attributes)
        case Selection(child):
            return _people(child, persons)
    raise ParameterError(f"the people behind a {type(plan).__name__.lower()} are not known")


def _shown(people: People | None, columns: tuple[str, ...] | frozenset[str]) -> People | None:
    return people and (people if people.column in columns else replace(people, column=None))


def _united(left: Plan, right: Plan, persons: Persons) -> People | None:
    sides = [_people(side, persons) for side in (left, right)]
    if sides == [None, None]:
        return None
    raise ParameterError(
        "a union below an anonymization may hold two rows of one person, and k would count them as two "
        "people: anonymize the parts, or leave `person` out, which promises something of rows only"
    )


def _joined(left: Plan, right: Plan, on: frozenset[str], persons: Persons) -> People | None:
    mine, its = _people(left, persons), _people(right, persons)
    if mine is None and its is None:
        return None
    if mine is not None and its is not None:
        if mine.column is not None and mine.column == its.column and mine.column in on:
            return People(mine.column, mine.needs | its.needs)
        raise ParameterError(
            "a join below an anonymization pairs the rows of two people: join on the column that is declared "
            "as `person` on both sides"
        )
    people, other = (mine, right) if mine is not None else (its, left)
    assert people is not None
    partner = _base(other, on)
    if partner is None:
        raise ParameterError(
            "a join below an anonymization may multiply the rows of a person, and k would count them as "
            f"several people: join with a table in which {listed(on) or 'a column'} is a key"
        )
    return People(people.column, people.needs | {Declaration("key", partner, on)})


def _base(plan: Plan, on: frozenset[str]) -> str | None:
    """The base relation that has at least the rows of a plan, with these columns as they are stored."""
    match plan:
        case Relation(name) if on:
            return name
        case Selection(child) | Projection(child):
            return _base(child, on)
    return None


def _sliced(plan: SlicingNode, people: People | None) -> People | None:
    if people is None or len(plan.groups) < 2:
        return people
    raise ParameterError(
        "an anonymization above a slicing would count rows that are put together from the parts of several "
        "people: slice last, or leave `person` out"
    )


def repeated(plan: Plan) -> Iterator[tuple[Generalization, str]]:
    """The generalizations above copies of the same stored rows: k of them may be one row, k times."""
    for node in plan.walk():
        if isinstance(node, Generalization) and node.k > 1:
            names = [each.name for each in node.child.walk() if isinstance(each, Relation)]
            if any(isinstance(each, Union) for each in node.child.walk()):
                yield from ((node, name) for name in sorted({n for n in names if names.count(n) > 1}))
            elif any(isinstance(each, Join | ThetaJoin) for each in node.child.walk()):
                yield node, ", ".join(sorted(set(names)))
