"""delta-presence: whether somebody is in the table at all can be told only within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.privacy.exact import at_least, at_most, decimal, percents, sql_ratio
from tarnkappe.privacy.k_map import KMap, missing_population, population_of
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.privacy.population_coverage import SQL_ABSENT, PopulationCoverage
from tarnkappe.schema import ExactShare, Problem, param, rule
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.classes import Mask


class DeltaPresence(Model):
    """In every class the share of the population that is in the table lies between the two bounds.

    Nergiz, Atzori and Clifton 2007: the recipient knows the population and generalizes it as the release
    is. The share of a class is the chance that one of its members is in the table. Shares of exactly the
    minimum or the maximum, as written, pass; each may be a fraction such as '2/3'.

    A class whose share is out of bounds may be suppressed. A class of the population without any row of
    the table has the share 0: with a minimum above 0 it breaks the promise, and as there is nothing in it
    to suppress, the state is beyond repair, whatever other models suppress.

    Why it survives merging: the share of a union lies between the shares of its parts. Why it implies
    k-map: a released class has at least one row in the table, so with the share at most the maximum it
    has at least 1 / maximum rows in the population.
    """

    name = "delta-presence"
    cites = ("nergiz2007",)
    direction = Direction.AT_MOST
    looks_beyond_release = True

    minimum: Annotated[
        ExactShare,
        param("the least share of a class of the population that is in the table", kind="share", start=0.0),
    ]
    maximum: Annotated[
        ExactShare,
        param("the largest share of a class of the population that is in the table", kind="share", start=0.5),
    ]

    def rules(self) -> Iterator[Problem]:
        if decimal(self.maximum) <= 0 or decimal(self.minimum) > decimal(self.maximum):
            yield rule(
                "delta-presence.order",
                "a maximum above 0 and not below the minimum is needed, not {minimum} to {maximum}",
                "maximum",
                minimum=self.minimum,
                maximum=self.maximum,
            )

    @classmethod
    def examples(cls) -> tuple[DeltaPresence, ...]:
        return (cls(0, 0.5), cls(0, "2/3"), cls(0.4, 0.8))

    @property
    def promise(self) -> str:
        most = f"at most {percents(self.maximum)}"
        if decimal(self.minimum) == 0:
            return f"For everybody in the population the chance of being in the table stays {most}."
        return (
            f"For everybody whose group is released the chance of being in the table is at least "
            f"{percents(self.minimum)} and {most}, and nobody in the population can be told to be absent."
        )

    @property
    def bound(self) -> float:
        return float(decimal(self.maximum))

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            False,
            "The share of a merged class lies between the shares of its parts; but a class that was "
            "suppressed can pull the one it is merged with out of bounds.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        in_population = KMap(math.ceil(1 / decimal(self.maximum)))
        return (in_population,) if decimal(self.minimum) == 0 else (in_population, PopulationCoverage())

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        if tuples.population is None:
            raise ParameterError.because(missing_population(self))

    def measure(self, classes: Classes) -> Measure:
        return classes.sizes / np.maximum(population_of(self, classes), 1)

    def holds(self, classes: Classes) -> Mask:
        share, population = self.measure(classes), population_of(self, classes)
        least, most = decimal(self.minimum), decimal(self.maximum)

        def reaches(index: int) -> bool:
            return int(classes.sizes[index]) >= least * int(population[index])

        def stays_below(index: int) -> bool:
            return int(classes.sizes[index]) <= most * int(population[index])

        return at_least(share, float(least), reaches) & at_most(share, float(most), stays_below)

    def irreparable(self, classes: Classes) -> bool:
        return decimal(self.minimum) > 0 and PopulationCoverage().irreparable(classes)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        least, least_of = sql_ratio(self.minimum)
        most, most_of = sql_ratio(self.maximum)
        return f"""
            WITH absent AS ({SQL_ABSENT})
            SELECT class, size / n AS value,
                size * {least_of} >= {least} * n AND size * {most_of} <= {most} * n AS holds
            FROM classes LEFT JOIN population USING (class)
            UNION ALL SELECT class, 0, excused OR {least} = 0 FROM absent"""
