"""Releases of made-up people with their certificates, for auditors with and without the input."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from tarnkappe.job import Job, run
from tarnkappe.verifier import checker
from tests.attackers.attacker import Stage
from tests.attackers.proof.forger import Certified
from tests.attackers.proof.subtractor import Worlds

COMMAND = (sys.executable, "-I", "-S", str(checker.__file__))
People = list[tuple[str, str, str, str]]


def people(number: int = 90) -> People:
    """Ages, towns, illnesses and incomes; the first two are unlike all others."""
    towns, ills = ("Ulm", "Bonn", "Kiel"), ("flu", "cold", "flu", "HIV")
    draws = [(place * 7919 + place * place * 31) % 9973 for place in range(number)]
    usual = [(str(20 + n % 16), towns[n % 3], ills[n % 4], str(1000 + n % 50)) for n in draws]
    return [("93", "Oslo", "HIV", "1"), ("71", "Lima", "cold", "2"), *usual]


def publish(folder: Path, name: str, rows: People, **search: Any) -> Path:
    """A release with its certificates; returns that for the house."""
    source = folder / f"{name}-people.csv"
    with source.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        writer.writerows([("age", "town", "illness", "income"), *rows])
    house = folder / f"{name}-house.json"
    content = {
        "input": {"path": str(source)},
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [4, 8, 16]}},
            "town": {"role": "quasi-identifier", "hierarchy": {"builder": "groups", "groups": TOWNS}},
            "illness": {"role": "sensitive"},
            "income": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "search": search,
        "output": {"path": str(folder / f"{name}.csv"), "certificate": str(house)},
    }
    run(Job.from_dict(content), seed=5)
    return house


TOWNS = {"Germany": ["Ulm", "Bonn", "Kiel"], "elsewhere": ["Oslo", "Lima", "Rome"]}
LEVELS = {"suppression_limit": 0.05}


@contextmanager
def certified(folder: Path, search: dict[str, Any], *, has_input: bool) -> Iterator[Certified]:
    """A release that somebody verifies with or without the input."""
    house = publish(folder, "true", people(), **search)
    other = publish(folder, "other", people(60), **search)
    rest = ("--input", str(folder / "true-people.csv")) if has_input else ()
    yield Certified(house, folder / "true.csv", folder / "true-people.csv", other, COMMAND, rest)


def auditor(name: str, search: dict[str, Any], *, has_input: bool = True) -> Stage:
    """Somebody who runs the checker."""

    def build(folder: Path) -> AbstractContextManager[Certified]:
        return certified(folder, search, has_input=has_input)

    return Stage(name, build, unprotected=not has_input)


@contextmanager
def worlds(folder: Path, *, whole: bool) -> Iterator[Worlds]:
    """The person of whom nothing was released is 93 and from Oslo, or 88 and from Rome, or healthier."""
    first, *others = people()
    victims = {
        "93, Oslo, HIV": first,
        "93, Oslo, flu": (*first[:2], "flu", first[3]),
        "88, Rome, cold": ("88", "Rome", "cold", "9"),
    }
    paths: dict[str, Path] = {}

    def again(path: Path) -> Path:
        name = path.name.removesuffix("-people.csv")
        return path.with_name(f"{name}-house.json" if whole else f"{name}.csv.certificate.json")

    for number, (name, victim) in enumerate(victims.items()):
        publish(folder, str(number), [victim, *others], **LEVELS)
        paths[name] = folder / f"{number}-people.csv"
    seen = publish(folder, "seen", [first, *others], **LEVELS)
    yield Worlds(seen if whole else folder / "seen.csv.certificate.json", paths, again)


def beside(folder: Path) -> AbstractContextManager[Worlds]:
    """The certificate that lies beside the release."""
    return worlds(folder, whole=False)


def of_the_house(folder: Path) -> AbstractContextManager[Worlds]:
    """The certificate for auditors, given to everybody."""
    return worlds(folder, whole=True)
