"""No attack: whoever attacks a released row loses money by it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.privacy.exact import decimal, sql_ratio
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.k_map import missing_population, population_of
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
)
from tarnkappe.schema import NotNegative, Positive, param
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


def safe_size(gain: float, cost: float) -> int:
    """The smallest class that an attack on does not pay: gain / n <= cost.

    >>> safe_size(300, 4), safe_size(0.3, 0.1)
    (75, 3)
    """
    return math.ceil(decimal(gain) / decimal(cost))


class NoAttack(Model):
    """A rational attacker leaves the release alone: no row is worth the attack (Wan et al. 2015).

    An attack on a row costs `adversary_cost` and brings `adversary_gain` if it succeeds, which it does with
    probability 1/n where n people look the same. So an attack does not pay just if n is at least gain / cost,
    and the model is monotone with suppression, as k-anonymity is.
    """

    direction = Direction.AT_MOST

    adversary_gain: Annotated[
        NotNegative, param("what an attacker gains from one person", unit="money", start=300.0)
    ]
    adversary_cost: Annotated[Positive, param("what an attack on one person costs", unit="money", start=4.0)]

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(300, 100), cls(0.3, 0.15))

    @abstractmethod
    def look_alikes(self, classes: Classes) -> Counts:
        """Among how many people an attacker must guess, for each class."""

    @property
    def bound(self) -> float:
        return 0.0

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            True,
            "Generalization only merges classes, so success never becomes likelier for an attacker.",
        )

    def measure(self, classes: Classes) -> Measure:
        """What an attack on a row of each class brings on average, costs deducted."""
        return self.adversary_gain / np.maximum(self.look_alikes(classes), 1) - self.adversary_cost

    def holds(self, classes: Classes) -> Mask:
        return self.look_alikes(classes) >= safe_size(self.adversary_gain, self.adversary_cost)

    def sql_payout(self, people: str) -> str:
        """The columns `value` and `holds`, given an expression for the number of look-alikes, in SQL."""
        (gain, gain_of), (cost, cost_of) = sql_ratio(self.adversary_gain), sql_ratio(self.adversary_cost)
        return (
            f"{self.adversary_gain!r} / {people} - {self.adversary_cost!r} AS value, "
            f"{gain} * {cost_of} <= {cost} * {gain_of} * {people} AS holds"
        )


class ProsecutorNoAttack(NoAttack):
    """The attacker knows that his victim is in the release and guesses among the rows of a class."""

    name = "prosecutor-no-attack"
    cites = ("wan2015",)

    @property
    def promise(self) -> str:
        return (
            "Nobody in the release is worth an attack: an attacker who knows that she is in it, gains "
            f"{self.adversary_gain:g} by finding her and pays {self.adversary_cost:g} for trying, "
            "gains nothing on average."
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (self, KAnonymity(max(1, safe_size(self.adversary_gain, self.adversary_cost))))

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        KAnonymity(max(1, safe_size(self.adversary_gain, self.adversary_cost))).check(
            tuples, quasi_identifiers
        )

    def look_alikes(self, classes: Classes) -> Counts:
        return classes.sizes

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"SELECT class, {self.sql_payout('size')} FROM classes"


class JournalistNoAttack(NoAttack):
    """The attacker does not know who is in the release and guesses among the population of a class."""

    name = "journalist-no-attack"
    cites = ("wan2015",)
    looks_beyond_release = True

    @property
    def promise(self) -> str:
        return (
            "Nobody in the release is worth an attack: an attacker who does not know who is in it, gains "
            f"{self.adversary_gain:g} by finding somebody and pays {self.adversary_cost:g} for trying, "
            "gains nothing on average."
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (self,)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        if tuples.population is None:
            raise ParameterError.because(missing_population(self))

    def look_alikes(self, classes: Classes) -> Counts:
        return population_of(self, classes)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"SELECT class, {self.sql_payout('n')} FROM classes LEFT JOIN population USING (class)"
