"""The chance to find a person's row: for the prosecutor, the journalist and the marketer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import numpy as np

from tarnkappe.privacy.exact import Exact, decimal
from tarnkappe.privacy.frequencies import Frequencies
from tarnkappe.risk.measures.measure import Chart, MeasureResult, Numbers, RiskFigure, RiskMeasure
from tarnkappe.risk.measures.population_sizes import expected_inverses
from tarnkappe.schema import ExactPositiveShare, param
from tarnkappe.table import Classes
from tarnkappe.table.encoding import Counts, Progress

THRESHOLD = 0.2
RISK_BINS = (0.01, 0.02, 0.05, 0.1, 0.2, 1 / 3, 0.5, 1.0)
"""The upper ends of the bins of the distribution of risk."""


class Basis(StrEnum):
    """Where the sizes of the classes in the population come from."""

    TABLE = "population table"
    ESTIMATE = "estimate"


@dataclasses.dataclass(frozen=True)
class AttackerRisk:
    """The risk of the people in a table against one attacker.

    Attributes:
        highest: of the person worst off.
        average: over all people.
        above: the share of people whose risk is above the threshold.
    """

    highest: float
    average: float
    above: float


@dataclasses.dataclass(frozen=True)
class RiskBin:
    """The people whose risk is above the end of the bin before and at most `most`."""

    most: float
    rows: int


@dataclasses.dataclass(frozen=True)
class Reidentification(MeasureResult):
    """The chance to find the row of a person.

    Attributes:
        threshold: from which on a risk counts as high.
        prosecutor: the attacker knows that the person is in the table.
        journalist: the attacker does not; None if nothing is known of the population.
        marketer: the share of all rows that an attacker who links them all to the population gets right;
            without a population, to a register of just the people in the table.
        basis: where the sizes in the population come from; None if nothing is known of it.
        distribution: people by the prosecutor's risk.
    """

    threshold: Exact
    prosecutor: AttackerRisk
    journalist: AttackerRisk | None
    marketer: float
    basis: Basis | None
    distribution: tuple[RiskBin, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "threshold": float(decimal(self.threshold)),
            "prosecutor": dataclasses.asdict(self.prosecutor),
            "journalist": None if self.journalist is None else dataclasses.asdict(self.journalist),
            "marketer": self.marketer,
            "basis": self.basis,
            "distribution": [dataclasses.asdict(part) for part in self.distribution],
        }

    def figures(self) -> Iterator[RiskFigure]:
        told = f"rows with a risk above {100 * float(decimal(self.threshold)):.3g} %"
        yield RiskFigure("prosecutor, above", self.prosecutor.above, f"share of {told}", share=True)
        if self.journalist is not None:
            unsure = "chance of an attacker who does not know whether a person is in the table"
            basis = f" (by {'a' if self.basis is Basis.TABLE else 'an'} {self.basis})"
            yield RiskFigure("journalist, highest", self.journalist.highest, f"{unsure}{basis}", share=True)
            yield RiskFigure(
                "journalist, average", self.journalist.average, "the same, on average", share=True
            )
            yield RiskFigure("journalist, above", self.journalist.above, f"share of {told}", share=True)
        yield RiskFigure(
            "marketer", self.marketer, "rows that an attacker who links everybody gets right", share=True
        )

    def charts(self) -> Iterator[Chart]:
        ends = [f"{100 * part.most:.3g} %" for part in self.distribution]
        starts = ["0", *ends]
        yield Chart(
            "How probable it is to find somebody's row",
            "People by the chance of an attacker who knows that the person is in the table.",
            tuple(
                RiskFigure(f"{start} to {end}", part.rows, "rows")
                for start, end, part in zip(starts, ends, self.distribution, strict=False)
            ),
        )


class ReidentificationRisk(RiskMeasure):
    """The chance to find the row of a person: highest, average, and how many are above a threshold.

    A class has f rows in the table and F members in the population. The *prosecutor* knows that the person is
    in the table: 1 / f. The *journalist* does not, and picks one of the F people who fit: 1 / F. His average
    is the larger of two: over the rows (sum of f / F, divided by all rows), if he starts from a row, and over
    the people who fit (classes divided by the sum of F), if he starts from a person. The *marketer* links all
    rows and wants many right: sum of f / F, divided by all rows.

    F is counted in the population if one is given; else, with a `sampling_fraction`, 1 / F is estimated.
    """

    name = "reidentification"
    cites = ("elemam2008",)
    title = "Re-identification"

    threshold: Annotated[
        ExactPositiveShare, param("the risk from which on somebody counts as highly at risk", kind="share")
    ] = THRESHOLD
    sampling_fraction: Annotated[
        ExactPositiveShare | None,
        param("the share of the population that is in the table", kind="share"),
    ] = None

    def measure(self, classes: Classes, progress: Progress | None = None) -> Reidentification:
        sizes = classes.sizes[classes.released]
        rows = int(sizes.sum())
        basis, inverses = self._inverses(classes, sizes)
        journalist = None
        if basis is not None:
            by_person = len(sizes) / float((1 / inverses).sum())
            by_row = float(sizes @ inverses) / rows
            above = _above(inverses, self.threshold)
            journalist = AttackerRisk(
                float(inverses.max()), max(by_person, by_row), int(sizes[above].sum()) / rows
            )
        high = sizes * decimal(self.threshold).numerator < decimal(self.threshold).denominator
        return Reidentification(
            threshold=self.threshold,
            prosecutor=AttackerRisk(1 / int(sizes.min()), len(sizes) / rows, int(sizes[high].sum()) / rows),
            journalist=journalist,
            marketer=float(sizes @ inverses) / rows,
            basis=basis,
            distribution=_distribution(sizes),
        )

    def _inverses(self, classes: Classes, sizes: Counts) -> tuple[Basis | None, Numbers]:
        """1 / F of each released class."""
        if classes.population is not None:
            return Basis.TABLE, 1 / classes.population[classes.released]
        if self.sampling_fraction is None:
            return None, 1 / sizes
        sample = frequencies(sizes, population_size(int(sizes.sum()), self.sampling_fraction))
        of_size = expected_inverses(sample)
        return Basis.ESTIMATE, of_size[np.searchsorted(sample.sizes, sizes)]


def _above(risks: Numbers, threshold: Exact) -> Any:
    """Where a risk is above the threshold, not by the last digit of 1 / F."""
    return risks > float(decimal(threshold)) * (1 + 1e-12)


def _distribution(sizes: Counts) -> tuple[RiskBin, ...]:
    place = np.searchsorted(np.array(RISK_BINS) * (1 + 1e-12), 1 / sizes, side="left")
    rows = np.bincount(place, weights=sizes, minlength=len(RISK_BINS))
    return tuple(RiskBin(most, int(number)) for most, number in zip(RISK_BINS, rows, strict=True))


def frequencies(sizes: Counts, population: int) -> Frequencies:
    """How many classes of a sample have each size."""
    occurring, counts = np.unique(sizes, return_counts=True)
    return Frequencies(tuple(occurring.tolist()), tuple(counts.tolist()), population)


def population_size(rows: int, sampling_fraction: Exact) -> int:
    """How many people a population has of which so many rows are a fraction."""
    return round(rows / decimal(sampling_fraction))
