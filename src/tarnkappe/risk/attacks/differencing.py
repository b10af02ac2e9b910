"""Differencing: two answers whose people differ by few disclose those few."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tarnkappe.risk.attacks.attack import Attack, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed, Function, PublishedAggregate
from tarnkappe.risk.attacks.people import all_names, matching
from tarnkappe.risk.attacks.target import Target


class AnswerDifference(NamedTuple):
    """The people of one answer that another leaves out, and what is learned of them."""

    labels: dict[str, str]
    size: int
    learned: str
    who: tuple[str, ...]


class Differencing(Attack):
    """Subtract two answers, one of which is about all people of the other and some more.

    A difference of two sums discloses the value of a single person; a difference of two counts of a value
    discloses it of all who make the difference, if it is as large as they are many. How many they are is
    known from people, or from answers that count them. A check of the whole sequence of answers stops it.
    """

    name = "differencing"
    cites = ("denning1979",)
    title = "Differencing of two answers"
    needs = (AttackNeed.ANSWERS,)
    repaired_by = ()
    knowledge = "Two answers about people of whom one includes the other."

    def find(self, target: Target, shown: int | None) -> Victims:
        answers = target.background.answers
        found: dict[tuple[object, ...], AnswerDifference] = {}
        for wide, narrow in itertools.permutations(answers, 2):
            if (wide.function, wide.column, wide.equals) == (narrow.function, narrow.column, narrow.equals):
                difference = _difference(target, wide, narrow)
                if difference is not None:
                    found.setdefault((tuple(difference.labels.items()), difference.learned), difference)
        victims = list(found.values())
        known = target.background.people
        among = (
            max((int(a.value) for a in answers if _counts_people(a)), default=0)
            if known is None
            else known.num_rows
        )

        def describe(place: int) -> VictimClass:
            difference = victims[place]
            return VictimClass(difference.labels, difference.size, difference.learned, 1.0, difference.who)

        return Victims(
            sizes=np.array([difference.size for difference in victims], dtype=np.int64),
            certainties=np.ones(len(victims)),
            describe=describe,
            among=among,
            success=lambda told: f"The difference of two answers discloses a value of {told}.",
            failure="No two answers differ by so few people that a value is disclosed.",
            evidence={"answers": len(answers)},
        )


def _difference(
    target: Target, wide: PublishedAggregate, narrow: PublishedAggregate
) -> AnswerDifference | None:
    """What is learned of the people that only the wider answer is about."""
    more = {name: cell for name, cell in narrow.where.items() if wide.where.get(name) != cell}
    if not more or any(narrow.where.get(name) != cell for name, cell in wide.where.items()):
        return None  # not about some of the same people only
    known = target.background.people
    who: tuple[str, ...] = ()
    number = _counted(target.background.answers, wide.where, narrow.where)
    if known is not None:
        rows = np.flatnonzero(matching(wide.where, known) & ~matching(narrow.where, known))
        if number is None or number == len(rows):
            number, who = len(rows), all_names(known, rows)
    gap = wide.value - narrow.value
    labels = {**wide.where, "not": " and ".join(f"{name} {cell}" for name, cell in more.items())}
    if wide.function is Function.SUM and number == 1:
        return AnswerDifference(labels, 1, f"{wide.column} {gap:g}", who)
    if wide.function is Function.COUNT and wide.equals is not None and number and gap == number:
        return AnswerDifference(labels, number, f"{wide.column} {wide.equals}", who)
    return None


def _counts_people(answer: PublishedAggregate) -> bool:
    return answer.function is Function.COUNT and answer.column is None


def _counted(
    answers: Sequence[PublishedAggregate], wide: Mapping[str, str], narrow: Mapping[str, str]
) -> int | None:
    """How many people make the difference, if both kinds of people were counted."""
    counts = [
        next((a.value for a in answers if _counts_people(a) and dict(a.where) == dict(where)), None)
        for where in (wide, narrow)
    ]
    return None if counts[0] is None or counts[1] is None else int(counts[0] - counts[1])
