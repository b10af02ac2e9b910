"""Somebody who looks for classes that give a sensitive value away."""

from __future__ import annotations

import dataclasses
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.sql.command import Command

DISEASES = ("flu", "flu", "flu", "hiv", "asthma")
TOWNS = tuple(f"180{n}" for n in range(50, 58))


@dataclasses.dataclass(frozen=True)
class Ward:
    """A command that answers, where its table is to be written, and what is asked of generalize."""

    tarn: Command
    folder: Path
    asked: str
    rounds: int = 3


class RecountModels(Attacker[Ward]):
    name = "recount-models"
    promise = "models"
    knows = "The raw table, and everybody's postcode and age."
    sees = "The answers to queries with generalize, as they are printed."
    does = "Counts the values of every class, compares them with the whole table, and counts the rows that are gone."

    def attack(self, target: Ward) -> Iterator[Victim]:
        chance = random.Random(11)
        for number in range(target.rounds):
            # Three people in each town: enough for k = 2, and often of one disease.
            rows = [(plz, chance.randrange(3), chance.choice(DISEASES)) for plz in TOWNS * 3]
            (target.folder / "ward.csv").write_text(
                "plz,age,diagnosis\n" + "".join(f"{plz},a{age},{d}\n" for plz, age, d in rows),
                encoding="utf-8",
            )
            (target.folder / "plz.csv").write_text(
                "".join(f"{plz};{plz[:4]}*;*\n" for plz in TOWNS), encoding="utf-8"
            )
            (target.folder / "age.csv").write_text("a0;*\na1;*\na2;*\n", encoding="utf-8")
            files = [f"plz={target.folder / 'plz.csv'}", f"age={target.folder / 'age.csv'}"]
            answer = target.tarn(
                "sql",
                f"SELECT plz, age, diagnosis FROM generalize(ward, k => 2, by => [plz, age]{target.asked})",
                "--data",
                f"ward={target.folder / 'ward.csv'}",
                *(word for file in files for word in ("--hierarchies", file)),
                "--json",
            )
            if not answer.rows:
                yield Victim("everybody", f"was refused in round {number}: {answer.errors[-200:]}")
                return
            yield from self._judge([tuple(map(str, row)) for row in answer.rows], rows, number)

    def _judge(
        self, shown: list[tuple[str, ...]], raw: list[tuple[str, int, str]], number: int
    ) -> Iterator[Victim]:
        whole = Counter(d for _, _, d in raw)
        classes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for plz, age, d in shown:
            classes[plz, age][d] += 1
        for (plz, age), values in classes.items():
            size = values.total()
            entropy = -sum(n / size * math.log(n / size) for n in values.values())
            moved = sum(abs(values[d] / size - whole[d] / len(raw)) for d in whole) / 2
            where = f"the class {plz}, {age} of round {number}"
            if len(values) < 2 or entropy < math.log(1.5) - 1e-9:
                yield Victim(where, "has one value, or nearly one")
            if moved > 0.35 + 1e-9:
                yield Victim(where, "differs more from the whole table than was asked for")
        if len(shown) < len(raw) * 0.9:
            yield Victim(f"round {number}", "lost more rows than it may")
