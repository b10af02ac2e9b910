"""Somebody who counts people where a release has counted rows."""

from __future__ import annotations

import dataclasses
import random
from collections import defaultdict
from collections.abc import Iterator

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.sql.command import Command

ONE = "patients"
BELOW = {
    "a table of people": "patients",
    "a table with itself": "(SELECT pid, plz FROM patients UNION ALL SELECT pid, plz FROM patients)",
    "a table of visits": "(SELECT pid, plz FROM visits)",
    "visits that were selected": "(SELECT pid, plz FROM visits WHERE ward = 'a')",
    "visits and people": "(SELECT pid, plz FROM patients UNION ALL SELECT pid, plz FROM visits)",
    "people with all their visits": "(SELECT pid, plz, ward FROM patients NATURAL JOIN (SELECT pid, ward FROM visits))",
    "people in all shifts": "(SELECT pid, plz, shift FROM patients CROSS JOIN shifts)",
    "distinct visits": "(SELECT DISTINCT pid, plz, ward FROM visits)",
    "one row of each visitor": "(SELECT pid, max(plz) AS plz FROM visits GROUP BY pid)",
}


@dataclasses.dataclass(frozen=True)
class Clinic:
    """A database that can be asked, and the words that name its tables."""

    tarn: Command
    said: tuple[str, ...]
    k: int = 2
    random: int = 12
    """How many random queries he asks besides."""


def rows_of(chance: random.Random, depth: int) -> str:
    """A random table with a column for the person and one for the place."""
    if not depth:
        return f"(SELECT pid, plz FROM {chance.choice(('patients', 'visits'))})"
    one, other = rows_of(chance, depth - 1), rows_of(chance, chance.randrange(depth))
    return chance.choice(
        (
            f"(SELECT pid, plz FROM {one} a UNION ALL SELECT pid, plz FROM {other} b)",
            f"(SELECT pid, plz FROM {one} a WHERE plz <> '{chance.choice(('18055', '18057', '18059'))}')",
            f"(SELECT pid, plz FROM {one} a CROSS JOIN shifts)",
            f"(SELECT pid, plz FROM {one} a NATURAL JOIN (SELECT pid, ward FROM visits))",
            f"(SELECT pid, min(plz) AS plz FROM {one} a GROUP BY pid)",
            f"(SELECT DISTINCT pid, plz FROM {one} a)",
            f"(SELECT pid, plz FROM {one} a EXCEPT ALL SELECT pid, plz FROM {other} b)",
        )
    )


class CountPersons(Attacker[Clinic]):
    name = "count-persons"
    promise = "persons"
    knows = "Who is behind each row, since he lets the answer show the column that tells people apart."
    sees = "The answers to queries with generalize, as they are printed: nine that he has chosen, and random ones."
    does = "Counts the different people of every class, whatever the answer says of rows."

    def attack(self, target: Clinic) -> Iterator[Victim]:
        answered = 0
        chance = random.Random(3)
        asked = {**BELOW, **{f"random rows {n}": rows_of(chance, 2) for n in range(target.random)}}
        for what, below in asked.items():
            query = f"SELECT plz, pid FROM generalize({below}, k => {target.k}, by => [plz])"
            answer = target.tarn("sql", query, *target.said, "--json")
            answered += bool(answer.rows)
            people = defaultdict(set)
            for plz, pid in answer.rows:
                people[plz].add(pid)
            for plz, crowd in people.items():
                if len(crowd) < target.k:
                    yield Victim(f"patient {min(crowd)}", f"is alone with {plz} in {what}")
            for kept in answer.told.get("verified", ()):
                if kept["counted"] == "people" and any(len(crowd) < target.k for crowd in people.values()):
                    yield Victim("the reader", f"was told of people where rows were counted, in {what}")
        if not answered:
            yield Victim("everybody", "was refused, also where nobody has two rows")
