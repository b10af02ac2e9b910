"""Special uniques: people who are unique already by a few columns (SUDA2)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.risk.measures.measure import Chart, MeasureResult, Numbers, RiskFigure, RiskMeasure
from tarnkappe.risk.measures.minimal_uniques import UniqueRows
from tarnkappe.schema import param
from tarnkappe.table import Classes
from tarnkappe.table.classes import num_labels
from tarnkappe.table.encoding import Progress

WORST = 10
MOST_SETS = 200_000
"""More sets of columns than this are refused: it would take hours."""


@dataclasses.dataclass(frozen=True)
class SpecialUnique:
    """A row that few columns single out.

    Attributes:
        row: its place in the table, counted from 1.
        score: its score.
        columns: the smallest sets of columns that single it out.
    """

    row: int
    score: int
    columns: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class SpecialUniquesFound(MeasureResult):
    """Minimal sample uniques and the scores that they give to rows and columns.

    Attributes:
        largest: the most columns that were combined.
        number: minimal sample uniques by the number of their columns.
        rows: rows that have at least one.
        scores: the score of every row of the table, in its order.
        columns: the share of each column in the sum of all scores: the scores of the minimal sample uniques
            that contain it. They add up to more than 1, since a set of columns counts for each of them.
        worst: the rows with the highest scores.
    """

    largest: int
    number: Mapping[int, int]
    rows: int
    scores: Numbers
    columns: Mapping[str, float]
    worst: tuple[SpecialUnique, ...]

    def to_dict(self) -> dict[str, Any]:
        scored = self.scores[self.scores > 0]
        return {
            "largest": self.largest,
            "number": {str(size): number for size, number in self.number.items()},
            "rows": self.rows,
            "highest_score": float(self.scores.max(initial=0.0)),
            "mean_score": float(scored.mean()) if len(scored) else 0.0,
            "columns": dict(self.columns),
            "worst": [dataclasses.asdict(special) for special in self.worst],
        }

    def figures(self) -> Iterator[RiskFigure]:
        yield RiskFigure("special uniques", self.rows, f"rows that at most {self.largest} columns single out")
        for size, number in self.number.items():
            named = "1 column is" if size == 1 else f"{size} columns are"
            yield RiskFigure(f"  by {size}", number, f"times that {named} enough, and no fewer")

    def charts(self) -> Iterator[Chart]:
        yield Chart(
            "Which columns make people special",
            "Share of each column in the scores of rows that a few columns single out (SUDA2).",
            tuple(
                RiskFigure(name, share, "of the score", share=True) for name, share in self.columns.items()
            ),
        )


class SpecialUniques(RiskMeasure):
    """Rows that are unique by a few columns: minimal sample uniques up to a size (SUDA2).

    A set of columns is a minimal sample unique of a row if the row is unique in it and in no smaller part
    of it. The fewer columns it takes, the more likely the person is unique in the population as well. With m
    columns and sets of up to M of them, one of size k scores (m - k) (m - k - 1) ... (m - M), as Elliot and
    Manning define it (for M = m the last factor, 0, is left out); a row scores the sum over its sets.
    """

    name = "special-uniques"
    cites = ("manning2008",)
    title = "Special uniques"
    usual = False

    size: Annotated[int, param("columns that are combined at most", ge=1, le=1_000, unit="columns")] = 3

    def measure(self, classes: Classes, progress: Progress | None = None) -> SpecialUniquesFound:
        names = [column.name for column in classes.quasi_identifiers]
        width, largest = len(names), min(self.size, len(names))
        sets = sum(math.comb(width, size) for size in range(1, largest + 1))
        if sets > MOST_SETS:
            raise ParameterError(
                "risk.columns-sets-up-choose-smaller",
                "{name}: {width} columns have {sets:,} sets of up to {largest}: choose a smaller size",
                name=self.name,
                width=width,
                sets=sets,
                largest=largest,
            )
        released = np.flatnonzero(classes.released)
        rows = UniqueRows(
            [classes.label_codes(place)[released] for place in range(width)],
            [
                num_labels(c, level)
                for c, level in zip(classes.quasi_identifiers, classes.levels, strict=True)
            ],
            classes.sizes[released],
        )
        scores, by_column = np.zeros(len(released)), np.zeros(width)
        number = dict.fromkeys(range(1, largest + 1), 0)
        told = (lambda done, total: progress("combining columns", done, total)) if progress else None
        for found in rows.minimal_uniques(largest, told):
            score = score_of(len(found.columns), width, largest)
            scores[found.rows] += score
            by_column[list(found.columns)] += score * len(found.rows)
            number[len(found.columns)] += len(found.rows)
        return SpecialUniquesFound(
            largest=largest,
            number=number,
            rows=int(np.count_nonzero(scores)),
            scores=_of_rows(classes, released, scores),
            columns={
                name: float(s / max(scores.sum(), 1.0)) for name, s in zip(names, by_column, strict=True)
            },
            worst=_worst(classes, released, scores, rows, largest),
        )


def score_of(size: int, width: int, largest: int) -> int:
    """The score of one minimal sample unique.

    >>> [score_of(size, width=4, largest=3) for size in (1, 2, 3)]
    [6, 2, 1]
    """
    return math.prod(width - place for place in range(size, min(largest, width - 1) + 1))


def _of_rows(classes: Classes, released: Any, scores: Numbers) -> Numbers:
    """The score of each row of the table; who shares all values with another row has none."""
    of_class = np.zeros(classes.num_classes)
    of_class[released] = scores
    return np.asarray(of_class[classes.ids[classes.tuples.counts > 0]])


def _worst(
    classes: Classes, released: Any, scores: Numbers, rows: UniqueRows, largest: int
) -> tuple[SpecialUnique, ...]:
    in_table = classes.ids[classes.tuples.counts > 0]
    row_of_class = np.zeros(classes.num_classes, np.int64)
    row_of_class[in_table] = np.arange(len(in_table))
    places = row_of_class[released]
    order = np.lexsort((places, -scores))[:WORST]
    names = [column.name for column in classes.quasi_identifiers]
    return tuple(
        SpecialUnique(
            int(places[index]) + 1,
            int(scores[index]),
            tuple(tuple(names[c] for c in columns) for columns in rows.of_row(index, largest)),
        )
        for index in order.tolist()
        if scores[index] > 0
    )
