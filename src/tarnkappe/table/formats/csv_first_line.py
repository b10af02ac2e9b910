"""Whether the first line of a file is a row like the others: its cells are then data, and never names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from tarnkappe.table.spelling.contacts import is_web_address, reaches_somebody
from tarnkappe.table.spelling.marks import MARKS
from tarnkappe.table.spelling.quantities import MOSTLY_NUMBERS, is_date, is_quantity

Row = Sequence[str | None]


def is_row(first: Row, quoted: Sequence[bool], others: Sequence[Row]) -> bool:
    """Whether the first line is a row: the names of columns are published, so a row among them is a leak.

    What reaches a person is no name. Then columns of numbers and dates decide. What is left is told by cells
    that come again below, which names do not: more of them than columns of numbers or addresses with a name.
    """
    if any(reaches_somebody(cell or "") for cell in first):
        return True
    below = [_filled(row[place] for row in others) for place in range(len(first))]
    if any(_is_one_of(cell, cells) for cell, cells in zip(first, below, strict=True)):
        return True
    numbers = alike = named = 0
    for cell, cells, mark in zip(first, below, quoted, strict=True):
        if _mostly(is_quantity, cells):
            numbers += 1
            alike += cell is not None and not mark and is_quantity(cell)
            named += _is_word(cell) and not is_quantity(cell or "")
        elif _mostly(reaches_somebody, cells) or _mostly(is_web_address, cells):
            named += _is_word(cell)
    if numbers and 2 * alike >= numbers:
        return True
    return _come_again(first, others) > named


def _filled(cells: Iterable[str | None]) -> list[str]:
    return [cell for cell in cells if cell is not None]


def _is_one_of(cell: str | None, below: Sequence[str]) -> bool:
    """Whether a cell is a date or a web address as some below it are: days and addresses also are names."""
    return any(shape(cell or "") and any(map(shape, below)) for shape in (is_date, is_web_address))


def _mostly(shape: Callable[[str], bool], cells: Sequence[str]) -> bool:
    return bool(cells) and sum(map(shape, cells)) >= MOSTLY_NUMBERS * len(cells)


def _is_word(cell: str | None) -> bool:
    """Whether a cell says something; a word for a missing value stands in rows."""
    return bool((cell or "").strip()) and cell not in MARKS


def _come_again(first: Row, others: Sequence[Row]) -> int:
    """How many cells of the first line stand below in their own column; none if a row had twice as many.

    A header that stands in the file again, as in pieces that were put together, is a whole line like the
    first; a name that is the only answer of those who gave one, as in surveys, says nothing.
    """
    if len(first) > 1:
        again = [row for row in others if list(row) != list(first)]
        if not again and len(others) > 1:
            return sum(map(_is_word, first))
        others = again
    expected = found = 0
    for place, cell in enumerate(first):
        times = Counter(_filled(row[place] for row in others))
        only = len(times) == 1 and times.total() < len(others)
        if _is_word(cell) and not only:
            expected += sum(count for count in times.values() if count > 1)
            found += times[cell or ""] > 0
    return found if 2 * found * len(others) >= expected else 0
