"""Somebody who hopes that parent and child become one person."""

from __future__ import annotations

import csv
import dataclasses
import random
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim

FIELDS = ("surname", "given", "born", "sex", "postcode")
Person = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Linkage:
    """A vault that links several tables, and how its registrar starts that."""

    folder: Path
    command: tuple[str, ...]


class Family(Attacker[Linkage]):
    name = "family"
    promise = "parent-and-child"
    knows = "Whose parent has the same name, sex and postcode."
    sees = "The pseudonyms in the tables that are written."
    does = "Puts parents in one source and their children in another, with birthdays of many kinds."

    def attack(self, target: Linkage) -> Iterator[Victim]:
        clinic, registry, pairs = families()
        for name, people in (("clinic", clinic), ("registry", registry)):
            write(target.folder / f"{name}.csv", people)
        tables = [str(target.folder / f"{name}.csv") for name in ("clinic", "registry")]
        out = target.folder / "linked"
        out.mkdir()
        done = subprocess.run(
            [
                target.command[0],
                "pseudonymize",
                *tables,
                *target.command[1:],
                "--keep-order",
                "--out",
                str(out),
            ],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        of_clinic, of_registry = (pseudonyms(out / f"{name}.csv") for name in ("clinic", "registry"))
        for parent, child in pairs:
            if of_clinic[clinic.index(parent)] == of_registry[registry.index(child)]:
                yield Victim(
                    f"{child[1]} {child[0]}, born {child[2]}", f"is one with who was born {parent[2]}"
                )


def families(
    number: int = 24, seed: int = 4
) -> tuple[list[Person], list[Person], list[tuple[Person, Person]]]:
    """Two sources with people in both, and parents in the first whose children are in the second."""
    draw = random.Random(seed)
    people = [person(draw) for _ in range(500)]
    both = [(each, misspelled(each, draw)) for each in people[:250]]
    clinic = [one for one, _ in both] + people[250:375]
    registry = [other for _, other in both] + people[375:]
    pairs = []
    for place, parent in enumerate(people[250 : 250 + number]):
        surname, given, born, sex, postcode = parent
        year, day = (
            int(born[:4]) + draw.randint(18, 40),
            f"-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
        )
        if place % 3 == 1:  # born on the day of the parent, decades later: one digit differs
            year, day = int(born[:4]) + draw.choice((20, 30, 40)), born[4:]
        if place % 3 == 2:  # a digit of the year, and the day
            year, day = int(born[:4]) + 20, f"{born[4:8]}{draw.randint(1, 28):02}"
        pairs.append((parent, (surname, given, f"{year}{day}", sex, postcode)))
    return clinic, registry + [child for _, child in pairs], pairs


def person(draw: random.Random) -> Person:
    parts = ["ba", "do", "fe", "gri", "ka", "lu", "mo", "ne", "pi", "ro", "sta", "ti", "vo", "wen", "zu"]
    surname = "".join(draw.choices(parts, k=3)).capitalize()
    given = "".join(draw.choices(parts, k=2)).capitalize()
    born = f"{draw.randint(1930, 1979)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
    return surname, given, born, draw.choice("fm"), f"{draw.randint(10000, 99999)}"


def misspelled(known: Person, draw: random.Random) -> Person:
    place = draw.randrange(1, len(known[0]) - 1)
    return known[0][:place] + known[0][place + 1 :], *known[1:]


def write(path: Path, people: Sequence[Person]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerows([(*FIELDS, "value"), *((*each, "1") for each in people)])


def pseudonyms(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        sample = file.readline()
        file.seek(0)
        return [row["pseudonym"] for row in csv.DictReader(file, delimiter=";" if ";" in sample else ",")]
