"""The chance to find a person's row in the population, where each row has a survey weight."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import scipy

from tarnkappe.errors import ColumnError
from tarnkappe.privacy.exact import Exact, decimal
from tarnkappe.risk.measures.measure import MeasureResult, Numbers, RiskFigure, RiskMeasure
from tarnkappe.risk.measures.reidentification import THRESHOLD
from tarnkappe.schema import ExactPositiveShare, Name, param
from tarnkappe.table import Classes, Column
from tarnkappe.table.encoding import Counts, Progress

NODES = 96
REACH = 40.0
"""Beyond e^-40 of its start the integrand counts for nothing."""


@dataclasses.dataclass(frozen=True)
class SurveyRiskFound(MeasureResult):
    """The individual risk of the rows of a survey.

    Attributes:
        threshold: from which on a risk counts as high.
        population: how many people the weights stand for.
        highest: of the row worst off.
        average: over all rows.
        expected: how many rows an attacker who tries each is expected to find.
        above: the share of rows whose risk is above the threshold.
    """

    threshold: Exact
    population: float
    highest: float
    average: float
    expected: float
    above: float

    def to_dict(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "threshold": float(decimal(self.threshold))}

    def figures(self) -> Iterator[RiskFigure]:
        yield RiskFigure(
            "highest", self.highest, "chance to find the row of the person worst off", share=True
        )
        yield RiskFigure("average", self.average, "the same, on average over all rows", share=True)
        yield RiskFigure(
            "expected", self.expected, "rows that an attacker who tries each is expected to find"
        )
        limit = f"{100 * float(decimal(self.threshold)):.3g} %"
        yield RiskFigure("above", self.above, f"share of rows with a risk above {limit}", share=True)
        yield RiskFigure("population", self.population, "people for whom the weights stand")


class SurveyRisk(RiskMeasure):
    """The individual risk of a survey with weights (Benedetti and Franconi 1998).

    The weights of the f rows of a class sum to the estimated number of people of the population that fit it.
    With p = f divided by that sum, the number F of these people is taken to be negative binomial: the f-th
    success at the F-th trial, each with probability p. The risk of each of the rows is the expectation of
    1 / F, which is the integral of p w^(f-1) / (p + (1-p) w) over w from 0 to 1. Without a weight each row
    stands for itself.

    It is an estimate, and a low one where many classes are small; `reidentification` with a
    sampling fraction fits the sizes to the sample.
    """

    name = "survey-risk"
    cites = ("benedetti1998", "franconi2004")
    title = "Individual risk of a survey"
    usual = False

    weight: Annotated[
        Name | None, param("the column that tells for how many people a row stands", kind="column")
    ] = None
    threshold: Annotated[
        ExactPositiveShare, param("the risk from which on somebody counts as highly at risk", kind="share")
    ] = THRESHOLD

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        return () if self.weight is None else ((self.weight,),)

    def measure(self, classes: Classes, progress: Progress | None = None) -> SurveyRiskFound:
        released = classes.released
        sizes = classes.sizes[released]
        people = self._people(classes)[released]
        risks = expected_inverse(sizes, sizes / np.maximum(people, sizes))
        rows, expected = int(sizes.sum()), float(sizes @ risks)
        high = risks > float(decimal(self.threshold)) * (1 + 1e-12)
        return SurveyRiskFound(
            self.threshold,
            float(people.sum()),
            float(risks.max()),
            expected / rows,
            expected,
            int(sizes[high].sum()) / rows,
        )

    def _people(self, classes: Classes) -> Numbers:
        """For how many people the rows of each class stand."""
        if self.weight is None:
            return classes.sizes.astype(np.float64)
        distribution = classes.distributions[self.weight,]
        weights = _weights(distribution.column)
        if np.any(distribution.sizes != classes.sizes):
            weights = np.full(len(weights), np.nan)
        if not np.all(weights[distribution.codes] > 0):
            raise ColumnError(
                "risk.survey-weights-not-positive",
                "survey-risk: the column '{name}' must have a number above 0 in each row to be a weight",
                name=self.weight,
            )
        stands_for = distribution.counts * weights[distribution.codes]
        summed = np.bincount(distribution.class_of_entry, stands_for, classes.num_classes)
        return np.asarray(summed, np.float64)


def _weights(column: Column) -> Numbers:
    kind = column.values.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return np.full(column.cardinality, np.nan)
    return np.asarray(column.values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


def expected_inverse(sizes: Counts, shares: Numbers) -> Numbers:
    """The expectation of 1 / F if the f-th success comes at the F-th trial, each with probability p.

    With w = e^-x the integral is that of p e^(-f x) / (p + (1-p) e^-x) over x from 0, whose poles are at a
    distance of pi from the way of integration; for f = 1 it is p ln(1/p) / (1-p).

    >>> expected_inverse(np.array([1, 2, 3]), np.array([0.1, 0.1, 1.0])).round(4).tolist()
    [0.2558, 0.0827, 0.3333]
    """
    risks = np.empty(len(sizes))
    alone = sizes == 1
    p = shares[alone]
    rest = np.maximum(1 - p, 1e-300)
    risks[alone] = np.where(p < 1, -p * np.log(p) / rest, 1.0)
    nodes, weights = _nodes()
    for part in np.array_split(np.flatnonzero(~alone), max(1, len(sizes) // 10_000)):
        f, p = sizes[part, np.newaxis].astype(np.float64), shares[part, np.newaxis]
        reach = REACH / f
        x = reach * (nodes + 1) / 2
        values = p * np.exp(-f * x) / (p + (1 - p) * np.exp(-x))
        risks[part] = (values * weights * reach / 2).sum(axis=1)
    return risks


@cache
def _nodes() -> tuple[Numbers, Numbers]:
    nodes, weights = scipy.special.roots_legendre(NODES)
    return nodes, weights
