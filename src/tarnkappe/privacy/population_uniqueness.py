"""Population uniqueness: few people of the population are unique, as far as the table tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.exact import decimal
from tarnkappe.privacy.model import Direction, Monotonicity
from tarnkappe.privacy.population_estimators import UniquenessEstimator, population_uniques
from tarnkappe.privacy.requiring import require
from tarnkappe.privacy.table_model import TableModel
from tarnkappe.schema import ExactPositiveShare, ExactShare, Problem, Rows, param, rule
from tarnkappe.table import Tuples
from tarnkappe.table.grouping import Counts


class PopulationUniqueness(TableModel):
    """The estimated share of the population that is unique in it is at most the threshold.

    The table is a sample of a population of which either the size or the sampled fraction is known. The
    estimators are those of `population_estimators`. Rows that are suppressed leave the sample; the population
    stays.

    It is an estimate, so it is compared in floating point, and it is not monotone: if two classes of
    several rows are merged, unique rows become more conspicuous, and the estimates may rise. Suppressing
    unique rows need not lower an estimate step by step either; without unique rows it is 0.
    """

    name = "population-uniqueness"
    cites = ("dankar2012",)
    direction = Direction.AT_MOST
    looks_beyond_release = True

    threshold: Annotated[
        ExactShare,
        param("the largest share of people who are unique in the population", kind="share", start=0.05),
    ]
    estimator: Annotated[UniquenessEstimator, param("how the number of unique people is estimated")] = (
        UniquenessEstimator.DANKAR
    )
    population_size: Annotated[Rows | None, param("how many people the population has", unit="people")] = None
    sampling_fraction: Annotated[
        ExactPositiveShare | None,
        param("the share of the population that is in the table", kind="share", start=0.01),
    ] = None

    def rules(self) -> Iterator[Problem]:
        if (self.population_size is None) == (self.sampling_fraction is None):
            yield rule(
                "model.population-size", "either the population_size or the sampling_fraction is needed"
            )

    @classmethod
    def examples(cls) -> tuple[PopulationUniqueness, ...]:
        return (
            cls(0.05, UniquenessEstimator.ZAYATZ, sampling_fraction=0.2),
            cls(0.1, UniquenessEstimator.DANKAR, sampling_fraction=0.5),
        )

    @property
    def promise(self) -> str:
        return (
            f"By {self.estimator.title()}'s estimate, at most a share of {decimal(self.threshold)} of the "
            "population is unique in the population."
        )

    @property
    def bound(self) -> float:
        return float(decimal(self.threshold))

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            False,
            False,
            "If classes of several rows are merged, unique rows stand out more and the estimate may rise.",
        )

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        if self.population_size is not None:
            require(
                self.population_size >= tuples.num_rows,
                "privacy.table-rows-more-population",
                "{model}: the table has {num_rows} {num_rows:row|rows}, more than the population",
                model=self,
                num_rows=tuples.num_rows,
            )

    def size_of_population(self, num_rows: int) -> int:
        """How many people the population has, given the rows of the whole input."""
        if self.population_size is not None:
            return self.population_size
        assert self.sampling_fraction is not None
        return round(num_rows / decimal(self.sampling_fraction))

    def measure_sizes(self, sizes: Counts, num_rows: int) -> float:
        return population_uniques(sizes, self.size_of_population(num_rows), self.estimator).share

    def surely_enough(self, ascending: Counts) -> int:
        """All unique rows: without one, nobody of the population is estimated to be unique."""
        return int(np.searchsorted(ascending, 1, side="right"))

    def sizes_hold(self, sizes: Counts, num_rows: int) -> bool:
        return self.measure_sizes(sizes, num_rows) <= self.bound

    @property
    def functions(self) -> Mapping[str, Callable[[list[int], int], float]]:
        return {"estimated_uniqueness": lambda sizes, num_rows: self.measure_sizes(np.array(sizes), num_rows)}

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"""
            WITH estimated AS (
                SELECT estimated_uniqueness(list(size), any_value(n)) AS value
                FROM classes CROSS JOIN input_size HAVING count(*) > 0)
            SELECT NULL AS class, value, value <= {self.bound!r} AS holds FROM estimated"""
