"""Profitability: publishing every released row pays, rational attackers taken into account."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Self

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.privacy.exact import TOLERANCE, decimal, sign_of_logarithms, sql_ratio
from tarnkappe.privacy.k_map import missing_population, population_of
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
    literal,
)
from tarnkappe.privacy.no_attack import safe_size
from tarnkappe.privacy.verify import class_of, text
from tarnkappe.schema import NotNegative, Positive, param
from tarnkappe.table import Classes, Column, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


def leaves_of_labels(classes: Classes) -> list[Counts]:
    """For each quasi-identifier, how many values lie under the label of each class."""
    leaves = []
    for index, (column, level) in enumerate(zip(classes.quasi_identifiers, classes.levels, strict=True)):
        if column.levels is None:
            leaves.append(np.ones(classes.num_classes, dtype=np.int64))
        else:
            leaves.append(column.levels.leaves[level][classes.label_codes(index)])
    return leaves


def domain_size(column: Column) -> int:
    """How many values a column may have."""
    return column.cardinality if column.levels is None else column.levels.domain_size


def information_loss(classes: Classes) -> Measure:
    """The share of the information of a row that is lost in each class.

    A label with m values under it leaves log m open of the log d that a column of d values tells, so the loss
    is the sum of log m over the sum of log d: 0 for the original row, 1 if nothing is left.
    """
    most = sum(math.log(domain_size(column)) for column in classes.quasi_identifiers)
    lost = sum((np.log(m) for m in leaves_of_labels(classes)), np.zeros(classes.num_classes))
    return lost / most if most > 0 else lost


class Profitability(Model):
    """Publishing a row of every released class pays more than nothing (Wan et al. 2015).

    The publisher gains `publisher_benefit` times the share of information that is left in a row. If an attack
    pays, that is if the attacker's gain times his probability of success is above his cost, the publisher
    has to expect it and loses `publisher_loss` times that probability.

    Why not monotone, even without suppression: generalization takes away the benefit. Of a row that is
    generalized to nothing nobody benefits.
    """

    direction = Direction.MORE_THAN
    measures_labels = True

    publisher_benefit: Annotated[
        Positive, param("what the release of one untouched row is worth", unit="money", start=1200.0)
    ]
    publisher_loss: Annotated[
        NotNegative, param("what an attack on one person costs the publisher", unit="money", start=300.0)
    ]
    adversary_gain: Annotated[
        NotNegative, param("what an attacker gains from one person", unit="money", start=300.0)
    ]
    adversary_cost: Annotated[
        NotNegative, param("what an attack on one person costs the attacker", unit="money", start=4.0)
    ]

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(100, 150, 300, 100), cls(1, 1, 1, 0))

    @abstractmethod
    def look_alikes(self, classes: Classes) -> Counts:
        """Among how many people an attacker must guess, for each class."""

    @property
    def bound(self) -> float:
        return 0.0

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            False, False, "Generalization takes away the benefit of a row faster than the risk of an attack."
        )

    def measure(self, classes: Classes) -> Measure:
        """What a row of each class brings the publisher."""
        people = np.maximum(self.look_alikes(classes), 1)
        benefit = self.publisher_benefit * (1 - information_loss(classes))
        return benefit - np.where(self._attacked(people), self.publisher_loss / people, 0)

    def holds(self, classes: Classes) -> Mask:
        payout = self.measure(classes)
        good = payout > 0
        people = np.maximum(self.look_alikes(classes), 1)
        attacked = self._attacked(people)
        leaves = leaves_of_labels(classes)
        for index in np.flatnonzero(np.abs(payout) <= TOLERANCE * self.publisher_benefit).tolist():
            risk = Fraction(1, int(people[index])) if attacked[index] else Fraction(0)
            good[index] = self._pays(classes.quasi_identifiers, [int(m[index]) for m in leaves], risk)
        return good

    def _attacked(self, people: Counts) -> Mask:
        if self.adversary_cost == 0:
            return np.full(len(people), self.adversary_gain > 0)
        return people < safe_size(self.adversary_gain, self.adversary_cost)

    def _pays(self, columns: Sequence[Column], leaves: list[int], risk: Fraction) -> bool:
        """Whether a row brings more than nothing, exactly.

        With M the product of the leaves and D that of the domain sizes, it is so just if ln M / ln D is
        below 1 - loss x risk / benefit, that is if (1 - loss x risk / benefit) ln D - ln M > 0.
        """
        left = 1 - decimal(self.publisher_loss) * risk / decimal(self.publisher_benefit)
        domains = [domain_size(column) for column in columns]
        if all(size == 1 for size in domains):
            return left > 0
        return sign_of_logarithms([*((left, d) for d in domains), *((Fraction(-1), m) for m in leaves)]) > 0

    def sql_payout(self, quasi_identifiers: Sequence[str], people: str, population: str = "") -> str:
        """The query, given the column with the number of look-alikes and the relation it is in, in SQL."""
        numbered = list(enumerate(quasi_identifiers))
        labels = "".join(f", any_value({text(name)}) AS label{i}" for i, name in numbered)
        joins = " ".join(
            f"LEFT JOIN leaves l{i} ON l{i}.name = {literal(name)} AND l{i}.label = label{i}"
            for i, name in numbered
        )
        lost = " + ".join(f"ln(l{i}.n)" for i, _ in numbered) or "0"
        most = " + ".join(f"ln(l{i}.domain)" for i, _ in numbered) or "0"
        (gain, gain_of), (cost, cost_of) = sql_ratio(self.adversary_gain), sql_ratio(self.adversary_cost)
        return f"""
            WITH labelled AS (
                SELECT {class_of(quasi_identifiers)} AS class, count(*) AS size{labels}
                FROM release GROUP BY ALL),
            priced AS (
                SELECT labelled.class, {people} AS people, {lost} AS lost, {most} AS most
                FROM labelled {population} {joins})
            SELECT class,
                {self.publisher_benefit!r} * (1 - CASE WHEN most = 0 THEN 0 ELSE lost / most END)
                - CASE WHEN {gain} * {cost_of} > {cost} * {gain_of} * people
                    THEN {self.publisher_loss!r} / people ELSE 0 END AS value,
                value > {TOLERANCE * self.publisher_benefit!r} AS holds
            FROM priced"""


class ProsecutorProfitability(Profitability):
    """The attacker knows that his victim is in the release and guesses among the rows of a class."""

    name = "prosecutor-profitability"
    cites = ("wan2015",)

    @property
    def promise(self) -> str:
        return (
            "Publishing each row of the release brings the publisher more than it costs him, even if an "
            "attacker who knows that his victim is in it tries whatever pays."
        )

    def look_alikes(self, classes: Classes) -> Counts:
        return classes.sizes

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return self.sql_payout(quasi_identifiers, "size")


class JournalistProfitability(Profitability):
    """The attacker does not know who is in the release and guesses among the population of a class."""

    name = "journalist-profitability"
    cites = ("wan2015",)
    looks_beyond_release = True

    @property
    def promise(self) -> str:
        return (
            "Publishing each row of the release brings the publisher more than it costs him, even if an "
            "attacker who does not know who is in it tries whatever pays."
        )

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        if tuples.population is None:
            raise ParameterError.because(missing_population(self))

    def look_alikes(self, classes: Classes) -> Counts:
        return population_of(self, classes)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return self.sql_payout(quasi_identifiers, "population.n", "LEFT JOIN population USING (class)")
