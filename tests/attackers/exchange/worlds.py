"""All worlds in which the packages that left could have been made: what is possible in none of them is known.

A world gives everybody a value of each sensitive attribute. A package fits a world if it is what that world's
people with the selected values would have given: under each label the same rows, no more and no fewer. Worlds
are tried one by one, all of them, so this is for small houses.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

HIDDEN = "*"
MOST_WORLDS = 2_000_000

Record = tuple[str, ...]
"""The values of one person, in the order of the attributes."""


@dataclasses.dataclass(frozen=True)
class Package:
    """A package as somebody outside reads it.

    Attributes:
        selected: the sensitive attribute and the values that it was selected by; None if by nothing sensitive.
        labels: by person who could have been in it, what she looks like in it; None if no row looks so.
        shown: the sensitive attributes in it.
        rows: the label and the sensitive cells of each row.
    """

    selected: tuple[str, frozenset[str]] | None
    labels: Mapping[str, str | None]
    shown: tuple[str, ...]
    rows: Sequence[tuple[str, tuple[str, ...]]]


@dataclasses.dataclass(frozen=True)
class Possible:
    """What is possible: how many worlds there are, and in how many of them somebody has a record."""

    worlds: int
    records: Mapping[str, Counter[Record]]

    def values(self, person: str, place: int) -> set[str]:
        """The values that somebody may have of the attribute at a place."""
        return {record[place] for record in self.records[person]}


def possible(
    people: Sequence[str],
    domain: Mapping[str, Sequence[str]],
    packages: Sequence[Package],
    known: Mapping[str, Mapping[str, str]] | None = None,
) -> Possible:
    """Try all worlds.

    Args:
        people: everybody who was ever a patient.
        domain: the values of each sensitive attribute.
        packages: what left.
        known: by person and attribute, values that are known anyway.
    """
    records = list(itertools.product(*domain.values()))
    names = list(domain)
    allowed = [
        [
            number
            for number, record in enumerate(records)
            if all(record[names.index(a)] == v for a, v in (known or {}).get(person, {}).items())
        ]
        for person in people
    ]
    worlds = every_combination(allowed)
    for package in packages:
        worlds = worlds[fits(worlds, people, names, records, domain, package)]
    found = {}
    for place, person in enumerate(people):
        counts = np.bincount(worlds[:, place], minlength=len(records))
        found[person] = Counter({records[number]: int(n) for number, n in enumerate(counts) if n})
    return Possible(len(worlds), found)


def every_combination(allowed: Sequence[Sequence[int]]) -> np.ndarray:
    """One line a world: the number of everybody's record."""
    number = int(np.prod([len(each) for each in allowed], dtype=np.int64))
    assert number <= MOST_WORLDS, f"{number} worlds are too many to try them all"
    grids = np.meshgrid(*(np.array(each, dtype=np.int16) for each in allowed), indexing="ij")
    return np.stack([grid.reshape(-1) for grid in grids], axis=1)


def fits(
    worlds: np.ndarray,
    people: Sequence[str],
    names: Sequence[str],
    records: Sequence[Record],
    domain: Mapping[str, Sequence[str]],
    package: Package,
) -> np.ndarray:
    """In which worlds a package would have been what it is."""
    cells = list(itertools.product(*(domain[name] for name in package.shown)))
    row_of = np.full(len(records), -1)
    for number, record in enumerate(records):
        values = dict(zip(names, record, strict=True))
        if package.selected is None or values[package.selected[0]] in package.selected[1]:
            row_of[number] = cells.index(tuple(values[name] for name in package.shown))
    good = np.ones(len(worlds), dtype=bool)
    labels = {label for label in package.labels.values() if label is not None}
    assert {label for label, _ in package.rows} <= labels, "a row that looks like nobody"
    for label in [*sorted(labels), None]:
        places = [
            at for at, who in enumerate(people) if who in package.labels and package.labels[who] == label
        ]
        written = Counter(row for name, row in package.rows if name == label)
        rows = row_of[worlds[:, places]]
        counted = np.zeros(len(worlds), dtype=np.int64)
        for cell in range(len(cells)):
            counted = counted * (len(people) + 1) + (rows == cell).sum(axis=1)
        good &= np.isin(counted, [as_number(each, len(people)) for each in read(written, cells)])
    return good


def read(written: Counter[tuple[str, ...]], cells: Sequence[tuple[str, ...]]) -> set[tuple[int, ...]]:
    """How often each combination of values may occur under a label: a hidden cell may be any value."""
    found = {(0,) * len(cells)}
    for row, number in written.items():
        fitting = [
            place
            for place, cell in enumerate(cells)
            if all(a in (b, HIDDEN) for a, b in zip(row, cell, strict=True))
        ]
        for _ in range(number):
            found = {
                (*counts[:place], counts[place] + 1, *counts[place + 1 :])
                for counts in found
                for place in fitting
            }
    return found


def as_number(counts: Sequence[int], people: int) -> int:
    total = 0
    for count in counts:
        total = total * (people + 1) + count
    return total
