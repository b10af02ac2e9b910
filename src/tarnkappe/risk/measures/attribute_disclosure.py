"""The chance to know a person's sensitive value without finding the person's row."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from tarnkappe.privacy.exact import Exact, decimal
from tarnkappe.privacy.shares import largest_share, ratios_at_most, size_of_entry
from tarnkappe.risk.measures.measure import Chart, MeasureResult, RiskFigure, RiskMeasure
from tarnkappe.schema import ExactPositiveShare, param
from tarnkappe.table import Classes, Distribution
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True)
class ColumnRisk:
    """What is given away of one sensitive column. Suppressed cells are nobody's value and not counted.

    Attributes:
        rows: rows whose value is shown.
        highest: the largest share that one value has of a class.
        guessed: the share of people whose value is guessed right by guessing the most frequent of the class.
        blind: the same for an attacker who knows only the whole table and guesses its most frequent value.
        certain: people in whose class all have the same value.
        above: the share of people whose own value has a share of their class above the threshold.
    """

    rows: int
    highest: float
    guessed: float
    blind: float
    certain: int
    above: float

    @property
    def gain(self) -> float:
        """How many more people are guessed right, as a share of all, than without the quasi-identifiers."""
        return self.guessed - self.blind

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {**dataclasses.asdict(self), "gain": self.gain}


@dataclasses.dataclass(frozen=True)
class DisclosureResult(MeasureResult):
    """What is given away of each sensitive column."""

    threshold: Exact
    columns: Mapping[str, ColumnRisk]

    def to_dict(self) -> dict[str, Any]:
        return {
            "threshold": float(decimal(self.threshold)),
            "columns": {name: column.to_dict() for name, column in self.columns.items()},
        }

    def figures(self) -> Iterator[RiskFigure]:
        share = f"{100 * float(decimal(self.threshold)):.3g} %"
        for name, risk in self.columns.items():
            yield RiskFigure(
                f"{name}, guessed", risk.guessed, "values guessed right in the classes", share=True
            )
            yield RiskFigure(
                f"{name}, blind", risk.blind, "the same without any knowledge of the person", share=True
            )
            yield RiskFigure(
                f"{name}, above",
                risk.above,
                f"rows whose value is told with more than {share} certainty",
                share=True,
            )

    def charts(self) -> Iterator[Chart]:
        for name, risk in self.columns.items():
            yield Chart(
                f"How well {name} can be guessed",
                "Share of the rows whose value an attacker guesses right.",
                (
                    RiskFigure("knowing nothing", risk.blind, "of the rows", share=True),
                    RiskFigure("knowing the quasi-identifiers", risk.guessed, "of the rows", share=True),
                ),
            )


class AttributeDisclosure(RiskMeasure):
    """The chance to know a person's sensitive value from the class alone, and what the class adds to it.

    In a class with counts c1, c2, ... of the values of a sensitive column the best guess is right for the
    largest of them. Summed over the classes and divided by all rows this is the share of people guessed
    right; guessing the most frequent value of the table for everybody is what it must be compared with.
    """

    name = "attribute-disclosure"
    cites = ("lambert1993",)
    title = "Attribute disclosure"

    threshold: Annotated[
        ExactPositiveShare,
        param("the share of a class above which a value counts as disclosed", kind="share"),
    ] = 0.8

    def measure(self, classes: Classes, progress: Progress | None = None) -> DisclosureResult:
        single = {n[0]: d for n, d in classes.distributions.items() if len(n) == 1 and d.totals.any()}
        return DisclosureResult(
            self.threshold, {name: self._column(values) for name, values in single.items()}
        )

    def _column(self, distribution: Distribution) -> ColumnRisk:
        rows = int(distribution.counts.sum())
        most = np.zeros(distribution.num_classes, np.int64)
        np.maximum.at(most, distribution.class_of_entry, distribution.counts)
        alone = distribution.counts == size_of_entry(distribution)
        above = ~ratios_at_most(distribution.counts, size_of_entry(distribution), self.threshold)
        return ColumnRisk(
            rows=rows,
            highest=float(largest_share(distribution).max()),
            guessed=int(most.sum()) / rows,
            blind=int(distribution.totals.max()) / rows,
            certain=int(distribution.counts[alone].sum()),
            above=int(distribution.counts[above].sum()) / rows,
        )
