"""Reconstruction: each answer hides who has which value, all of them together need not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.risk.attacks.attack import Attack, Indices, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.people import all_names, matching
from tarnkappe.risk.attacks.target import Target
from tarnkappe.schema import MANY_ROWS, param
from tarnkappe.table import Table
from tarnkappe.table.encoding import as_text


class Cornered(NamedTuple):
    """A person and the few values that are left for him."""

    row: int
    learned: str


class Reconstruction(Attack):
    """Find out who can have which value, given every list of values that was ever answered.

    The attacker knows who is in each answer. A value is possible for a person if some table that gives it to
    him could have given all the answers; this is decided exactly. Who has fewer than k possible values is a
    victim. An answer that lists fewer values than the attacker knows people for is left out: some of them are
    not in the table, and he cannot know who. Checking every answer together with all earlier ones stops it.
    """

    name = "reconstruction"
    cites = ("dinur2003",)
    title = "Reconstruction from a sequence of answers"
    needs = (AttackNeed.PEOPLE, AttackNeed.LISTINGS)
    repaired_by = ()
    knowledge = "Who is in each of several answers that list sensitive values without saying whose they are."

    k: Annotated[
        int, param("a person with so many possible values is no victim", ge=2, le=MANY_ROWS, unit="values")
    ] = 2

    def find(self, target: Target, shown: int | None) -> Victims:
        people = target.background.people
        assert people is not None
        listings = target.background.listings
        cornered: list[Cornered] = []
        asked = np.zeros(people.num_rows, dtype=bool)
        used = 0
        for column in dict.fromkeys(listing.column for listing in listings):
            results = []
            for listing in (listing for listing in listings if listing.column == column):
                who = np.flatnonzero(matching(listing.where, people))
                if 0 < len(who) <= len(listing.values):
                    results.append((listing.values, who))
            used += len(results)
            for row, possible in _possible_values(results).items():
                asked[row] = True
                if len(possible) < self.k:
                    cornered.append(Cornered(row, f"{column} {' or '.join(sorted(possible))}"))
        known = [name for name in people.column_names if name not in people.identifiers]

        def describe(place: int) -> VictimClass:
            row, learned = cornered[place]
            return VictimClass(
                _cells(people, known, row), 1, learned, 1.0, all_names(people, np.array([row]))
            )

        return Victims(
            sizes=np.ones(len(cornered), dtype=np.int64),
            certainties=np.ones(len(cornered)),
            describe=describe,
            among=int(asked.sum()),
            success=lambda told: f"All answers together leave fewer than {self.k} values for {told}.",
            failure=f"All answers together leave at least {self.k} values for everybody.",
            evidence={"answers": used, "answers_left_out": len(listings) - used},
        )


def _possible_values(results: Sequence[tuple[Sequence[str], Indices]]) -> dict[int, frozenset[str]]:
    """The values that each person in some answers can have, by the person's row."""
    from tarnkappe.gate.exact_test import ContradictionError, signatures  # brings solvers
    from tarnkappe.gate.knowledge import Knowledge

    labels = sorted({value for values, _ in results for value in values})
    code = {label: number for number, label in enumerate(labels)}
    rows = list(dict.fromkeys(int(row) for _, who in results for row in who))
    number = {row: place for place, row in enumerate(rows)}
    knowledge = Knowledge(len(labels))
    for values, who in results:
        counts = np.bincount([code[value] for value in values], minlength=len(labels))
        knowledge.publish([number[int(row)] for row in who], counts)
    try:
        found = signatures(knowledge) if results else []
    except ContradictionError:
        raise ParameterError(
            "risk.answers-contradict-other-people",
            "the answers contradict each other for the people who are known: no table can have given them",
        ) from None
    return {row: frozenset(labels[v] for v in found[place]) for row, place in number.items()}


def _cells(people: Table, names: list[str], row: int) -> dict[str, str]:
    return {
        name: as_text(people.data.column(name).slice(row, 1).combine_chunks())[0].as_py() for name in names
    }
