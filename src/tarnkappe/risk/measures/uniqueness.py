"""Who is unique: in the table, in the population, and how much the one tells of the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from tarnkappe.privacy.population_estimators import (
    UniquenessEstimate,
    UniquenessEstimator,
    population_uniques,
)
from tarnkappe.risk.measures.measure import MeasureResult, RiskFigure, RiskMeasure
from tarnkappe.risk.measures.reidentification import population_size
from tarnkappe.schema import ExactPositiveShare, param
from tarnkappe.table import Classes
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True)
class UniquePeople(MeasureResult):
    """Unique rows and unique people.

    Attributes:
        sample_uniques: rows whose combination no other row has.
        sample_share: the same as a share of the rows.
        population_uniques: people of the population whose combination nobody else has, if it is given.
        uniques_found: unique rows whose person is unique in the population too, if it is given.
        estimates: the number of unique people by each estimator, if the sampling fraction is known.
        correct_match: of an attacker who finds one row that fits somebody, the estimated chance that the row
            is this person's, if the sampling fraction is known.
    """

    sample_uniques: int
    sample_share: float
    population_uniques: int | None
    uniques_found: int | None
    estimates: Mapping[UniquenessEstimator, UniquenessEstimate]
    correct_match: float | None

    @property
    def best(self) -> UniquenessEstimate | None:
        """The estimate by Dankar's decision rule."""
        return self.estimates.get(UniquenessEstimator.DANKAR)

    def to_dict(self) -> dict[str, Any]:
        return {
            "sample_uniques": self.sample_uniques,
            "sample_share": self.sample_share,
            "population_uniques": self.population_uniques,
            "uniques_found": self.uniques_found,
            "estimates": {
                str(estimator): {"uniques": found.uniques, "share": found.share, "by": found.estimator}
                for estimator, found in self.estimates.items()
            },
            "correct_match": self.correct_match,
        }

    def figures(self) -> Iterator[RiskFigure]:
        yield RiskFigure("unique rows", self.sample_share, "share of the rows that are unique", share=True)
        if self.population_uniques is not None and self.uniques_found is not None:
            yield RiskFigure(
                "unique people", self.population_uniques, "people who are unique in the population"
            )
            yield RiskFigure("of these here", self.uniques_found, "unique people whose row is in the table")
        for estimator, found in self.estimates.items():
            by = "by Dankar's rule" if estimator is UniquenessEstimator.DANKAR else f"by {_author(estimator)}"
            if estimator is UniquenessEstimator.DANKAR and found.estimator is not None:
                by += f", which takes {_author(found.estimator)}"
            yield RiskFigure(
                "unique people", found.share, f"share of the population, estimated {by}", share=True
            )
        if self.correct_match is not None:
            yield RiskFigure(
                "correct match",
                self.correct_match,
                "chance that the only row that fits is the right one",
                share=True,
            )


class Uniqueness(RiskMeasure):
    """Unique rows, and how many of them are unique people.

    With a population, unique people are counted. With a `sampling_fraction` f they are estimated: by Pitman,
    Zayatz and the slide negative binomial model, of which Dankar's rule takes one. The chance that a unique
    match is correct (data intrusion simulation, Skinner and Elliot 2002) needs no model of the population:
    with n1 unique rows and n2 pairs it is f n1 / (f n1 + 2 (1 - f) n2).
    """

    name = "uniqueness"
    cites = ("skinner2002", "dankar2012")
    title = "Uniqueness"

    sampling_fraction: Annotated[
        ExactPositiveShare | None,
        param("the share of the population that is in the table", kind="share"),
    ] = None

    def measure(self, classes: Classes, progress: Progress | None = None) -> UniquePeople:
        sizes = classes.sizes[classes.released]
        rows, uniques = int(sizes.sum()), int(np.count_nonzero(sizes == 1))
        people, found = None, None
        if classes.population is not None:
            alone = classes.population == 1
            people, found = int(alone.sum()), int(np.count_nonzero(alone & (classes.sizes == 1)))
        estimates: dict[UniquenessEstimator, UniquenessEstimate] = {}
        match = None
        if self.sampling_fraction is not None:
            population = population_size(rows, self.sampling_fraction)
            estimates = {e: population_uniques(sizes, population, e) for e in UniquenessEstimator}
            match = correct_match(uniques, int(np.count_nonzero(sizes == 2)), rows / population)
        return UniquePeople(uniques, uniques / rows, people, found, estimates, match)


def correct_match(uniques: int, pairs: int, fraction: float) -> float:
    """The chance that a unique match is correct.

    Put back a removed row with probability f, as if it had been sampled or not. A removed unique row leaves
    nothing to match unless it is put back, and then the match is correct: f n1. A removed row of a pair
    leaves a unique row, which is matched wrongly unless the row is put back: (1 - f) 2 n2.
    """
    right, wrong = fraction * uniques, 2 * (1 - fraction) * pairs
    return right / (right + wrong) if right else 0.0


def _author(estimator: UniquenessEstimator) -> str:
    return "SNB" if estimator is UniquenessEstimator.SNB else estimator.value.title()
