"""What an information loss is: the contract that every file in this folder fulfils.

A loss looks at a state (classes and which of them are kept) and returns a number, lower being better.
It states when it is monotone (never falls along a generalization), whether it depends on the data or
on the levels alone, whether it charges for suppressed rows, and a bound below which no generalization
can fall. Searches prune by these statements and the common tests in `tests/loss/test_battery.py` check
them on random small lattices.

In the formulas of this folder, m is the number of rows of the input, n the number of quasi-identifiers,
u the number of suppressed rows, E an equivalence class and |E| its rows.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar, Self

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.privacy.model import require_number
from tarnkappe.table import Column, State, Tuples


class Aggregate(StrEnum):
    """How the losses of the columns become one number.

    Every aggregate grows with the loss of every column, so what is monotone or a lower bound column by
    column is so for the whole, whatever the weights. Sums are rounded once, so the order of the columns
    does not matter.
    """

    SUM = "sum"
    MEAN = "mean"
    GEOMETRIC_MEAN = "geometric-mean"
    """The geometric mean of 1 + x, minus 1; a column without loss does not hide the others."""
    MAXIMUM = "maximum"

    def of(self, values: Sequence[float], weights: Sequence[float]) -> float:
        """The aggregate; a weight of 2 counts a column twice, a weight of 0 not at all.

        >>> Aggregate.MEAN.of([0.0, 1.0], [3.0, 1.0])
        0.25
        >>> Aggregate.GEOMETRIC_MEAN.of([0.0, 3.0], [1.0, 1.0])
        1.0
        """
        if self is Aggregate.SUM:
            return math.fsum(v * w for v, w in zip(values, weights, strict=True))
        if self is Aggregate.MAXIMUM:
            return max((v * w for v, w in zip(values, weights, strict=True)), default=0.0)
        total = math.fsum(weights)
        if total == 0:
            return 0.0
        if self is Aggregate.MEAN:
            return math.fsum(v * w for v, w in zip(values, weights, strict=True)) / total
        return math.expm1(math.fsum(math.log1p(v) * w for v, w in zip(values, weights, strict=True)) / total)


@dataclasses.dataclass(frozen=True)
class Loss(ABC):
    """An information loss with its parameters."""

    name: ClassVar[str]
    data_independent: ClassVar[bool] = False
    """Whether the levels alone determine the loss."""
    considers_suppression: ClassVar[bool]
    """Whether suppressed rows are charged for: suppression may raise the loss above that of the same state
    with every class kept, and never lowers it. Otherwise it never raises the loss."""

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Instances for the common tests.

        They are tried on tables with the quasi-identifier 'a', up to two more, and the columns
        'disease' and 'treatment' (text).
        """
        return (cls(),)

    @abstractmethod
    def __call__(self, state: State) -> float:
        """The loss of a state; lower is better."""

    @abstractmethod
    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        """Whether no satisfying generalization of a satisfying state has a smaller loss.

        When the criterion is monotone with suppression, a loss may rely on this: take the classes of the
        generalization that contain a row that was kept. At least as many are kept, and the kept ones are,
        from the largest down, no smaller than those. A criterion on classes keeps just these and maybe
        more: were a class A good and its union with B bad, then the table of A and B alone would satisfy
        it with |B| rows to suppress and after merging would not. A criterion on the table as a whole
        suppresses the smallest classes first, as few as will do.

        Args:
            criterion_monotone: whether the privacy models are monotone in this setting.
            suppression: whether rows may be suppressed.
        """

    def lower_bound(self, state: State) -> float | None:
        """A number that neither this state nor any generalization of it goes below, if one is known.

        It must hold whichever classes are suppressed, so that a search may skip everything above a
        state whose bound exceeds the best loss found.
        """
        classes = state.classes
        return self.lower_bound_at(classes.tuples, classes.quasi_identifiers, classes.levels)

    def lower_bound_at(
        self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]
    ) -> float | None:
        """Such a number from the levels alone: it tells before any row is grouped."""
        return None

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        """The columns, or combinations of columns, whose values the loss counts in each class."""
        return ()

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        """Refuse what cannot work on this table."""
        for names in self.distributions:
            for name in names:
                if name not in tuples.columns:
                    raise ColumnError(f"{self}: the table has no column '{name}'")

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
            require_number(self.name, f"weight of '{column}'", weight, 0)
        try:
            chosen = Aggregate(self.aggregate or self.default_aggregate)
        except ValueError:
            known = ", ".join(Aggregate)
            raise ParameterError(f"{self.name}: unknown aggregate '{self.aggregate}': use {known}") from None
        object.__setattr__(self, "aggregate", chosen)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (
            cls(),
            cls(weights={"a": 2.5}),
            cls(weights={"a": 0.5}, aggregate=Aggregate.GEOMETRIC_MEAN),
            cls(aggregate=Aggregate.MAXIMUM),
        )

    @abstractmethod
    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        """The loss of one column at a level while every row is kept."""

    def by_column(self, state: State) -> list[float]:
        """The loss of each quasi-identifier; a loss that considers suppression extends this."""
        classes = state.classes
        return self._all_kept(classes.tuples, classes.quasi_identifiers, classes.levels)

    def __call__(self, state: State) -> float:
        return self.combine(self.by_column(state), state.classes.quasi_identifiers)

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        """The loss while every row is kept.

        It is a bound for a loss whose columns never lose less at a higher level, and never less by
        suppression, than they do at this level with every row kept.
        """
        return self.combine(self._all_kept(tuples, columns, levels), columns)

    def combine(self, values: Sequence[float], columns: Sequence[Column]) -> float:
        """One number for the losses of the columns."""
        weights = [1.0] * len(columns)
        if self.weights:
            self._require_columns([column.name for column in columns])
            weights = [self.weights.get(column.name, 1.0) for column in columns]
        return Aggregate(self.aggregate or self.default_aggregate).of(values, weights)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self._require_columns(quasi_identifiers)

    def _all_kept(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> list[float]:
        return [self.of_column(tuples, column, level) for column, level in zip(columns, levels, strict=True)]

    def _require_columns(self, names: Sequence[str]) -> None:
        for column in self.weights:
            if column not in names:
                raise ParameterError(f"{self.name}: there is no quasi-identifier '{column}' to weigh")
