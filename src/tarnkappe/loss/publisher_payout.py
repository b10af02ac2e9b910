"""Publisher payout: what a publisher gains less than he might, rational attackers taken into account."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Self

import numpy as np
import numpy.typing as npt

from tarnkappe.loss.entropy_based import mean_share_left_open, shares_left_open
from tarnkappe.loss.factor import FACTOR, prices
from tarnkappe.loss.measure import Loss
from tarnkappe.schema import NotNegative, Positive, Share, param
from tarnkappe.table import Classes, ClassState, Column, Tuples


class PayoutAttacker(StrEnum):
    """Who guesses."""

    PROSECUTOR = "prosecutor"
    """Somebody who knows that his victim is in the table."""
    JOURNALIST = "journalist"
    """Somebody who does not, and so guesses among the population, where one is given."""


class PublisherPayout(Loss):
    """The sum over all rows of what their release pays less than that of untouched rows without a risk would
    (Wan et al. 2015, https://doi.org/10.1371/journal.pone.0120592).

    A kept row of a class pays B (1 - IL) - P p if an attack on it pays, that is if G p > C, and
    B (1 - IL) otherwise; B is `publisher_benefit`, P `publisher_loss`, G `adversary_gain`, C
    `adversary_cost`, IL the share of information lost as in `entropy-based`, and p = 1 / the people
    among whom an attacker guesses. A row loses B - payout, a suppressed one B. A `factor` f multiplies
    kept rows by g = min(1, 2 - 2f) and suppressed ones by s = min(1, 2f).

    Not monotone, even without suppression: generalization may end that an attack pays.

    Lower bound: the sum of min(g B IL, s B), as if no attack paid; generalization lowers no IL. From the
    levels: min(g, s) B x the sum of IL.
    """

    name = "publisher-payout"
    cites = ("wan2015",)
    considers_suppression = True

    publisher_benefit: Annotated[
        Positive, param("what the release of one untouched row is worth", unit="money")
    ] = 1200.0
    publisher_loss: Annotated[
        NotNegative, param("what an attack on one person costs the publisher", unit="money")
    ] = 300.0
    adversary_gain: Annotated[NotNegative, param("what an attacker gains from one person", unit="money")] = (
        300.0
    )
    adversary_cost: Annotated[
        NotNegative, param("what an attack on one person costs the attacker", unit="money")
    ] = 4.0
    attacker: Annotated[PayoutAttacker, param("whether he knows that his victim is in the table")] = (
        PayoutAttacker.PROSECUTOR
    )
    factor: Annotated[Share | None, param(FACTOR, kind="share")] = None

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (
            cls(10.0, 1000.0, 300.0, 100.0),
            cls(10.0, 1000.0, 300.0, 100.0, PayoutAttacker.JOURNALIST),
            cls(20.0, 900.0, 300.0, 140.0, factor=0.75),
        )

    @property
    def measures_cells(self) -> bool:
        return True

    @property
    def may_prefer_suppression(self) -> bool:
        of_suppression, of_generalization = prices(self.factor)
        worst = self.publisher_benefit + self.publisher_loss
        return of_suppression * self.publisher_benefit < of_generalization * worst

    def __call__(self, state: ClassState) -> float:
        of_suppression, of_generalization = prices(self.factor)
        classes = state.classes
        lost = self.publisher_benefit * shares_left_open(classes) + self._expected_damage(classes)
        kept = float((classes.sizes * lost) @ state.kept)
        return of_generalization * kept + of_suppression * state.suppressed_rows * self.publisher_benefit

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return False

    def lower_bound(self, state: ClassState, *, least_size: int = 1) -> float:
        del least_size
        of_suppression, of_generalization = prices(self.factor)
        least = np.minimum(of_generalization * shares_left_open(state.classes), of_suppression)
        return float(state.classes.sizes @ least) * self.publisher_benefit

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        share = mean_share_left_open(tuples, columns, levels)
        return min(prices(self.factor)) * self.publisher_benefit * tuples.num_rows * share

    def _expected_damage(self, classes: Classes) -> npt.NDArray[np.float64]:
        """P p where an attack on a row of a class pays; compared in whole rows, G > C x rows."""
        among = classes.sizes
        if self.attacker is PayoutAttacker.JOURNALIST and classes.population is not None:
            among = classes.population
        people = np.maximum(among, 1)
        return np.where(self.adversary_gain > self.adversary_cost * people, self.publisher_loss / people, 0.0)
