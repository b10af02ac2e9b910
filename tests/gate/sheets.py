"""Matching tables as texts: `{"1": "B(3,5) C(x1.1)"}`, with names instead of numbers, for the worked examples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from tarnkappe.gate.delta_top.artificial import enter_with_artificial
from tarnkappe.gate.delta_top.table import FULL, MatchingTable
from tarnkappe.gate.delta_top.update import enter
from tarnkappe.gate.sa_unique.update import enter_parts

LETTERS = "ABCDEFGHIJ"
Texts = dict[str, set[str]]


class Sheet:
    """A table whose tuples have names. Names that begin with x are outsiders, of which nothing is known."""

    def __init__(self, truth: Mapping[str, str] | None = None, rows: Mapping[str, str] | None = None) -> None:
        truth, rows = dict(truth or {}), dict(rows or {})
        for text in rows.values():
            for letter, partners in edges(text):
                truth.update({name: letter for name in partners if name.startswith("x")})
        self.names = list(truth)
        self.table = MatchingTable(len(LETTERS))
        codes = np.array([LETTERS.index(letter) for letter in truth.values()], dtype=np.int32)
        found = [(name, *edge) for name, text in rows.items() for edge in edges(text)][::-1]
        named = [[self.names.index(partner) for partner in partners] for _, _, partners in found]
        state = {
            "owner": np.array([self.names.index(name) for name, _, _ in found], dtype=np.int32),
            "value": np.array([LETTERS.index(letter) for _, letter, _ in found], dtype=np.int32),
            "length": np.array([len(partners) for partners in named], dtype=np.int32),
            "partner": np.array([u for partners in named for u in partners], dtype=np.int32),
            "unique": np.array([True]),
        }
        self.table.load(codes, state)
        for _ in range(3):
            self.table.grow()

    def enter(
        self,
        query: Sequence[str],
        new: Mapping[str, str],
        algorithm: int,
        k: int | None = None,
        most: int = 8,
    ) -> str:
        """Process an answer; with k, artificial values are added, and returned as letters."""
        members, known = self._open(query, new)
        inside = np.zeros(self.table.tuples, dtype=np.bool_)
        if k is None:
            enter(self.table.arrays, members, known, algorithm, most, inside)
            added = np.zeros(len(LETTERS), dtype=np.int32)
        else:
            given = np.zeros(len(LETTERS), dtype=np.int32)
            added = enter_with_artificial(
                self.table.arrays, members, known, k, algorithm, most, given, True, inside
            )
        assert not self.table.arrays.size[FULL]
        self.table.keep()
        return "".join(letter * count for letter, count in zip(LETTERS, added, strict=True))

    def enter_parts(
        self, parts: Sequence[Sequence[str]], new: Mapping[str, str], k: int, may_add: bool
    ) -> list[str]:
        """Process parts without equal values; returns the artificial ones of each."""
        members, known = self._open([name for part in parts for name in part], new)
        number = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        added = enter_parts(self.table.arrays, members, number, known, k, may_add)
        assert not self.table.arrays.size[FULL]
        self.table.keep()
        return ["".join(letter for letter, on in zip(LETTERS, row, strict=True) if on) for row in added]

    def _open(self, query: Sequence[str], new: Mapping[str, str]) -> tuple[np.ndarray, int]:
        known = len(self.names)
        self.names += list(new)
        codes = np.array([LETTERS.index(letter) for letter in new.values()], dtype=np.int32)
        self.table.add_tuples(codes)
        return np.array([self.names.index(name) for name in query], dtype=np.int32), known

    def texts(self) -> Texts:
        """For each tuple that is no outsider its edges."""
        found: Texts = {}
        for t, row in self.table.rows().items():
            if not self.names[t].startswith("x"):
                found[self.names[t]] = {
                    f"{LETTERS[value]}({','.join(sorted((self.names[u] for u in partners), key=natural))})"
                    for value, listed in row.items()
                    for partners in listed
                }
        return found

    def degrees(self) -> dict[str, int]:
        degree = self.table.arrays.degree
        return {name: int(degree[t]) for t, name in enumerate(self.names) if not name.startswith("x")}


def edges(text: str) -> list[tuple[str, list[str]]]:
    return [
        (letter, names.split(",") if names else []) for letter, names in re.findall(r"(\w)\(([^)]*)\)", text)
    ]


def natural(name: str) -> tuple[bool, list[int]]:
    return not name.startswith("x"), [int(digits) for digits in re.findall(r"\d+", name)]


def texts(rows: Mapping[str, str]) -> Texts:
    """Rows of a fixture as `Sheet.texts` gives them."""
    return {name: set(text.split()) for name, text in rows.items()}


def played(example: Mapping[str, object], algorithm: int, queries: int | None = None) -> list[Sheet]:
    """The sheets after each query of an example, without artificial values."""
    truth: dict[str, str] = example["truth"]  # type: ignore[assignment]
    asked: list[list[int]] = example["queries"]  # type: ignore[assignment]
    sheets = []
    for count in range(1, 1 + (len(asked) if queries is None else queries)):
        sheet, seen = Sheet(), set[str]()
        for query in asked[:count]:
            named = [str(name) for name in query]
            sheet.enter(named, {name: truth[name] for name in named if name not in seen}, algorithm)
            seen |= set(named)
        sheets.append(sheet)
    return sheets
