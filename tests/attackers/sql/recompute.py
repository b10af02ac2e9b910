"""Somebody who computes answers again: rows by SQLite, levels by trying all of them."""

from __future__ import annotations

import dataclasses
import itertools
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.sql.command import Command

Table = Sequence[tuple[Any, ...]]
LADDERS: dict[str, dict[Any, tuple[str, ...]]] = {
    "age": {"31": ("30s", "*"), "34": ("30s", "*"), "52": ("50s", "*"), None: ("none", "*")},
    "plz": {"a": ("*",), "b": ("*",), None: ("*",)},
}
"""What each value rises to, level by level."""

SHAPES: dict[str, tuple[str, str]] = {
    "a join over a key": ("SELECT age, plz, blood FROM people NATURAL JOIN labor", "age"),
    "a join on one side": ("SELECT age, plz FROM people NATURAL JOIN labor", "age,plz"),
    "a selection": ("SELECT age, plz FROM people WHERE plz <> 'a' OR plz IS NULL", "age"),
    "a selection that forgets NULL": ("SELECT age, plz FROM people WHERE NOT plz = 'a'", "age"),
    "a union": (
        "SELECT age, plz FROM people UNION ALL SELECT age, plz FROM people WHERE age <> '52'",
        "age,plz",
    ),
}
"""What is generalized, and by which columns."""


EARLY = "FROM generalize(people, k => 2, by => [age])"
BY_HAND = {
    "a join over a key": f"SELECT age, plz, blood {EARLY} NATURAL JOIN labor",
    "a selection that forgets NULL": f"SELECT age, plz {EARLY} WHERE NOT plz = 'a'",
}
"""The same with the generalization moved below, as a rule might do it."""


@dataclasses.dataclass(frozen=True)
class Database:
    """A command that answers, and where tables and what is said of them are to be written."""

    tarn: Command
    folder: Path
    said: tuple[str, ...] = ()
    by_hand: bool = False
    """Whether the query is asked as a rule would rewrite it, without asking whether the rule holds."""
    rounds: int = 3


class Recompute(Attacker[Database]):
    name = "recompute"
    promise = "strict"
    knows = "The raw tables, the hierarchies and the contract of generalize."
    sees = "The answers to queries with generalize, as they were rewritten."
    does = "Fills tables with NULL, computes each answer himself, and compares as bags."
    keys: ClassVar[bool] = False

    def attack(self, target: Database) -> Iterator[Victim]:
        chance = random.Random(7)
        for _ in range(target.rounds):
            tables = {"people": people(chance, self.keys), "labor": labor(chance, self.keys)}
            write(target.folder, tables, declared=self.keys)
            for what, (below, by) in SHAPES.items():
                if target.by_hand and what not in BY_HAND:
                    continue
                yield from self._ask(target, tables, what, below, by.split(","))

    def _ask(
        self, target: Database, tables: Mapping[str, Table], what: str, below: str, by: list[str]
    ) -> Iterator[Victim]:
        query = f"SELECT * FROM generalize(({below}), k => 2, by => [{', '.join(by)}])"
        query = BY_HAND[what] if target.by_hand else query
        answer = target.tarn(
            "sql", query, "--catalog", str(target.folder / "catalog.toml"), "--json", *target.said
        )
        expected = generalized(*selected(below, tables), by, 2)
        if answer.code == 0 and (expected is None or Counter(answer.rows) != expected):
            rules = ", ".join(step["rule"] for step in answer.told.get("steps", ())) or "no rule"
            yield Victim("whoever reads the answer", f"{what}: rewritten by {rules}, and not what was asked")


class FalseKeys(Recompute):
    name = "false-keys"
    promise = "declared"
    does = "Declares keys that the data do not keep (repeated, missing, without a partner), and compares as bags."
    keys = True


def people(chance: random.Random, false_keys: bool) -> Table:
    ids = [1, 2, 3, 4, 5, 6]
    if false_keys:
        ids[5] = chance.choice([None, 5, 9])
    ages, places = list(LADDERS["age"]), list(LADDERS["plz"])
    return [(number, chance.choice(ages), chance.choice(places)) for number in ids]


def labor(chance: random.Random, false_keys: bool) -> Table:
    ids = [1, 2, 3, 4, 5, chance.choice([None, 5, 8]) if false_keys else 6]
    return [(number, chance.choice(["A", "B", None])) for number in ids]


def write(folder: Path, tables: Mapping[str, Table], *, declared: bool) -> None:
    """The tables as files, the hierarchies, and a catalog that declares keys whether they are or not."""
    heads = {"people": "id,age,plz", "labor": "id,blood"}
    lines = []
    for name, rows in tables.items():
        cells = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
        (folder / f"{name}.csv").write_text("\n".join([heads[name], *cells]) + "\n", encoding="utf-8")
        other = "labor" if name == "people" else "people"
        lines += [f"[relations.{name}]", f'path = "{name}.csv"']
        lines += ['keys = [["id"]]', f'within = {{{other} = ["id"]}}'] if declared else []
    for name, ladder in LADDERS.items():
        rows = [";".join([value or "", *labels]) for value, labels in ladder.items()]
        (folder / f"{name}.hierarchy.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        lines += [f"[columns.{name}]", f'hierarchy = "{name}.hierarchy.csv"', 'role = "quasi-identifier"']
    (folder / "catalog.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def selected(query: str, tables: Mapping[str, Table]) -> tuple[list[str], Table]:
    """The rows of a query, by SQLite."""
    with sqlite3.connect(":memory:") as judge:
        judge.execute("CREATE TABLE people (id INTEGER, age TEXT, plz TEXT)")
        judge.execute("CREATE TABLE labor (id INTEGER, blood TEXT)")
        for name, rows in tables.items():
            judge.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        found = judge.execute(query)
        return [column for column, *_ in found.description], found.fetchall()


def generalized(columns: list[str], rows: Table, by: list[str], k: int) -> Counter[tuple[Any, ...]] | None:
    """Every combination of levels tried: the least squares of class sizes, then the lowest levels."""
    best = None
    for levels in itertools.product(
        *(range(len(ladder(name)["31" if name == "age" else "a"]) + 1) for name in sorted(by))
    ):
        chosen = dict(zip(sorted(by), levels, strict=True))
        shown = [
            tuple(lifted(name, cell, chosen[name]) if name in chosen else cell for name, cell in zip(columns, row, strict=True))
            for row in rows
        ]  # fmt: skip
        places = [columns.index(name) for name in by]
        sizes = Counter(tuple(row[i] for i in places) for row in shown)
        if not sizes or min(sizes.values()) < k:
            continue
        shares = [Fraction(level, len(next(iter(ladder(name).values())))) for name, level in chosen.items()]
        key = (sum(size**2 for size in sizes.values()), sum(shares), levels)
        if best is None or key < best[0]:
            best = key, Counter(shown)
    return None if best is None else best[1]


def ladder(name: str) -> dict[Any, tuple[str, ...]]:
    return LADDERS[name]


def lifted(name: str, cell: Any, level: int) -> Any:
    return cell if level == 0 else ladder(name)[cell][level - 1]
