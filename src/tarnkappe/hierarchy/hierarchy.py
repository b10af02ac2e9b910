"""Generalization hierarchies: for every value its label on each level."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.drawing import html_table
from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy.checks import (
    Value,
    check_hierarchy,
    check_repeated,
    check_rows,
    not_total,
    shown,
)
from tarnkappe.hierarchy.numbers import parse_numbers
from tarnkappe.table import MISSING, Column, Levels
from tarnkappe.table.encoding import Codes, Counts, as_text, spelled_numbers


@dataclasses.dataclass(frozen=True, eq=False)
class Hierarchy:
    """How a set of values generalizes: level 0 are the values, the highest level is one label for all.

    Every hierarchy is monotone (values that share a label share all labels above) and has one root;
    anything else is refused when it is made. The order of the lines it was made from does not matter.

    >>> ages = Hierarchy.from_rows([["18", "<20", "*"], ["34", "20-60", "*"], ["21", "20-60", "*"]])
    >>> ages.height, ages.label("34", 1), ages.labels(1), ages.values
    (2, '20-60', ('<20', '20-60'), ('18', '21', '34'))

    Attributes:
        values: the values as text in ascending order (numbers by size), the missing one (None) last.
        maps: for each level from 1, the label code of every value.
        names: for each level from 1, the labels by label code, in the order of their first value.
    """

    values: tuple[Value, ...]
    maps: tuple[Codes, ...]
    names: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        check_hierarchy(self.values, self.maps, self.names)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Value]], lines: Sequence[int] | None = None) -> Hierarchy:
        """A hierarchy from rows of value, label on level 1, ..., root.

        The first cell is None or empty for the missing value. A row may occur again if it says the same.

        Args:
            rows: one row a value.
            lines: the number of each row, for errors; without it they are counted from 1.
        """
        check_rows(rows, range(1, len(rows) + 1) if lines is None else lines)
        by_value: dict[Value, Sequence[Value]] = {}
        for row in rows:
            earlier = by_value.setdefault(row[0] or None, row)
            if earlier is not row:
                check_repeated(row, earlier)
        labels = zip(*(row[1:] for row in by_value.values()), strict=True)
        return cls.from_levels(list(by_value), [[label or "" for label in level] for level in labels])

    @classmethod
    def from_levels(cls, values: Sequence[Value], levels: Sequence[Sequence[str]]) -> Hierarchy:
        """A hierarchy from distinct values and the label of each on every level from 1 to the root."""
        order = pa.array(_ascending(values), pa.int64())
        encoded = [pa.array(level, pa.string()).take(order).dictionary_encode() for level in levels]
        return cls(
            tuple(values[i] for i in order.to_pylist()),
            tuple(np.asarray(level.indices, dtype=np.int32) for level in encoded),
            tuple(tuple(level.dictionary.to_pylist()) for level in encoded),
        )

    @property
    def height(self) -> int:
        """The highest level, which is the root."""
        return len(self.maps)

    @property
    def root(self) -> str:
        """The label that all values share on the highest level."""
        return self.names[-1][0]

    @property
    def has_missing(self) -> bool:
        """Whether the hierarchy has a line for missing values."""
        return self.values[-1] is None

    def label(self, value: Value, level: int) -> str:
        """What a value is shown as on a level; on level 0 it is shown as itself."""
        self._require_level(level)
        position = self._positions.get(value or None)
        if position is None:
            raise HierarchyError(
                "hierarchy.hierarchy-no-line", "the hierarchy has no line {value}", value=shown(value)
            )
        if level == 0:
            return value or MISSING
        return self.names[level - 1][int(self.maps[level - 1][position])]

    def labels(self, level: int) -> tuple[str, ...]:
        """All labels of a level, in the order of their first value."""
        self._require_level(level)
        if level == 0:
            return tuple(MISSING if value is None else value for value in self.values)
        return self.names[level - 1]

    def rows(self) -> Iterator[tuple[Value, ...]]:
        """The lines of the hierarchy in ascending order of values: value, label on level 1, ..., root."""
        columns = [
            [names[code] for code in codes.tolist()]
            for codes, names in zip(self.maps, self.names, strict=True)
        ]
        return zip(self.values, *columns, strict=True)

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64] | None:
        """The values as numbers (the missing one as NaN), or None if some value is no number."""
        numbers = parse_numbers(value for value in self.values if value is not None)
        if numbers is None:
            return None
        return np.array([*map(float, numbers), *[np.nan] * self.has_missing])

    def encode(self, column: Column) -> Levels:
        """The generalization of an encoded column.

        Refuses a column with values that the hierarchy lacks. The label codes of each level follow the
        first value of each label in the column's ascending order, whatever the order of its rows and of
        the hierarchy's lines. A column of numbers gets bounds if the hierarchy has only numbers.
        """
        position = self._find(column)
        ones = np.ones(column.cardinality, dtype=np.int64)
        maps: list[Codes] = [np.arange(column.cardinality, dtype=np.int32)]
        labels, leaves = [column.labels], [ones]
        used: list[Codes] = []
        for codes, names, leaves_there in zip(self.maps, self.names, self._leaves, strict=True):
            present, mapped = _renumber(codes[position])
            maps.append(mapped)
            labels.append(tuple(names[code] for code in present.tolist()))
            leaves.append(leaves_there[present])
            used.append(present)
        numbers = self._numbers_for(column)
        bounds = None if numbers is None else self._bounds(position, used, numbers)
        numbers = None if numbers is None else np.sort(numbers[~np.isnan(numbers)])
        return Levels(tuple(maps), tuple(labels), tuple(leaves), bounds, numbers)

    def attach(self, column: Column) -> Column:
        """The same column with this generalization."""
        return column.with_levels(self.encode(column))

    def _find(self, column: Column) -> Counts:
        """The position of each value of a column in the hierarchy."""
        texts = as_text(column.values)
        texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
        found = pc.index_in(texts, value_set=self._texts)
        if found.null_count:
            values = texts.to_pylist()
            absent = list(dict.fromkeys(texts.filter(found.is_null()).to_pylist()))
            raise not_total(column.name, values, absent, self.root, self.height)
        return np.asarray(found, dtype=np.int64)

    def _numbers_for(self, column: Column) -> npt.NDArray[np.float64] | None:
        """The values as numbers, if the column holds numbers, plainly or in its own spelling."""
        if column.spelling is not None and column.spelling.number is not None:
            return spelled_numbers(column.spelling, self.values)
        return self.numbers if _holds_numbers(column.values.type) else None

    def _bounds(
        self, position: Counts, used: Sequence[Codes], numbers: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], ...]:
        bounds = [np.column_stack([numbers[position], numbers[position]])]
        for codes, names, present in zip(self.maps, self.names, used, strict=True):
            least, greatest = np.full(len(names), np.nan), np.full(len(names), np.nan)
            np.fmin.at(least, codes, numbers)  # unlike minimum, fmin passes over the NaN of the missing value
            np.fmax.at(greatest, codes, numbers)
            bounds.append(np.column_stack([least, greatest])[present])
        return tuple(bounds)

    @cached_property
    def _texts(self) -> pa.Array:
        return pa.array(self.values, pa.string())

    @cached_property
    def _leaves(self) -> tuple[Counts, ...]:
        """For each level above the values how many of them lie under each label."""
        return tuple(
            np.bincount(codes, minlength=len(names)).astype(np.int64)
            for codes, names in zip(self.maps, self.names, strict=True)
        )

    @cached_property
    def _positions(self) -> dict[Value, int]:
        return {value: position for position, value in enumerate(self.values)}

    def _require_level(self, level: int) -> None:
        if not 0 <= level <= self.height:
            raise ParameterError(
                "hierarchy.hierarchy-levels-0",
                "the hierarchy has the levels 0 to {height}, not {level}",
                height=self.height,
                level=level,
            )

    def _repr_html_(self) -> str:
        rows = [(str(level), f"{len(names):,}") for level, names in enumerate(self.names, 1)]
        return html_table(("level", "labels"), [("0", f"{len(self.values):,}"), *rows])

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.values)} values, height {self.height})"


def _ascending(values: Sequence[Value]) -> list[int]:
    """The order of values: numbers by size if all are numbers, else by text; the missing one last."""
    missing = [index for index, value in enumerate(values) if value is None]
    present = [(value, index) for index, value in enumerate(values) if value is not None]
    numbers = parse_numbers(value for value, _ in present)
    if numbers is None:
        return [index for _, index in sorted(present)] + missing
    by_size = sorted(zip(numbers, present, strict=True))
    return [index for _, (_, index) in by_size] + missing


def _holds_numbers(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _renumber(codes: Codes) -> tuple[Codes, Codes]:
    """The codes that occur, in the order of their first occurrence, and the codes renumbered by it."""
    occurring, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return occurring[order], rank[inverse]
