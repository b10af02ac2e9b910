"""Somebody who has what several people were shown of one table, and lays it side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Shown:
    """Tables that were shown, and what he knows of people.

    Attributes:
        releases: what each asker was shown: rows by column name.
        lifts: for a column and a value, all labels that may stand for it.
        people: what he knows of each person, by her name.
        told: the columns that he wants to learn.
    """

    releases: tuple[list[Mapping[str, Any]], ...]
    lifts: Mapping[tuple[str, str], frozenset[str]]
    people: Mapping[str, Mapping[str, str]]
    told: tuple[str, ...] = ("diagnosis", "cost")


class JoinReleases(Attacker[Shown]):
    name = "join-releases"
    promise = "policy"
    knows = "The quasi-identifiers of everybody, and the hierarchies."
    sees = "What several people may see of one table."
    does = "Looks up in each release which rows may be somebody's, and which sensitive cells are in all of these."

    def attack(self, target: Shown) -> Iterator[Victim]:
        for person, known in target.people.items():
            alone = [self._possible(rows, known, target) for rows in target.releases]
            together = set.intersection(*alone)
            if not together:
                yield Victim(person, "is in no release, so the attack read them wrongly")
            elif len(together) < min(map(len, alone)):
                yield Victim(person, f"has one of {len(together)} rows, where each release left more")

    def _possible(
        self, rows: list[Mapping[str, Any]], known: Mapping[str, str], target: Shown
    ) -> set[tuple[Any, ...]]:
        """The sensitive cells of the rows that may be a person's."""
        return {
            tuple(row[column] for column in target.told)
            for row in rows
            if all(str(row[c]) in target.lifts[c, value] for c, value in known.items())
        }
