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

import itertools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from msgspec.structs import force_setattr

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.loss.aggregate import AggregateFunction, Weighting
from tarnkappe.loss.grid import Grid
from tarnkappe.schema import MOST_NAMES, Name, NotNegative, Parameters, fields_of, param
from tarnkappe.table import Classes, ClassState, Column, Tuples

Charges = npt.NDArray[np.float64]
"""A number for each class."""

DIGITS = 9
"""Losses of columns that agree in so many digits after the point are equal where they are ranked."""


class Loss(Parameters, tag_field="name"):
    """An information loss with its parameters."""

    name: ClassVar[str]
    data_independent: ClassVar[bool] = False
    """Whether the levels alone determine the loss."""
    considers_suppression: ClassVar[bool]
    """Whether suppressed rows are charged for: suppression may raise the loss above that of the same state
    with every class kept, and never lowers it unless the loss may prefer suppression. Otherwise it never
    raises the loss."""

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Instances for the common tests.

        They are tried on tables with the quasi-identifier 'a', up to two more, and the columns
        'disease' and 'treatment' (text).
        """
        return (cls(),)

    @abstractmethod
    def __call__(self, state: ClassState) -> float:
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

    def lower_bound(self, state: ClassState, *, least_size: int = 1) -> float | None:
        """A number that neither this state nor any generalization of it goes below, if one is known.

        It must hold whichever classes are suppressed, so that a search may skip everything above a
        state whose bound exceeds the best loss found.

        Args:
            state: classes, and which of them are kept.
            least_size: a number of rows below which no class is kept, here or above.
        """
        del least_size
        classes = state.classes
        return self.lower_bound_at(classes.tuples, classes.quasi_identifiers, classes.levels)

    def lower_bound_at(
        self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]
    ) -> float | None:
        """Such a number from the levels alone: it tells before any row is grouped."""
        return None

    def lower_bounds(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[range]) -> Grid | None:
        """Such a number for every combination of some levels."""
        if self.lower_bound_at(tuples, columns, [chosen[0] for chosen in levels]) is None:
            return None
        every = itertools.product(*levels)
        bounds = np.array([self.lower_bound_at(tuples, columns, node) for node in every], np.float64)
        return bounds.reshape([len(chosen) for chosen in levels])

    def lower_bounds_below(
        self, state: ClassState, levels: Sequence[range], *, least_size: int = 1
    ) -> Grid | None:
        """What is lost at least at each combination of some levels, none above those of a state; if known.

        It must hold whatever is kept at those levels, as long as it is no row of a class that is not kept
        in the state, and no class of fewer rows than `least_size`. A criterion on classes or groups that is
        monotone with suppression keeps no such row: a class kept at lower levels lies in a class of the state
        that is good, else generalization would have spoiled it. So one test says something of all nodes
        below it; other than with `lower_bound`, nothing follows for what lies above these.

        Args:
            state: classes, and which of them may still hold rows that are kept.
            levels: for each quasi-identifier, levels up to that of the state.
            least_size: a number of rows below which no class is kept at these levels.
        """
        return None

    def ranks(self, state: ClassState) -> tuple[float, ...]:
        """By what states of equal loss are compared, the first that differs decides; mostly nothing."""
        del state
        return ()

    @property
    def has_ranks(self) -> bool:
        """Whether states of equal loss may still differ in their `ranks`."""
        return False

    def charges(self, classes: Classes) -> Charges | None:
        """What suppressing each class adds to the loss, where that adds up over classes; else None.

        Then the loss of a state is that of all classes kept, plus the charges of the suppressed ones. None of
        them is negative.
        """
        del classes
        return None

    @property
    def measures_cells(self) -> bool:
        """Whether the loss is defined cell by cell or class by class.

        Then it also measures a release in which the cells of a column are at different levels. Where the
        loss counts the labels of suppressed rows, these are taken to be at the top.
        """
        return False

    @property
    def may_prefer_suppression(self) -> bool:
        """Whether a row may cost less suppressed than kept."""
        return False

    @property
    def charge_grows_downward(self) -> bool:
        """Whether what suppressed rows add to the loss (of a column) with all rows kept grows downward.

        That is, wherever no label is more general than in some state and all its suppressed rows are
        suppressed, maybe more, suppression adds at least as much as there.
        """
        return False

    @property
    def suppression_may_pay(self) -> bool:
        """Whether the loss may fall if a class is suppressed that might be kept."""
        return self.may_prefer_suppression

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        """The columns, or combinations of columns, whose values the loss counts in each class."""
        return ()

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        """Refuse what cannot work on this table."""
        for names in self.distributions:
            for name in names:
                if name not in tuples.columns:
                    raise ColumnError(
                        "loss.table-no-column",
                        "{what}: the table has no column '{name}'",
                        what=self,
                        name=name,
                    )

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, as a job file would give them."""
        return {
            f.name: value for f in fields_of(type(self)) if (value := getattr(self, f.name)) not in (None, {})
        }

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v}' for k, v in self.parameters.items())})"


class ColumnLoss(Loss, kw_only=True):
    """A loss that is measured column by column."""

    default_aggregate: ClassVar[AggregateFunction] = AggregateFunction.MEAN

    weights: Annotated[
        Mapping[Name, NotNegative],
        param(
            "how much each column matters; columns that are not named count 1",
            kind="columns",
            max_length=MOST_NAMES,
        ),
    ] = {}
    aggregate: Annotated[
        AggregateFunction | None, param("how the losses of the columns become one number")
    ] = None
    weighting: Annotated[
        Weighting | None,
        param("whether weights are shares, or factors that are divided by the greatest; shares if not said"),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.aggregate is None:
            force_setattr(self, "aggregate", self.default_aggregate)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (
            cls(),
            cls(weights={"a": 2.5}),
            cls(weights={"a": 0.5}, aggregate=AggregateFunction.GEOMETRIC_MEAN),
            cls(aggregate=AggregateFunction.MAXIMUM),
            cls(weights={"a": 0.5}, aggregate=AggregateFunction.GEOMETRIC_MEAN, weighting=Weighting.FACTOR),
        )

    @abstractmethod
    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        """The loss of one column at a level while every row is kept."""

    def by_column(self, state: ClassState) -> list[float]:
        """The loss of each quasi-identifier; a loss that considers suppression extends this."""
        classes = state.classes
        return self._all_kept(classes.tuples, classes.quasi_identifiers, classes.levels)

    def __call__(self, state: ClassState) -> float:
        return self.combine(self.by_column(state), state.classes.quasi_identifiers)

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        bounds = zip(columns, levels, strict=True)
        return self.combine([self.bound_of_column(tuples, c, level) for c, level in bounds], columns)

    def lower_bounds(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[range]) -> Grid:
        bounds = [
            [self.bound_of_column(tuples, column, level) for level in chosen]
            for column, chosen in zip(columns, levels, strict=True)
        ]
        return self._over_levels(bounds, columns)

    def bound_of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        """What a column loses at least, at this level or above, whichever rows are suppressed.

        The loss while every row is kept is such a bound if a column never loses less at a higher level,
        and never less by suppression.
        """
        return self.of_column(tuples, column, level)

    def lower_bounds_below(
        self, state: ClassState, levels: Sequence[range], *, least_size: int = 1
    ) -> Grid | None:
        """The loss of each column with all rows kept, and what suppression adds to it in the state.

        Every aggregate grows with the loss of every column.
        """
        del least_size
        if not self.charge_grows_downward or state.suppressed_rows == 0:
            return None
        charges = self._added_by_suppression(state)
        tuples, columns = state.classes.tuples, state.classes.quasi_identifiers
        bounds = [
            [self.of_column(tuples, column, level) + max(charge, 0.0) for level in chosen]
            for column, chosen, charge in zip(columns, levels, charges, strict=True)
        ]
        return self._over_levels(bounds, columns)

    def _added_by_suppression(self, state: ClassState) -> list[float]:
        classes = state.classes
        kept = self._all_kept(classes.tuples, classes.quasi_identifiers, classes.levels)
        return [loss - level for loss, level in zip(self.by_column(state), kept, strict=True)]

    @property
    def has_ranks(self) -> bool:
        """Whether the loss is the first of a vector."""
        return self.aggregate is AggregateFunction.RANK

    def ranks(self, state: ClassState) -> tuple[float, ...]:
        """The weighted losses of the columns, the greatest first, to the digits in which losses are compared.

        Where no column loses less in one state than in another, no place of its sorted losses is smaller:
        what excludes a node by its columns excludes it here, too.
        """
        if not self.has_ranks:
            return ()
        columns = state.classes.quasi_identifiers
        weights = self._factors(columns) if self.multiplies else self._weights(columns)
        weighted = (value * weight for value, weight in zip(self.by_column(state), weights, strict=True))
        return tuple(sorted((round(value, DIGITS) for value in weighted), reverse=True))

    def combine(self, values: Sequence[float], columns: Sequence[Column]) -> float:
        """One number for the losses of the columns."""
        if self.multiplies:
            return self._aggregate.of_multiplied(values, self._factors(columns))
        return self._aggregate.of(values, self._weights(columns))

    @property
    def multiplies(self) -> bool:
        """Whether weights are factors of the losses of the columns."""
        return self.weighting is Weighting.FACTOR

    def _over_levels(self, values: Sequence[Sequence[float]], columns: Sequence[Column]) -> Grid:
        if not self.multiplies:
            return self._aggregate.over_levels(values, self._weights(columns))
        factors = self._factors(columns)
        scaled = [[value * factor for value in own] for own, factor in zip(values, factors, strict=True)]
        return self._aggregate.over_levels(scaled, [1.0] * len(columns))

    def _factors(self, columns: Sequence[Column]) -> list[float]:
        weights = self._weights(columns)
        greatest = max(weights, default=0.0)
        return [weight / greatest for weight in weights] if greatest else [1.0] * len(weights)

    @property
    def _aggregate(self) -> AggregateFunction:
        return AggregateFunction(self.aggregate or self.default_aggregate)

    def _weights(self, columns: Sequence[Column]) -> list[float]:
        if not self.weights:
            return [1.0] * len(columns)
        self._require_columns([column.name for column in columns])
        return [self.weights.get(column.name, 1.0) for column in columns]

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self._require_columns(quasi_identifiers)

    def _all_kept(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> list[float]:
        return [self.of_column(tuples, column, level) for column, level in zip(columns, levels, strict=True)]

    def _require_columns(self, names: Sequence[str]) -> None:
        for column in self.weights:
            if column not in names:
                raise ParameterError(
                    "loss.no-quasi-identifier-weigh",
                    "{name}: there is no quasi-identifier '{column}' to weigh",
                    name=self.name,
                    column=column,
                )
