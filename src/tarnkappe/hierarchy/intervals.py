"""Intervals of numbers: of fixed widths, with equally many rows, or cut by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Annotated

import numpy as np
from msgspec import Meta

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy.builder import (
    MOST_LABELS,
    MOST_LEVELS,
    Builder,
    Domain,
    Labels,
    ValueKind,
    per_level,
)
from tarnkappe.hierarchy.numbers import (
    EXACT,
    exact_parameter,
    floor_quotient,
    is_whole,
    number_text,
)
from tarnkappe.hierarchy.partition import (
    Cuts,
    FixedWidthPartition,
    NumberPartition,
    finite_numbers,
    interval_label,
    label_ascending,
    quantile_cuts,
)
from tarnkappe.schema import Listed, Number, Positive, Problem, fields_of, listed, param, rule, shown
from tarnkappe.table.encoding import Counts

Parts = Annotated[int, Meta(ge=2, le=MOST_LABELS)]
Cut = Annotated[Listed[Number], Meta(min_length=1, max_length=MOST_LABELS)]
LARGEST_EXPONENT = 300
"""Of a width, as a power of ten."""
Sample = tuple[list[Decimal], Counts]
"""Distinct numbers in ascending order and in how many rows each occurs."""


class Intervals(Builder):
    """Numbers become intervals that contain their lower and not their upper end.

    Whole numbers read `20-29`, others `[20, 30)`, open ends `<20` and `>=90`. One of `width`,
    `quantiles` and `cuts` says where intervals end. What is no finite number (`nan`, `inf`) keeps its own
    label below the root.

    >>> import pyarrow as pa
    >>> ages = Intervals(width=[5, 10], bottom=20, top=90).build(pa.array([17, 34, 38, 93]))
    >>> for row in ages.rows(): print(*row, sep=";")
    17;<20;<20;*
    34;30-34;30-39;*
    38;35-39;30-39;*
    93;>=90;>=90;*
    """

    name = "intervals"
    kinds = frozenset({ValueKind.NUMBERS})

    width: Annotated[
        Positive | Annotated[Listed[Positive], Meta(min_length=1, max_length=MOST_LEVELS)] | None,
        param(
            "the width on each level, each a multiple of the one before; or the width on level 1",
            start=(5, 10, 20),
        ),
    ] = None
    factor: Annotated[
        int,
        param("with a single width, how many intervals of a level make one of the next", ge=2, le=1_000_000),
    ] = 2
    levels: Annotated[
        int,
        param(
            "with a single width, how many levels of intervals there are below the root",
            ge=1,
            le=MOST_LEVELS,
            unit="levels",
        ),
    ] = 1
    origin: Annotated[Number, param("a number at which intervals of fixed width begin")] = 0
    bottom: Annotated[Number | None, param("with widths, smaller values get one label (bottom coding)")] = (
        None
    )
    top: Annotated[
        Number | None, param("with widths, this and greater values get one label (top coding)")
    ] = None
    quantiles: Annotated[
        Parts | Annotated[Listed[Parts], Meta(min_length=1, max_length=MOST_LEVELS)] | None,
        param(
            "on each level, how many intervals with about equally many rows, each a divisor of the one before"
        ),
    ] = None
    cuts: Annotated[
        Annotated[Listed[Number | Cut], Meta(min_length=1, max_length=MOST_LABELS)] | None,
        param("the lower ends of the intervals, or a list of them for each level, which may only drop cuts"),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """There is one way to make intervals, nothing that does not go with it, and levels nest."""
        ways = ("width", "quantiles", "cuts")
        if sum(getattr(self, way) is not None for way in ways) != 1:
            yield rule("intervals.one-way", "intervals needs exactly one of width, quantiles and cuts")
            return
        problems: list[Problem] = []
        if self.width is None:
            problems += self._without("together with width", "factor", "levels", "origin", "bottom", "top")
        elif not isinstance(self.width, int | float):
            problems += self._without("with a single width", "factor", "levels")
        elif math.log10(self.width) + (self.levels - 1) * math.log10(self.factor) > LARGEST_EXPONENT:
            problems.append(
                rule("intervals.too-wide", "the width of the last level would be too large", "levels")
            )
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            problems.append(
                rule(
                    "intervals.bottom-above-top",
                    "intervals needs a bottom below the top, not {bottom} and {top}",
                    "bottom",
                    bottom=shown(self.bottom),
                    top=shown(self.top),
                )
            )
        yield from problems
        if not problems:
            self._partitions(None)

    @classmethod
    def examples(cls) -> tuple[Intervals, ...]:
        """Instances for the common tests."""
        return (
            cls(width=5),
            cls(width=0.1, factor=10, levels=3, origin=-0.05),
            cls(width=(5, 10, 20), bottom=-7, top=92),
            cls(quantiles=(8, 4, 2)),
            cls(quantiles=3),
            cls(cuts=((-10, 0, 1, 18, 65), (0, 18), (0,))),
            cls(cuts=(0.5, 20)),
        )

    @property
    def height(self) -> int:
        """One level for each width, number of quantiles or list of cuts, and the root."""
        return len(self._partitions(None)) + 1

    @property
    def looks_at_data(self) -> bool:
        """Quantiles do; widths and cuts are as they are written."""
        return self.quantiles is not None

    def generalize(self, domain: Domain) -> list[Labels]:
        """The interval of each value on each level."""
        numbers = finite_numbers(domain, self.name)
        rows = domain.rows_by_number
        ascending = list(rows)
        counts = np.array(list(rows.values()), dtype=np.int64)
        levels = []
        for partition in self._partitions((ascending, counts)):
            label = dict(zip(ascending, label_ascending(partition, ascending), strict=True))
            levels.append(
                [text if n is None else label[n] for text, n in zip(domain.texts, numbers, strict=True)]
            )
        return levels

    def _without(self, condition: str, *parameters: str) -> Iterator[Problem]:
        for field in fields_of(type(self)):
            if field.name in parameters and getattr(self, field.name) != field.default:
                yield rule(
                    "intervals.not-together",
                    "intervals takes it only {condition}",
                    field.name,
                    condition=condition,
                )

    def _partitions(self, sample: Sample | None) -> Sequence[NumberPartition]:
        """The intervals of each level; without a sample, quantiles have no cuts yet."""
        if self.width is not None:
            return self._grids(self.width)
        if self.cuts is not None:
            return _nested_cuts(self.cuts)
        parts = per_level(self.quantiles or ())
        _check_quantiles(parts)
        return [quantile_cuts(*sample, number) if sample else Cuts(()) for number in parts]

    def _grids(self, given: Number | Sequence[Number]) -> list[FixedWidthPartition]:
        if isinstance(given, tuple):
            widths = [exact_parameter("intervals", "width", width) for width in given]
        else:
            first = exact_parameter("intervals", "width", given)
            widths = [EXACT.multiply(first, Decimal(self.factor**level)) for level in range(self.levels)]
        origin = exact_parameter("intervals", "origin", self.origin)
        for level in range(2, len(widths) + 1):
            _check_widths(level, origin, widths[level - 2], widths[level - 1])
        bottom = None if self.bottom is None else exact_parameter("intervals", "bottom", self.bottom)
        top = None if self.top is None else exact_parameter("intervals", "top", self.top)
        return [FixedWidthPartition(origin, width, bottom, top) for width in widths]


def _nested_cuts(given: Sequence[Number | Sequence[Number]]) -> list[Cuts]:
    one_level = not any(isinstance(part, tuple) for part in given)
    if not one_level and len(given) > MOST_LEVELS:
        raise ParameterError(
            "hierarchy.intervals-takes-most-levels",
            "intervals takes at most {most_levels} levels of cuts, not {given:,}",
            most_levels=MOST_LEVELS,
            given=len(given),
        )
    partitions: list[Cuts] = []
    for level, cuts in enumerate([given] if one_level else given, start=1):
        if not isinstance(cuts, tuple):
            raise ParameterError(
                "hierarchy.intervals-needs-list-cuts",
                "intervals needs a list of cuts on level {level}, not {cuts!r}",
                level=level,
                cuts=cuts,
            )
        exact = tuple(exact_parameter("intervals", "cuts", cut) for cut in cuts)
        if list(exact) != sorted(set(exact)):
            raise ParameterError(
                "hierarchy.intervals-needs-cuts-ascending",
                "intervals needs cuts in ascending order, not {cuts} on level {level}",
                cuts=listed(cuts),
                level=level,
            )
        added = set(exact).difference(partitions[-1].cuts) if partitions else set()
        if added:
            cut = number_text(min(added))
            raise HierarchyError(
                "hierarchy.intervals-would-not-nest",
                "intervals would not nest: level {level} cuts at {cut}, which level {level_2} does not; add"
                " the cut {cut} to level {level_2} or drop it on level {level}",
                level=level,
                cut=cut,
                level_2=level - 1,
            )
        partitions.append(Cuts(exact))
    return partitions


def _check_quantiles(parts: Sequence[int]) -> None:
    for level, number in enumerate(parts, start=1):
        below = parts[level - 2] if level > 1 else 0
        if below % number or below == number:
            raise HierarchyError(
                "hierarchy.intervals-would-not-nest-quantiles",
                "intervals would not nest: {number} quantiles of level {level} do not divide the {below} of"
                " level {level_2}",
                number=number,
                level=level,
                below=below,
                level_2=level - 1,
            )


def _check_widths(level: int, origin: Decimal, below: Decimal, width: Decimal) -> None:
    """Refuse widths that do not nest, with an interval that the level above would cut."""
    if width <= below:
        raise HierarchyError(
            "hierarchy.intervals-would-not-nest-width",
            "intervals would not nest: the width {width} of level {level} is not greater than the width "
            "{below} of level {level_2}; list the widths in ascending order",
            width=number_text(width),
            level=level,
            below=number_text(below),
            level_2=level - 1,
        )
    if not EXACT.remainder(width, below):
        return
    whole = all(map(is_whole, (origin, below, width)))
    cut = EXACT.add(origin, width)
    start = EXACT.add(origin, EXACT.multiply(Decimal(floor_quotient(width, below)), below))
    torn = interval_label(start, EXACT.add(start, below), whole)
    left, right = interval_label(origin, cut, whole), interval_label(cut, EXACT.add(cut, width), whole)
    raise HierarchyError(
        "hierarchy.intervals-would-not-nest-level",
        "intervals would not nest: '{torn}' of level {level} (width {below}) lies partly in '{left}' and "
        "partly in '{right}' of level {level_2} (width {width}); make every width a multiple of the one "
        "before",
        torn=torn,
        level=level - 1,
        below=number_text(below),
        left=left,
        right=right,
        level_2=level,
        width=number_text(width),
    )
