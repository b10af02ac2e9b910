"""k-map: nobody in the release can be told apart from fewer than k - 1 others in the population."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated

import numpy as np

from tarnkappe.errors import ParameterError, Reason
from tarnkappe.privacy.exact import decimal, percents, shown, sql_ratio
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
)
from tarnkappe.schema import ExactPositiveShare, Problem, Rows, param, rule
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


def population_of(model: Model, classes: Classes) -> Counts:
    """The population rows of each class; a table without a population is refused."""
    if classes.population is None:
        raise ParameterError.because(missing_population(model))
    return classes.population


def missing_population(model: Model) -> Reason:
    """What to say where a population is needed."""
    return Reason(
        "privacy.compares-release-population-none",
        "{model} compares the release with a population, and none is given: name one",
        model=model,
    )


class KMap(Model):
    """Every released class has at least k rows in the population (Sweeney 2001).

    It is for an attacker who does not know whether his victim is in the table.

    Where no population is at hand, but the share of it that the table holds is known, `sampling_fraction`
    asks for the expected size instead. Assumed is the Poisson model: a class of the population has a
    Poisson number of members with mean m, and each is in the table with probability f, independently of
    the others. Then the n members in the table and those outside are independent Poisson numbers with
    means f m and (1 - f) m. The most likely m is n / f, which makes n + (1 - f) n / f = n / f members
    expected in the population. Demanded is n / f >= k. That is an expectation: with n = 1 and f = 0.1 ten
    members are expected, yet the class may well have fewer.

    With `significance` a test takes the place of the expectation. A class of the population of k people has
    a Poisson number of members in the table with mean k f; it is seen only if that is not 0. Demanded are so
    many rows n of each class that n or more would be seen with at most this probability: a class with as many
    rows is hardly one of k people or fewer. k rows are enough in any case.

    Merging adds up rows of the table and of the population, so a class that meets the model meets it
    merged with anything.

    >>> KMap(5).promise
    'Everybody in the release looks the same as at least 4 others in the population.'
    """

    name = "k-map"
    cites = ("sweeney2001",)
    direction = Direction.AT_LEAST
    looks_beyond_release = True

    k: Annotated[
        Rows, param("people of the population that every class matches at least", unit="people", start=5)
    ]
    sampling_fraction: Annotated[
        ExactPositiveShare | None,
        param(
            "the share of the population that is in the table, if there is no population table",
            kind="share",
        ),
    ] = None
    significance: Annotated[
        ExactPositiveShare | None,
        param(
            "with a sampling_fraction: how probably k people or fewer may seem to be more",
            kind="share",
        ),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """A test needs to know how the table was sampled."""
        if self.significance is not None and self.sampling_fraction is None:
            yield rule(
                "model.significance-without-fraction",
                "a significance is that of an estimate from a sampling_fraction, and none is stated",
                "significance",
            )

    @classmethod
    def examples(cls) -> tuple[KMap, ...]:
        return (cls(3), cls(5, sampling_fraction=0.3), cls(6, sampling_fraction=0.2, significance=0.1))

    @property
    def promise(self) -> str:
        if self.sampling_fraction is None:
            return (
                f"Everybody in the release looks the same as at least {self.k - 1} others in the population."
            )
        if self.significance is not None:
            return (
                f"Everybody in the release looks the same as at least {self.k - 1} others in the population, "
                f"if the table is a random {percents(self.sampling_fraction)} of it: a smaller group seems "
                f"large enough with a probability of at most {shown(self.significance)}."
            )
        return (
            f"Everybody in the release is expected to look the same as at least {self.k - 1} others in the "
            f"population, if the table is a random {percents(self.sampling_fraction)} of it."
        )

    @property
    def bound(self) -> float:
        return self.k if self.significance is None else self._least_rows()

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            True,
            "Generalization only merges classes, so their rows in the population never get fewer.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (self,) if self.sampling_fraction is None else (KAnonymity(self._least_rows()),)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        if self.sampling_fraction is not None:
            KAnonymity(self._least_rows()).check(tuples, quasi_identifiers)
        elif tuples.population is None:
            raise ParameterError(
                "privacy.state-sampling-fraction",
                "{missing_population}, or state the sampling_fraction",
                missing_population=missing_population(self),
            )
        elif self.k > tuples.population.sum():
            raise ParameterError(
                "privacy.k-larger-population-rows",
                "k = {k} is larger than the population, which has {sum} {sum:row|rows}: choose a smaller k",
                k=self.k,
                sum=tuples.population.sum(),
            )

    def measure(self, classes: Classes) -> Measure:
        if self.sampling_fraction is None:
            return population_of(self, classes).astype(np.float64)
        if self.significance is not None:
            return classes.sizes.astype(np.float64)
        return classes.sizes / float(decimal(self.sampling_fraction))

    def holds(self, classes: Classes) -> Mask:
        if self.sampling_fraction is None:
            return population_of(self, classes) >= self.k
        return classes.sizes >= self._least_rows()

    def _least_rows(self) -> int:
        """The rows of the table that make k rows of the population expected, or that pass the test."""
        if self.significance is not None:
            mean = self.k * decimal(self.sampling_fraction or 1)
            return size_by_test(mean, decimal(self.significance), self.k)
        return math.ceil(self.k * decimal(self.sampling_fraction or 1))

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        if self.sampling_fraction is None:
            return f"""
                SELECT class, coalesce(n, 0) AS value, value >= {self.k} AS holds
                FROM classes LEFT JOIN population USING (class)"""
        if self.significance is not None:
            return f"SELECT class, size AS value, size >= {self._least_rows()} AS holds FROM classes"
        numerator, denominator = sql_ratio(self.sampling_fraction)
        return f"""
            SELECT class, size / {float(decimal(self.sampling_fraction))!r} AS value,
                size * {denominator} >= {self.k} * {numerator} AS holds
            FROM classes"""


@lru_cache(maxsize=256)
def size_by_test(mean: Fraction, significance: Fraction, most: int) -> int:
    """The least n that a Poisson number with this mean that is not 0 reaches with at most a probability.

    Args:
        mean: of the number.
        significance: the probability.
        most: n is not greater than this.

    >>> size_by_test(Fraction(1, 2), Fraction(1, 20), 10), size_by_test(Fraction(1, 1000), Fraction(1, 2), 10)
    (3, 2)
    """
    log_mean, seen = math.log(mean), -math.expm1(-float(mean))
    below, n = 0.0, 1
    while below < 1 - significance and n < most:
        below += math.exp(n * log_mean - float(mean) - math.lgamma(n + 1)) / seen
        n += 1
    return n
