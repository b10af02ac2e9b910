"""Domains of example columns: the values, and the rows of a hierarchy over them.

Rows are plain text in the usual form (value, label at level 1, ..., "*"), sorted as the values are
listed. Equal labels always have equal labels above them, and "*" is the only root.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from tarnkappe.table.examples.draw import Codes
from tarnkappe.table.table import SUPPRESSED

Tree = Mapping[str, "Tree"] | Sequence[str]
UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True, eq=False)
class ExampleDomain:
    """The values a column can have and the labels of each of them.

    A missing value is a null among the values and the empty text in the rows.
    """

    values: pa.Array
    rows: list[list[str]]

    @property
    def distinct(self) -> int:
        """How many values there are."""
        return len(self.rows)

    @property
    def levels(self) -> int:
        """How many levels the hierarchy has, the values themselves included."""
        return len(self.rows[0])

    @cached_property
    def label_codes(self) -> list[Codes]:
        """For each level, the number of each value's label; labels are numbered as they first occur."""
        codes = []
        for labels in zip(*self.rows, strict=True):
            number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
            codes.append(np.array([number[label] for label in labels], dtype=np.int32))
        return codes

    def hierarchy(self) -> list[list[str]]:
        """The rows as a copy of one's own."""
        return [list(row) for row in self.rows]


def _text_domain(rows: list[list[str]]) -> ExampleDomain:
    return ExampleDomain(pa.array([row[0] or None for row in rows], pa.string()), rows)


def numbers(name: str, start: int, count: int, widths: Sequence[int]) -> ExampleDomain:
    """Whole numbers in intervals whose widths divide one another.

    >>> numbers("age", 17, 20, (5, 10)).rows[5]
    ['22', 'age 20-24', 'age 20-29', '*']
    """

    def interval(value: int, width: int) -> str:
        low = value // width * width
        first, last = max(low, start), min(low + width, start + count) - 1
        return f"{name} {first}" if first == last else f"{name} {first}-{last}"

    values = range(start, start + count)
    rows = [[str(v), *(interval(v, width) for width in widths), SUPPRESSED] for v in values]
    return ExampleDomain(pa.array(values, pa.int64()), rows)


def numbered(name: str, count: int, *groups: int) -> ExampleDomain:
    """Values without names of their own, in balanced groups; `groups` tells how many on each level.

    >>> numbered("race", 20, 5).rows[6]
    ['race 07', 'race 05-08', '*']
    """
    digits = len(str(count))
    members = [range(i, i + 1) for i in range(count)]
    rows: list[list[str]] = [[] for _ in range(count)]
    for number in (count, *groups):
        merged: list[list[range]] = [[] for _ in range(number)]
        for index, member in enumerate(members):
            merged[index * number // len(members)].append(member)
        members = [range(parts[0].start, parts[-1].stop) for parts in merged]
        for member in members:
            first, last = f"{member.start + 1:0{digits}}", f"{member.stop:0{digits}}"
            for value in member:
                rows[value].append(f"{name} {first}" if first == last else f"{name} {first}-{last}")
    return _text_domain([[*row, SUPPRESSED] for row in rows])


def named(tree: Tree, *, missing: bool = False) -> ExampleDomain:
    """Values with names, in groups with names.

    >>> named({"in work": ["miller", "smith"], "not in work": ["pupil"]}).rows[1]
    ['smith', 'in work', '*']
    """
    rows = [[*reversed(path), SUPPRESSED] for path in _paths(tree)]
    return _text_domain(_with_missing(rows) if missing else rows)


def _paths(tree: Tree) -> Iterable[tuple[str, ...]]:
    if isinstance(tree, Mapping):
        for label, below in tree.items():
            yield from ((label, *path) for path in _paths(below))
    else:
        yield from ((value,) for value in tree)


def masked(codes: Iterable[str], *, missing: bool = False) -> ExampleDomain:
    """Codes of equal length, masked digit by digit from the right.

    >>> masked(["79100"]).rows
    [['79100', '7910*', '791**', '79***', '7****', '*']]
    """
    rows = []
    for code in codes:
        masks = (code[: len(code) - hidden] + "*" * hidden for hidden in range(len(code)))
        rows.append([*masks, SUPPRESSED])
    return _text_domain(_with_missing(rows) if missing else rows)


def _with_missing(rows: list[list[str]]) -> list[list[str]]:
    return [*rows, ["", *[UNKNOWN] * (len(rows[0]) - 2), SUPPRESSED]]


def dates(first: datetime.date, last: datetime.date, *levels: str) -> ExampleDomain:
    """All days from the first to the last; levels are month, quarter, year or decade.

    >>> day = datetime.date(1984, 5, 9)
    >>> dates(day, day, "month", "quarter", "year", "decade").rows
    [['1984-05-09', '1984-05', '1984 Q2', '1984', '1980-1989', '*']]
    """
    label: dict[str, Callable[[datetime.date], str]] = {
        "month": lambda day: f"{day.year}-{day.month:02}",
        "quarter": lambda day: f"{day.year} Q{(day.month + 2) // 3}",
        "year": lambda day: f"{day.year}",
        "decade": lambda day: f"{day.year // 10 * 10}-{day.year // 10 * 10 + 9}",
    }
    chosen = [label[level] for level in levels]
    days = [first + datetime.timedelta(days=i) for i in range((last - first).days + 1)]
    rows = [[day.isoformat(), *(of(day) for of in chosen), SUPPRESSED] for day in days]
    return ExampleDomain(pa.array(days, pa.date32()), rows)
