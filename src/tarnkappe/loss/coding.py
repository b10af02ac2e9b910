"""The coding model: whether a release should rather generalize or rather suppress."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Self

import numpy as np

from tarnkappe.loss.aggregate import AggregateFunction
from tarnkappe.loss.measure import Charges, ColumnLoss
from tarnkappe.schema import Share, param
from tarnkappe.table import Classes, ClassState, Column, Tuples


class CodedLoss(ColumnLoss, kw_only=True):
    """A loss in which every kept cell loses a share from 0 to 1 of what it told, and a suppressed cell all.

    The coding model c, from 0 to 1, sets the price of either. With g = min(1, 2 - 2c) and s = min(1, 2c), a
    column loses (g x the sum over its kept cells of the share + s u) / m. At 0.5, the default, both count in
    full. Below it suppression is cheaper (at 0 it costs nothing, so everything would be suppressed that
    the limit allows), above it generalization is (at 1 only suppressed rows count).

    Monotone only without suppression, where a column loses g x its mean share: with it, a generalization may
    save rows that were charged for.

    Lower bound: the mean over all cells of min(g x share, s). A cell is charged one of the two, and a
    generalization has no smaller share of any cell.

    Below a state: where suppression is not the cheaper one, a suppressed cell adds s - g x share >= 0 to what
    the column loses with all rows kept. At lower levels the share is no greater and no fewer rows are
    suppressed, so no less is added.
    """

    considers_suppression = True

    coding_model: Annotated[
        Share, param("whether to rather suppress (0) or rather generalize (1)", kind="share")
    ] = 0.5

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (*super().examples(), cls(coding_model=0.2), cls(coding_model=0.8))

    @property
    def may_prefer_suppression(self) -> bool:
        return self.price_of_suppression < self.price_of_generalization

    @property
    def charge_grows_downward(self) -> bool:
        return not self.may_prefer_suppression

    @property
    def price_of_generalization(self) -> float:
        """What a kept cell that tells nothing any more is charged."""
        return min(1.0, 2 * (1 - self.coding_model))

    @property
    def price_of_suppression(self) -> float:
        """What a suppressed cell is charged."""
        return min(1.0, 2 * self.coding_model)

    @abstractmethod
    def mean_share(self, tuples: Tuples, column: Column, level: int, most: float = 1.0) -> float:
        """The mean over all rows of what a cell loses at a level, no cell counted with more than `most`."""

    @abstractmethod
    def kept_shares(self, state: ClassState) -> list[float]:
        """For each column, the sum over the kept cells of what they lose."""

    def class_shares(self, classes: Classes) -> list[Charges] | None:
        """For each column, what a cell of each class loses if it is kept; None if that is not known."""
        del classes
        return None

    def charges(self, classes: Classes) -> Charges | None:
        """Where columns are added up, a class of n rows is charged n (s - g x its share) / m in each."""
        adds = self.aggregate in (AggregateFunction.SUM, AggregateFunction.MEAN) and not self.multiplies
        shares = self.class_shares(classes) if adds and not self.may_prefer_suppression else None
        if shares is None:
            return None
        columns = classes.quasi_identifiers
        total = np.zeros(classes.num_classes)
        for index, share in enumerate(shares):
            alone = self.combine([float(other == index) for other in range(len(columns))], columns)
            total += alone * (self.price_of_suppression - self.price_of_generalization * share)
        return total * classes.sizes / classes.num_rows

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        return self.price_of_generalization * self.mean_share(tuples, column, level)

    def by_column(self, state: ClassState) -> list[float]:
        suppressed, rows = state.suppressed_rows, state.classes.num_rows
        if suppressed == 0:
            return super().by_column(state)
        charge = self.price_of_suppression * suppressed
        return [(self.price_of_generalization * share + charge) / rows for share in self.kept_shares(state)]

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression

    def bound_of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        if not self.may_prefer_suppression:
            return self.of_column(tuples, column, level)
        # Here a kept cell is charged its share.
        return self.mean_share(tuples, column, level, self.price_of_suppression)
