"""The chance to find a person's row if '*' may stand for any value."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.privacy.exact import Exact, decimal
from tarnkappe.risk.measures.measure import MeasureResult, RiskFigure, RiskMeasure
from tarnkappe.risk.measures.reidentification import THRESHOLD
from tarnkappe.schema import ExactPositiveShare, param
from tarnkappe.table import SUPPRESSED, Classes, Column
from tarnkappe.table.classes import num_labels
from tarnkappe.table.encoding import Counts, Progress
from tarnkappe.table.grouping import group_codes, sum_by_group

MOST_PATTERNS = 512
"""So many sets of columns may be starred together: each is compared with each."""


@dataclasses.dataclass(frozen=True)
class WildcardRisk(MeasureResult):
    """The chance to find the row of a person among all rows that fit.

    Attributes:
        threshold: from which on a risk counts as high.
        highest: of the row that fewest others fit.
        average: over all rows.
        above: the share of rows whose risk is above the threshold.
        starred: the share of rows with a '*' in some cell.
    """

    threshold: Exact
    highest: float
    average: float
    above: float
    starred: float

    def to_dict(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "threshold": float(decimal(self.threshold))}

    def figures(self) -> Iterator[RiskFigure]:
        told = "chance to find the row that fewest others fit, '*' fitting everything"
        yield RiskFigure("highest", self.highest, told, share=True)
        yield RiskFigure("average", self.average, "the same, on average", share=True)
        limit = f"{100 * float(decimal(self.threshold)):.3g} %"
        yield RiskFigure("above", self.above, f"share of rows with a risk above {limit}", share=True)
        yield RiskFigure("starred", self.starred, "share of rows with a '*' in some cell", share=True)


class Wildcards(RiskMeasure):
    """The risk of re-identification where a suppressed cell fits every value, as ARX and sdcMicro count.

    Two rows fit if in each quasi-identifier they have the same value or one of them has '*'. A row that f
    rows fit, itself included, is found with probability 1 / f. It is what local suppression is judged by
    elsewhere, and no promise: who knows the value that a '*' hides leaves out rows that show another, so the
    true risk of a starred row may be higher. `reidentification` takes '*' for a value of its own.
    """

    name = "wildcards"
    cites = ("templ2015",)
    title = "Re-identification, '*' fits everything"
    usual = False

    threshold: Annotated[
        ExactPositiveShare, param("the risk from which on somebody counts as highly at risk", kind="share")
    ] = THRESHOLD

    def measure(self, classes: Classes, progress: Progress | None = None) -> WildcardRisk:
        released = np.flatnonzero(classes.released)
        sizes = classes.sizes[released]
        fitting, starred = _fitting(classes, released, sizes, progress)
        rows, limit = int(sizes.sum()), decimal(self.threshold)
        high = fitting * limit.numerator < limit.denominator
        return WildcardRisk(
            self.threshold,
            1 / int(fitting.min()),
            float((sizes / fitting).sum()) / rows,
            int(sizes[high].sum()) / rows,
            int(sizes[starred].sum()) / rows,
        )


def _fitting(classes: Classes, released: Counts, sizes: Counts, progress: Progress | None) -> tuple[Any, Any]:
    """For each released class how many rows fit it, and whether it has a '*'.

    Classes with '*' in the same columns are compared together: with those of another such pattern they
    agree where neither is starred.
    """
    columns = list(zip(classes.quasi_identifiers, classes.levels, strict=True))
    codes = [classes.label_codes(place)[released] for place in range(len(columns))]
    stars = np.stack(
        [own == _star(column, level) for own, (column, level) in zip(codes, columns, strict=True)], axis=1
    )
    patterns, pattern_of = np.unique(stars, axis=0, return_inverse=True)
    pattern_of = pattern_of.reshape(-1)
    if len(patterns) > MOST_PATTERNS:
        raise ParameterError(
            "risk.star-patterns-too-many",
            "wildcards: {patterns} sets of columns are starred together in some row, more than {most}: name "
            "fewer quasi-identifiers",
            patterns=len(patterns),
            most=MOST_PATTERNS,
        )
    members = [np.flatnonzero(pattern_of == number) for number in range(len(patterns))]
    fitting = np.zeros(len(released), np.int64)
    for number, own in enumerate(members):
        if progress:
            progress("comparing starred rows", number, len(members))
        for other, others in enumerate(members):
            compared = np.flatnonzero(~patterns[number] & ~patterns[other]).tolist()
            if not compared:
                fitting[own] += sizes[others].sum()
                continue
            both = np.concatenate([own, others])
            counts = [max(1, num_labels(*columns[place])) for place in compared]
            groups = group_codes([codes[place][both] for place in compared], counts)
            theirs = sum_by_group(groups.ids[len(own) :], sizes[others], groups.num_groups)
            fitting[own] += theirs[groups.ids[: len(own)]]
    return fitting, stars.any(axis=1)


def _star(column: Column, level: int) -> int:
    """The code of '*' among the labels of a column, or -1."""
    labels = column.labels if column.levels is None else column.levels.labels[level]
    return labels.index(SUPPRESSED) if SUPPRESSED in labels else -1
