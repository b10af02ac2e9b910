"""Looks for the holder of a rare value: whoever is in an answer without it is cleared, and the rest is halved."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import psycopg

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.gate.worlds import Solved, Told


@dataclasses.dataclass(frozen=True)
class OpenGate:
    """A gate as its users see it: people have numbers, by which they are asked for, and one sensitive value.

    Attributes:
        url: where it is.
        people: the numbers of those in the table.
        labels: what a value can be, as the policy tells the public.
        merged: those of them that stand for several values.
        floors: how many people had each label when the list was made, if it was read from the table.
        k: what is promised.
        rare: what somebody is suspected of.
        group: how many people are asked for at once.
        questions: how often.
    """

    url: str
    people: range
    labels: tuple[str, ...]
    merged: frozenset[str]
    floors: Mapping[str, int]
    k: int
    rare: str
    group: int
    questions: int


Rows = list[tuple[int, str]]


def by_numbers(connection: psycopg.Connection, people: list[int]) -> Rows:
    numbers = ", ".join(map(str, people))
    return connection.execute(f"SELECT nr, disease FROM patients WHERE nr IN ({numbers})").fetchall()


def by_a_parameter(connection: psycopg.Connection, people: list[int]) -> Rows:
    return connection.execute(
        "SELECT nr, disease FROM patients WHERE nr = ANY(%s)", [people], binary=True
    ).fetchall()


def above_an_answer(connection: psycopg.Connection, people: list[int]) -> Rows:
    numbers = ", ".join(map(str, people))
    return connection.execute(
        f"WITH a AS (SELECT nr, disease FROM patients WHERE nr IN ({numbers})) SELECT nr, disease FROM a WHERE nr >= %s",
        [min(people)],
    ).fetchall()


def after_another_statement(connection: psycopg.Connection, people: list[int]) -> Rows:
    numbers = ", ".join(map(str, people))
    cursor = connection.execute(f"SELECT 1; SELECT nr, disease FROM patients WHERE nr IN ({numbers})")
    assert cursor.nextset()
    return cursor.fetchall()


WAYS = (by_numbers, by_a_parameter, above_an_answer, after_another_statement)
"""All ways in which the same people can be asked for: none of them may tell more than another."""


def asked(
    connection: psycopg.Connection, people: Iterable[int], way: int = 0
) -> tuple[list[int], Counter[str]]:
    """Who is in the answer, and the values that it shows."""
    rows = WAYS[way % len(WAYS)](connection, sorted(people))
    return sorted({nr for nr, _ in rows}), Counter(disease for _, disease in rows)


class Bisector(Attacker[OpenGate]):
    """Clears people and halves those who are left; in the end he solves for everybody who was in an answer."""

    name = "bisector"
    promise = "possible-values"
    knows = "The program, the policy, who is in the table, where the list of values comes from, and what it tells."
    sees = "Every answer on the wire."
    does = "Asks for any people he likes, in every way that the gate offers, each time chosen by the answers before, and gives it all to a SAT solver."

    def attack(self, target: OpenGate) -> Iterator[Victim]:
        told = Told(
            labels=sorted(target.labels),
            merged=target.merged,
            founders=frozenset((nr, 0) for nr in target.people),
            floors=target.floors,
        )
        with psycopg.connect(target.url, autocommit=True) as connection:
            self._ask(connection, target, told)
        for (nr, _), labels in Solved(told).possible(target.k).items():
            if len(labels) < target.k:
                yield Victim(f"person {nr}", f"{len(labels)} possible values: {', '.join(sorted(labels))}")

    def _ask(self, connection: psycopg.Connection, target: OpenGate, told: Told) -> None:
        chance = random.Random(len(target.people))
        suspects = list(target.people)
        chance.shuffle(suspects)
        groups = [suspects[place :: -(-len(suspects) // target.group)] for place in range(len(suspects))]
        waiting = [group for group in groups[: -(-len(suspects) // target.group)] if group]
        cleared: list[int] = []
        for number in range(target.questions):
            if target.floors and len(suspects) < 2:
                return  # somebody must have it, and nobody else is left
            if waiting:
                group = waiting.pop()
            else:
                many = min(target.group, -(-len(suspects) // 2))
                half = chance.sample(suspects, many)
                group = half + chance.sample(cleared, min(len(cleared), target.group - len(half)))
            people, values = asked(connection, group, number)
            if not people:
                continue
            told.answers.append((tuple((nr, 0) for nr in people), values))
            if target.rare not in values:
                suspects = [nr for nr in suspects if nr not in people]
                cleared = sorted({*cleared, *people})


class ListReader(Bisector):
    """The same with what a list tells that was read from the table: how many holders each of its values has."""

    name = "list reader"
    promise = "list-from-table"
    knows = "All that the bisector knows, and how many holders each value of the list had at least."
