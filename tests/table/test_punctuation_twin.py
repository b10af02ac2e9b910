"""The delimiter and the header against a slow twin: rules written down once more, on small files, by splitting text.

The twin knows no quotes and no streams: its files have neither quotes nor line breaks in cells, so that splitting at
the delimiter is all there is to reading them. Numbers are what `float` takes after a comma became a point.
"""

from __future__ import annotations

import string
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import InputError
from tarnkappe.table.formats.csv_dialect import DELIMITERS, NO_DELIMITER, find_dialect
from tarnkappe.table.formats.csv_header import find_header

WORDS = st.text(string.ascii_lowercase, min_size=1, max_size=4)
NUMBERS = st.integers(0, 9999).map(str)
CELLS = st.one_of(WORDS, NUMBERS, st.tuples(NUMBERS, st.sampled_from(",;| \t"), WORDS).map("".join))


def is_number(text: str) -> bool:
    return text.isdigit()


def twin_delimiter(lines: list[str]) -> str | None:
    """The delimiter of a file without quotes; None if it cannot be told."""
    counts = {mark: [line.count(mark) + 1 for line in lines] for mark in DELIMITERS}
    dividing = {mark: found for mark, found in counts.items() if found[0] > 1}
    explaining = [mark for mark, found in dividing.items() if len(set(found)) == 1]
    if not explaining:
        if not dividing:
            return NO_DELIMITER
        share = {mark: sum(n == found[0] for n in found) / len(found) for mark, found in dividing.items()}
        explaining = [mark for mark in dividing if share[mark] == max(share.values())]
    if len(explaining) == 1:
        return explaining[0]
    typed = {}
    for mark in explaining:
        wide = counts[mark][0]
        rows = [line.split(mark) for line in lines[1:] if line.count(mark) + 1 == wide]
        columns = [[cell for cell in column if cell] for column in zip(*rows, strict=True)]
        typed[mark] = sum(bool(c) and sum(map(is_number, c)) >= 0.9 * len(c) for c in columns)
    best = [mark for mark in explaining if typed[mark] == max(typed.values())]
    return best[0] if len(best) == 1 else None


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=1, max_size=3), min_size=2, max_size=5), st.sampled_from(",;|\t"))
def test_the_delimiter_is_that_of_the_twin(rows: list[list[str]], mark: str) -> None:
    lines = [mark.join(row) for row in rows]
    sample = ("\n".join(lines) + "\n").encode()
    expected = twin_delimiter(lines)
    if expected is None:
        with pytest.raises(InputError, match="cannot be told"):
            find_dialect(Path("f.csv"), sample, True)
    else:
        assert find_dialect(Path("f.csv"), sample, True).delimiter == expected


def twin_names(rows: list[list[str | None]]) -> tuple[list[str], int]:
    """The names of the columns, and how many lines they take."""
    first, others = rows[0], rows[1:]
    numeric = alike = 0
    for place in range(len(first)):
        filled = [row[place] for row in others if row[place] is not None]
        if filled and sum(is_number(cell) for cell in filled if cell is not None) >= 0.9 * len(filled):
            numeric += 1
            alike += first[place] is not None and is_number(str(first[place]))
    named = sum(
        bool(first[place]) and not is_number(str(first[place]))
        for place in range(len(first))
        if (filled := [str(row[place]) for row in others if row[place] is not None])
        and sum(map(is_number, filled)) >= 0.9 * len(filled)
    )
    if (numeric and alike >= numeric / 2) or coming_again(rows) > named:
        return [f"column {place + 1}" for place in range(len(first))], 0
    lines, names = 1, [name or "" for name in first]
    unnamed = sum(not name for name in names)
    if unnamed >= 3 and len(others) >= 2:
        texts = [p for p, cell in enumerate(others[0]) if cell is not None and not is_number(cell)]
        new = [p for p in texts if all(row[p] != others[0][p] for row in others[1:])]
        if texts and len(new) >= 0.8 * len(texts):
            lines, group = 2, ""
            for place, name in enumerate(names):
                group = name or group
                second = others[0][place] or ""
                names[place] = f"{group}: {second}" if group and second else group or second
    body = rows[lines:]
    chosen: list[str] = []
    for place, name in enumerate(names):
        start = body[0][0] if body else None
        counts = len(body) > 1 and start in ("0", "1")
        counts = counts and all(row[0] == str(int(start or 0) + n) for n, row in enumerate(body))
        wish = name or f"column {place + 1}"
        if place == 0 and len(names) > 1 and name in ("", "rownames", "index") and counts:
            wish = "row number"
        free, number = wish, 1
        while free in chosen or (free != name and free in names):
            number += 1
            free = f"{wish} {number}"
        chosen.append(free)
    return chosen, lines


def coming_again(rows: list[list[str | None]]) -> int:
    """How many cells of the first line come again in other lines, if at least half as many as those of rows do."""
    first = rows[0]
    if len(first) == 1:
        others = rows[1:]
    else:
        others = [row for row in rows[1:] if row != first]
        if not others and len(rows) > 2:
            return sum(1 for cell in first if cell)
    found, expected = 0, Fraction(0)
    for place, cell in enumerate(first):
        cells = [row[place] for row in others]
        if not cell or (len(set(cells) - {None}) == 1 and None in cells):
            continue
        found += cell in cells
        for one in cells:
            expected += Fraction(one is not None and cells.count(one) > 1, len(cells))
    return found if found >= expected / 2 else 0


CELL = st.one_of(st.none(), st.sampled_from(["a", "b", "index", "column 1", "1", "2", "3", "17"]))


@st.composite
def tables(draw: st.DrawFn) -> list[list[str | None]]:
    wide = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(CELL, min_size=wide, max_size=wide), min_size=2, max_size=5))
    if draw(st.booleans()):  # rows that are numbered
        for number, row in enumerate(rows[1:], 1):
            row[0] = str(number)
    return rows


@settings(max_examples=500, deadline=None)
@given(tables())
def test_the_header_is_that_of_the_twin(rows: list[list[str | None]]) -> None:
    found = find_header(rows, [False] * len(rows[0]))
    names, lines = twin_names(rows)
    assert (list(found.names), found.lines) == (names, lines)
    assert len(set(found.names)) == len(found.names)
