"""Somebody who looks for NULL where a proof has not: SQLite and DuckDB are his judges."""

from __future__ import annotations

import dataclasses
import itertools
import random
import sqlite3
from collections.abc import Iterator

import duckdb

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.sql.command import Command

VALUES = ("a", "b", "c", None)
ROWS = list(itertools.product(VALUES, VALUES))


@dataclasses.dataclass(frozen=True)
class Prover:
    """A command that proves, what it is told of the table, and how often it is asked."""

    tarn: Command
    said: tuple[str, ...]
    pairs: int = 8


class NullEverywhere(Attacker[Prover]):
    name = "null-everywhere"
    promise = "null"
    knows = "Laws of logic that hold for two truth values and not for three."
    sees = "The verdict of --prove on pairs of queries."
    does = "Runs both queries in SQLite and DuckDB on all rows over a few values and NULL, and compares the answers."

    def attack(self, target: Prover) -> Iterator[Victim]:
        chance = random.Random(16)
        for _ in range(target.pairs):
            first, second = pair(chance)
            queries = [f"SELECT x, y FROM t WHERE {condition}" for condition in (first, second)]
            verdict = target.tarn("sql", "--prove", queries[0], "--prove", queries[1], *target.said, "--json")
            equal = verdict.told.get("verdict") == "equal"
            if equal and differ(*queries):
                yield Victim("whoever relies on the proof", f"'{first}' and '{second}' differ where NULL is")


def pair(chance: random.Random) -> tuple[str, str]:
    """Two conditions that are the same for two truth values."""
    p, q = condition(chance, 1), condition(chance, 0)
    laws = [
        (f"({p}) OR NOT ({p})", "x IS NULL OR x IS NOT NULL"),
        (f"({p}) AND NOT ({p})", "x IS NULL AND x IS NOT NULL"),
        (f"({p}) AND (({q}) OR NOT ({q}))", p),
        (f"({p}) OR (({q}) AND NOT ({q}))", p),
        (f"NOT (({p}) AND ({q}))", f"NOT ({p}) OR NOT ({q})"),
        (f"NOT NOT ({p})", p),
        (f"({p}) AND (({p}) OR ({q}))", p),
        (f"(({p}) AND ({q})) OR (({p}) AND NOT ({q}))", p),
    ]
    return chance.choice(laws)


def condition(chance: random.Random, depth: int) -> str:
    if depth and chance.random() < 0.5:
        word = chance.choice(["AND", "OR"])
        return f"({condition(chance, depth - 1)}) {word} ({condition(chance, depth - 1)})"
    column, other = chance.sample(["x", "y"], 2)
    value = chance.choice("abc")
    return chance.choice(
        [
            f"{column} = '{value}'",
            f"{column} <> '{value}'",
            f"{column} < '{value}'",
            f"{column} = {other}",
            f"{column} <> {other}",
            f"{column} IN ('a', '{value}')",
            f"{column} NOT IN ('{value}', NULL)",
            f"{column} LIKE '{value}%'",
            f"{column} BETWEEN 'a' AND '{value}'",
            f"{column} IS NULL",
        ]
    )


def differ(first: str, second: str) -> bool:
    """Whether two queries have different answers, in the eyes of either judge."""
    with duckdb.connect() as judge, sqlite3.connect(":memory:") as other:
        for connection in (judge, other):
            connection.execute("CREATE TABLE t (x VARCHAR, y VARCHAR)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", ROWS)
        return any(
            sorted(map(repr, connection.execute(first).fetchall()))
            != sorted(map(repr, connection.execute(second).fetchall()))
            for connection in (judge, other)
        )
