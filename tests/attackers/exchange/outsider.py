"""Somebody who has every package that left, and knows what everybody looks like."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.exchange.worlds import HIDDEN, Package, possible


@dataclasses.dataclass(frozen=True)
class Left:
    """A package that left.

    Attributes:
        path: the file that the receiver has.
        attribute: what people were selected by.
        values: the values that were selected.
        patients: who was a patient then and had not withdrawn.
        labels: by person, what the program would write of her; not given where everybody sees that.
    """

    path: Path
    attribute: str
    values: tuple[str, ...]
    patients: frozenset[str]
    labels: Mapping[str, Mapping[str, str] | None] | None = None


@dataclasses.dataclass(frozen=True)
class House:
    """A small hospital and all packages that have left it.

    Attributes:
        known: by person, what everybody may know.
        secret: by person, the true values; for an insider, who knows one attribute of them.
        domain: the values that there are of each sensitive attribute.
        packages: what left, to whomever.
        l: how many values must remain possible.
    """

    known: Mapping[str, Mapping[str, str]]
    secret: Mapping[str, Mapping[str, str]]
    domain: Mapping[str, Sequence[str]]
    packages: Sequence[Left]
    l: int  # noqa: E741


class Outsider(Attacker[Sequence[House]]):
    name = "outsider"
    promise = "possible-values"
    knows = (
        "Age and sex of everybody, who came and who left when, the values that there are, and the program."
    )
    sees = "All packages that left, whoever got them, and what each was selected by."
    does = "Tries all worlds in which exactly these packages would have left."

    def attack(self, target: Sequence[House]) -> Iterator[Victim]:
        for number, house in enumerate(target):
            packages = [read(left, house) for left in house.packages]
            if not packages:
                continue
            found = possible(list(house.known), house.domain, packages)
            assert found.worlds, "the truth is one of the worlds"
            for person in house.known:
                if not any(person in left.patients for left in house.packages):
                    continue
                for place, name in enumerate(house.domain):
                    told = any(name in (*p.shown, (p.selected or ("",))[0]) for p in packages)
                    values = found.values(person, place)
                    if told and len(values) < house.l:
                        yield Victim(
                            f"hospital {number}, {person}", f"{name} is {' or '.join(sorted(values))}"
                        )


class Insider(Attacker[Sequence[House]]):
    name = "insider"
    promise = "known-selection"
    knows = "What an outsider knows, and of everybody the value by which people were selected."
    sees = "All packages that were selected by this attribute."
    does = "Tries all worlds with these values in which exactly these packages would have left."

    def attack(self, target: Sequence[House]) -> Iterator[Victim]:
        for number, house in enumerate(target):
            for knowing in house.domain:
                seen = [left for left in house.packages if left.attribute == knowing]
                if not seen:
                    continue
                known = {person: {knowing: said[knowing]} for person, said in house.secret.items()}
                packages = [read(left, house) for left in seen]
                found = possible(list(house.known), house.domain, packages, known)
                assert found.worlds, "the truth is one of the worlds"
                for place, name in enumerate(house.domain):
                    for person in house.known if name != knowing else ():
                        told = any(
                            name in package.shown
                            and person in left.patients
                            and known[person][knowing] in left.values
                            for left, package in zip(seen, packages, strict=True)
                        )
                        values = found.values(person, place)
                        if told and len(values) < house.l:
                            what = f"{name} is {' or '.join(sorted(values))}, to who knows the {knowing}"
                            yield Victim(f"hospital {number}, {person}", what)


def read(left: Left, house: House) -> Package:
    """A package as a reader understands it: which label everybody would have in it."""
    with left.path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = list(rows[0]) if rows else []
    shown = tuple(name for name in columns if name in house.domain)
    looks = [name for name in columns if name not in house.domain]
    written = sorted({tuple(row[name] for name in looks) for row in rows})
    labels: dict[str, str | None] = {}
    for person in left.patients:
        if left.labels is not None:
            own = left.labels[person]
            words = None if own is None else tuple(own[name] for name in looks)
            labels[person] = "; ".join(("", *words)) if words in written else None
            continue
        fitting = [
            words for words in written if all(map(covers, words, (house.known[person][n] for n in looks)))
        ]
        assert len(fitting) <= 1, "labels that overlap are not what this reader understands"
        labels[person] = "; ".join(("", *fitting[0])) if fitting else None
    return Package(
        (left.attribute, frozenset(left.values)),
        labels,
        shown,
        [
            ("; ".join(("", *(row[name] for name in looks))), tuple(row[name] for name in shown))
            for row in rows
        ],
    )


def covers(word: str, value: str) -> bool:
    """Whether a label stands for a value: itself, a range of numbers, or anything."""
    if word in (value, HIDDEN):
        return True
    low, dash, high = word.partition("-")
    return bool(dash) and value.isdigit() and int(low) <= int(value) <= int(high)
