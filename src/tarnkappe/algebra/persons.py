"""Who is behind the rows of a plan, how many rows one person may have, and how people are counted.

A k of rows is no k of people: the same table on both sides of a union, or a table of visits, lets one person
pass for a crowd. Where it is declared which column tells people apart (`person`), a plan that runs carries
that column along, hidden: no query can name it and it never leaves. A generalization then counts different
people, and noise and buckets are scaled to the most rows that one person may have.

This is the unit of privacy of k-anonymity over several relations (Nergiz, Clifton and Nergiz 2009,
doi:10.1109/TKDE.2008.210) and of differential privacy for users (Wilson et al. 2020,
doi:10.2478/popets-2020-0025).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from tarnkappe.algebra.facts import Declaration
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import (
    Anonymization,
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Plan,
    PostProcessing,
    Projection,
    Randomization,
    Relation,
    Rename,
    RowBound,
    Selection,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.person_paths import PersonPath, path_of, space_of
from tarnkappe.algebra.plan import listed
from tarnkappe.errors import ParameterError, Reason

Persons = Mapping[str, str | PersonPath]
"""For each relation whose people are declared, how they are found; a text is the name of a column."""


@dataclass(frozen=True)
class People:
    """The people behind the rows of a plan.

    Attributes:
        space: which people.
        column: the column that tells them apart, under its name here; None if it is not there any more.
        most: the most rows of the plan that one person has; None if there is no bound.
        unbounded: why there is none.
        lost: why a row is not one person's any more; empty if it is.
        noiseless: why no noise above hides a person, however few rows she has; empty if it does.
        needs: what must be true of base relations for the bound.
        paths: what must be true of them for every row to be one person's.
    """

    space: str
    column: str | None
    most: int | None
    unbounded: str = ""
    lost: str = ""
    noiseless: str = ""
    needs: frozenset[Declaration] = frozenset()
    paths: frozenset[Declaration] = frozenset()


def counts_people(plan: Plan, persons: Persons) -> bool:
    """Whether the k of every generalization in a plan is a number of people."""
    degrees = [
        node
        for node in plan.walk()
        if (isinstance(node, Generalization) and node.k > 1) or isinstance(node, ModelGeneralization)
    ]
    return bool(degrees) and all(behind(node.children[0], persons) is not None for node in degrees)


def needs_of(plan: Plan, persons: Persons) -> tuple[Declaration, ...]:
    """What must be true of the data so that every anonymization of the plan protects people.

    Raises:
        ParameterError: one of them cannot, whatever the data are.
    """
    found: dict[Declaration, None] = {}
    for node in plan.walk():
        if not isinstance(node, Anonymization | ModelGeneralization | RowBound) and not _is_noisy(node):
            continue
        people = behind(node.children[0], persons)
        if isinstance(node, RowBound):
            _check_bound(people)
        if people is None:
            continue
        if isinstance(node, RowBound):
            found.update(dict.fromkeys(sorted(people.paths, key=str)))
        elif isinstance(node, Generalization):
            _check_generalization(node, people)
            found.update(dict.fromkeys(sorted(people.paths, key=str)))
        elif isinstance(node, ModelGeneralization):
            _check_models(node, people)
            found.update(dict.fromkeys(sorted(people.paths | people.needs, key=str)))
        elif not isinstance(node, SlicingNode) or len(node.groups) > 1:
            if people.most is None:
                raise ParameterError.because(people.unbounded)
            if people.noiseless and _is_noisy(node):
                raise ParameterError.because(people.noiseless)
            found.update(dict.fromkeys(sorted(people.paths | people.needs, key=str)))
    return tuple(found)


def _check_models(node: ModelGeneralization, people: People) -> None:
    _check_generalization(node, people)
    if people.most != 1:
        raise ParameterError(
            "algebra.diversity-closeness-suppression-count",
            "diversity, closeness and suppression count rows, and here one person may have several: write "
            "bound(..., rows => 1) below, or declare rows_per_person = 1",
        )


def _check_generalization(node: Generalization | ModelGeneralization, people: People) -> None:
    if isinstance(node, Generalization) and node.k == 1:
        return
    if people.lost:
        raise ParameterError.because(people.lost)
    if people.column in node.attributes:
        raise ParameterError(
            "algebra.tells-people-apart-cannot-generalized",
            "'{column}' tells people apart and cannot be generalized: it is counted; leave it out of `by`",
            column=people.column,
        )


def _check_bound(people: People | None) -> None:
    if people is None:
        raise ParameterError(
            "algebra.bound-keeps-some-rows-person",
            "bound keeps some rows of each person: declare `person`, which tells people apart",
        )
    if people.lost:
        raise ParameterError.because(people.lost)


def _is_noisy(node: Plan) -> bool:
    return isinstance(node, Grouping) and any(aggregate.noise for aggregate in node.aggregates)


# ------------------------------------------------------------------ who is behind the rows


def behind(plan: Plan, persons: Persons) -> People | None:
    """The people behind the rows of a plan; None if nobody is declared in it."""
    match plan:
        case Relation(name):
            return _stored(name, persons)
        case Projection(child, onto, distinct):
            people = _shown(behind(child, persons), onto)
            if people is None or not distinct or people.column is not None:
                return people
            lost = Reason(
                "algebra.rows-become-distinct-nobody",
                "rows become one by DISTINCT, and nobody knows whose: generalize before DISTINCT",
            )
            return replace(people, lost=people.lost or lost)
        case Rename(child, names):
            people = behind(child, persons)
            new = dict(names)
            return people and replace(people, column=people.column and new.get(people.column, people.column))
        case Grouping(child, by):
            return _grouped(behind(child, persons), by)
        case Union(left, right):
            return _united(behind(left, persons), behind(right, persons))
        case Difference(left, right) | Intersection(left, right):
            return _matched(plan, behind(left, persons), behind(right, persons))
        case Join(left, right):
            return _joined(left, right, plan.on, persons)
        case ThetaJoin(left, right):
            return _joined(left, right, frozenset(), persons)
        case SlicingNode(child):
            return _sliced(plan, behind(child, persons))
        case Generalization(child) | ModelGeneralization(child):
            people = behind(child, persons)
            levels = Reason(
                "algebra.levels-generalization-depend-all-rows",
                "levels of a generalization depend on all rows, so no noise above it hides a person",
            )
            return people and replace(people, noiseless=people.noiseless or levels)
        case Randomization(child):
            return _shown(behind(child, persons), plan.schema - plan.attributes)
        case Selection(child):
            return behind(child, persons)
        case RowBound(child, rows):
            people = behind(child, persons)
            most = rows if people is None or people.most is None else min(rows, people.most)
            return people and replace(people, most=most, unbounded="", needs=frozenset())
        case PostProcessing():
            return None
    raise ParameterError(
        "algebra.people-behind", "the people behind a {name} are not known", name=type(plan).__name__.lower()
    )


def _stored(name: str, persons: Persons) -> People | None:
    path = path_of(persons, name)
    if path is None:
        return None
    space = space_of(persons, name)
    keys = set()
    step = path
    while step.to:
        keys.add(Declaration("key", step.to, frozenset({step.through})))
        following = path_of(persons, step.to)
        assert following is not None
        step = following
    need = Declaration("person", name, frozenset({path.own}), number=path.rows)
    return People(space, path.column or None, path.rows, needs=frozenset({need}), paths=frozenset(keys))


def _shown(people: People | None, columns: Collection[str]) -> People | None:
    return people and (people if people.column in columns else replace(people, column=None))


def _grouped(people: People | None, by: tuple[str, ...]) -> People | None:
    if people is None:
        return None
    if people.column is not None and people.column in by:
        one = by == (people.column,)
        return replace(people, most=1, unbounded="", needs=frozenset()) if one else people
    reason = Reason(
        "algebra.grouping-puts-rows-several",
        "a grouping puts the rows of several people together: group by the column that tells them apart",
    )
    return replace(people, column=None, most=None, unbounded=reason, lost=people.lost or reason)


def _united(mine: People | None, its: People | None) -> People | None:
    if mine is None and its is None:
        return None
    if mine is None or its is None:
        reason = "a union brings rows of people and rows that are nobody's together"
        return _unknown(mine or its, f"{reason}: declare `person` of both tables")
    if mine.space != its.space:
        reason = f"a union brings people of two spaces together, '{mine.space}' and '{its.space}'"
        return _unknown(mine, f"{reason}: anonymize the parts")
    most = None if mine.most is None or its.most is None else mine.most + its.most
    column = mine.column if mine.column == its.column else None
    return _both(mine, its, column, most)


def _unknown(people: People | None, reason: str) -> People | None:
    return people and replace(people, column=None, most=None, unbounded=reason, lost=people.lost or reason)


def _both(mine: People, its: People, column: str | None, most: int | None, lost: str = "") -> People:
    return People(
        mine.space,
        column,
        most,
        mine.unbounded or its.unbounded,
        mine.lost or its.lost or lost,
        mine.noiseless or its.noiseless,
        mine.needs | its.needs,
        mine.paths | its.paths,
    )


def _matched(plan: Plan, mine: People | None, its: People | None) -> People | None:
    if mine is None or its is None:
        if mine is None and its is None:
            return None
        reason = "rows of people are compared with rows that are nobody's: declare `person` of both tables"
        return _unknown(mine or its, reason)
    if mine.column is not None and mine.column == its.column and mine.space == its.space:
        bounds = [most for most in (mine.most, its.most) if most is not None]
        most = mine.most if isinstance(plan, Difference) else min(bounds, default=None)
        return _both(mine, its, mine.column, most)
    most = None if mine.most is None or its.most is None else mine.most + its.most
    lost = Reason(
        "algebra.rows-compared-without-column",
        "rows are compared without the column that tells people apart: show it on both sides",
    )
    return _both(mine, its, None, most, lost)


_PAIRED = Reason(
    "algebra.join-below-anonymization-pairs",
    "a join below an anonymization pairs the rows of two people: join on the column that is declared as "
    "`person`",
)


def _joined(left: Plan, right: Plan, on: frozenset[str], persons: Persons) -> People | None:
    mine, its = behind(left, persons), behind(right, persons)
    if mine is None and its is None:
        return None
    if mine is not None and its is not None:
        if mine.space == its.space and mine.column is not None and mine.column == its.column in on:
            most = None if mine.most is None or its.most is None else mine.most * its.most
            return _both(mine, its, mine.column, most)
        return replace(_both(mine, its, None, None, _PAIRED), unbounded=_PAIRED)
    people, other = (mine, right) if mine is not None else (its, left)
    assert people is not None
    partner = _base(other, on)
    if partner is None:
        key = listed(on) or Reason("algebra.column", "a column")
        reason = Reason(
            "algebra.join-may-multiply-rows",
            "a join may multiply the rows of a person without a bound: join with a table in which {key} is "
            "a key",
            key=key,
        )
        return replace(people, most=None, unbounded=people.unbounded or reason)
    return replace(people, needs=people.needs | {Declaration("key", partner, on)})


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
    reason = (
        "an anonymization above a slicing would count rows that are put together from the parts of several "
        "people: slice last"
    )
    return replace(people, column=None, most=None, unbounded=reason, lost=people.lost or reason)
