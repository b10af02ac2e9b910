"""What an information loss is: the contract that every file in this folder fulfils.

A loss looks at a state (classes and which of them are kept) and returns a number, lower being better.
It states when it is monotone (never falls along a generalization), whether it depends on the data or
on the levels alone, and whether it charges for suppressed rows. Searches prune by these statements and
the common tests in `tests/loss/test_battery.py` check them on random small lattices.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ParameterError
from tarnkappe.table import State

PerColumn = npt.NDArray[np.float64]


class Aggregate(StrEnum):
    """How the losses of the columns become one number."""

    SUM = "sum"
    MEAN = "mean"
    GEOMETRIC_MEAN = "geometric-mean"
    MAXIMUM = "maximum"

    def of(self, values: PerColumn, weights: PerColumn) -> float:
        """The aggregate; a weight of 2 counts a column twice, a weight of 0 not at all."""
        if self is Aggregate.SUM:
            return float((values * weights).sum())
        if self is Aggregate.MAXIMUM:
            return float((values * weights).max(initial=0.0))
        if weights.sum() == 0:
            return 0.0
        if self is Aggregate.MEAN:
            return float((values * weights).sum() / weights.sum())
        return float(np.exp((np.log1p(values) * weights).sum() / weights.sum()) - 1.0)


@dataclasses.dataclass(frozen=True)
class Loss(ABC):
    """An information loss with its parameters."""

    name: ClassVar[str]
    data_independent: ClassVar[bool] = False
    """Whether the levels alone determine the loss."""
    considers_suppression: ClassVar[bool]
    """Whether suppressed rows are charged for."""

    @abstractmethod
    def __call__(self, state: State) -> float:
        """The loss of a state; lower is better."""

    @abstractmethod
    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        """Whether no generalization of a satisfying state has a smaller loss.

        Args:
            criterion_monotone: whether the privacy models are monotone in this setting.
            suppression: whether rows may be suppressed.
        """

    def lower_bound(self, state: State) -> float | None:
        """A number that neither this state nor any generalization of it goes below, if one is known.

        It must hold whichever classes are suppressed, so that a search may skip everything above a
        state whose bound exceeds the best loss found.
        """
        return None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, as a job file would give them."""
        return {
            f.name: value
            for f in dataclasses.fields(self)
            if (value := getattr(self, f.name)) not in (None, {})
        }

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v}' for k, v in self.parameters.items())})"


@dataclasses.dataclass(frozen=True)
class ColumnLoss(Loss):
    """A loss that is measured column by column.

    Attributes:
        weights: how much each column matters; columns that are not named count 1.
        aggregate: how the columns become one number.
    """

    default_aggregate: ClassVar[Aggregate] = Aggregate.MEAN

    weights: Mapping[str, float] = dataclasses.field(default_factory=dict, kw_only=True, hash=False)
    aggregate: Aggregate | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for column, weight in self.weights.items():
            if not weight >= 0:
                raise ParameterError(
                    f"{self.name}: the weight of '{column}' must be at least 0, not {weight}"
                )
        try:
            chosen = Aggregate(self.aggregate or self.default_aggregate)
        except ValueError:
            known = ", ".join(Aggregate)
            raise ParameterError(f"{self.name}: unknown aggregate '{self.aggregate}': use {known}") from None
        object.__setattr__(self, "aggregate", chosen)

    @abstractmethod
    def by_column(self, state: State) -> PerColumn:
        """The loss of each quasi-identifier."""

    def __call__(self, state: State) -> float:
        return self.combine(self.by_column(state), state)

    def combine(self, values: PerColumn, state: State) -> float:
        """One number for the losses of the columns."""
        names = [column.name for column in state.classes.quasi_identifiers]
        for column in self.weights:
            if column not in names:
                raise ParameterError(f"{self.name}: there is no quasi-identifier '{column}' to weigh")
        weights = np.array([self.weights.get(name, 1.0) for name in names], dtype=np.float64)
        return Aggregate(self.aggregate or self.default_aggregate).of(values, weights)
