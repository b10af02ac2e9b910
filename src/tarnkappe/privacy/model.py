"""What a privacy model is: the contract that every file in this folder fulfils.

A model looks at the equivalence classes of a table (`Classes`) and says, for each, what it measures
and whether the class may be released. It states what it promises, whether the promise survives
further generalization with and without suppression (searches prune only where it does), which
simpler criteria it implies, and how to verify it in SQL from the released values alone.

The common tests in `tests/privacy/test_battery.py` check every statement of every model in the
registry: the measurement against SQL, the monotonicity and the implied criteria by exhaustive search
over small lattices.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ColumnError, ParameterError, Reason
from tarnkappe.privacy.requiring import require
from tarnkappe.schema import MOST_NAMES, Name, Parameters, Problem, fields_of, near, param, rule, shown
from tarnkappe.table import Classes, Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts, group_codes, sort_pairs_by_group

Measure = npt.NDArray[np.float64]


class Direction(StrEnum):
    """How a measured value must compare with the bound of a model."""

    AT_LEAST = "at least"
    MORE_THAN = "more than"
    AT_MOST = "at most"
    LESS_THAN = "less than"

    @property
    def high_is_good(self) -> bool:
        """Whether larger values keep the promise."""
        return self in (Direction.AT_LEAST, Direction.MORE_THAN)

    def worst(self, values: Measure) -> float:
        """The value that is nearest to breaking the promise (or breaks it most)."""
        if len(values) == 0:
            return float("nan")
        return float(values.min() if self.high_is_good else values.max())


class ModelScope(StrEnum):
    """What it depends on whether a class may be released."""

    CLASS = "class"
    """On the class alone."""
    GROUP = "group"
    """On the released classes that agree with it in some of the quasi-identifiers."""
    TABLE = "table"
    """On all released classes."""


@dataclasses.dataclass(frozen=True)
class Monotonicity:
    """Whether every generalization of a satisfying state satisfies the model too, and why.

    Attributes:
        without_suppression: when no row may be suppressed.
        with_suppression: when some rows may be suppressed.
        reason: the argument, for the reader of a report.
    """

    without_suppression: bool
    with_suppression: bool
    reason: str

    def holds(self, suppression: bool) -> bool:
        """Whether the model is monotone in this setting."""
        return self.with_suppression if suppression else self.without_suppression


class Model(Parameters, tag_field="model"):
    """A privacy model with its parameters."""

    name: ClassVar[str]
    direction: ClassVar[Direction]
    scope: ClassVar[ModelScope] = ModelScope.CLASS
    looks_beyond_release: ClassVar[bool] = False
    """Whether it counts people who are not in the release, in a population that is given or assumed."""
    measures_labels: ClassVar[bool] = False
    """Whether it depends on how general the labels of the quasi-identifiers are."""

    # ------------------------------------------------------------------ what it says of itself

    @classmethod
    @abstractmethod
    def examples(cls) -> tuple[Model, ...]:
        """Instances for the common tests.

        They are tried on tables with the sensitive columns 'disease' and 'treatment' (text, 'disease'
        with a hierarchy of two levels), 'income' (whole numbers) and a population.
        """

    @property
    @abstractmethod
    def promise(self) -> str:
        """What the model promises, in a sentence for a lay reader."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """The value with which the measured one is compared."""

    @property
    @abstractmethod
    def monotonicity(self) -> Monotonicity:
        """When further generalization keeps the promise."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, as a job file would give them."""
        return {
            f.name: value
            for f in fields_of(type(self))
            if (value := getattr(self, f.name)) is not None and value != ()
        }

    @property
    def parts(self) -> tuple[Model, ...]:
        """The models whose conjunction this one is; most are their only part."""
        return (self,)

    @property
    def suppression_rule(self) -> str:
        """How classes are chosen for suppression, where suppressing others would keep the promise too.

        Empty if there is no choice: what must go is the same in any case. So it is for a model on single
        classes, and for one on groups that more rows never hurt: then a group that breaks the promise
        holds no part that keeps it.
        """
        if self.scope is not ModelScope.GROUP or self.monotonicity.with_suppression:
            return ""
        return "groups of classes that break a promise are suppressed as a whole"

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        """The columns, or combinations of columns, whose values the model counts in each class."""
        return ()

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        """Models that every satisfying class satisfies too and that are monotone even with suppression."""
        return ()

    def least_size(self, tuples: Tuples) -> int:
        """A number of rows below which no class meets the model; 1 if none is known."""
        implied = (criterion for criterion in self.sub_criteria(tuples) if criterion != self)
        return max((criterion.least_size(tuples) for criterion in implied), default=1)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        """Refuse what cannot work on this table (a missing column, k larger than the table)."""
        del quasi_identifiers
        for names in self.distributions:
            for name in names:
                if name not in tuples.columns:
                    raise ColumnError(
                        "privacy.table-no-column",
                        "{model}: the table has no column '{name}'",
                        model=self,
                        name=name,
                    )

    # ------------------------------------------------------------------ what it measures

    @abstractmethod
    def measure(self, classes: Classes) -> Measure:
        """The measured value of every class."""

    @abstractmethod
    def holds(self, classes: Classes) -> Mask:
        """Which classes meet the model. Ties with the bound are decided exactly."""

    def keep(self, classes: Classes, kept: Mask) -> Mask:
        """Of the classes kept so far, those that may be released."""
        return kept & self.holds(classes)

    def irreparable(self, classes: Classes) -> bool:
        """Whether the state breaks the promise in a way that no suppression can repair."""
        return False

    def value(self, classes: Classes, kept: Mask) -> float:
        """The measured value of the whole release: the worst over the classes kept."""
        return self.direction.worst(self.measure(classes)[kept])

    @abstractmethod
    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        """A query that verifies the model from released values: rows (class, value, holds).

        It may use these relations:

        - `classes(class, size)`: the classes of the release; a model with `given` columns sees the
          classes divided by them;
        - `counts(class, value, n)`: the values of the model's column in each class, as text, without
          suppressed cells; a missing value is the text '(missing)';
        - `totals(value, n, rank, number)`: the values of that column in the whole input, with their
          position in ascending order (from 1) and, for numbers, the number;
        - `levels(value, level, label)`: the generalization of that column, levels 1 to its height;
        - `leaves(name, label, n, domain)`: for each quasi-identifier and each of its labels, how many
          values of its hierarchy lie under the label and how many the whole hierarchy has;
        - `population(class, n)`: the classes of the population with their rows;
        - `input_size(n)`: how many rows the input has;
        - `release`: the released table with its own column names.
        """

    @property
    def functions(self) -> Mapping[str, Callable[[list[int], int], float]]:
        """Functions that the query may call where SQL has no words for a computation, by name.

        Each takes the sizes of the released classes and the number of rows of the input.
        """
        return {}

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v}' for k, v in self.parameters.items())})"


class GivenColumns(Model, kw_only=True):
    """A model that may take other sensitive columns as known to the attacker."""

    given: Annotated[
        tuple[Name, ...],
        param("other sensitive columns that the attacker knows", kind="columns", max_length=MOST_NAMES),
    ] = ()


class SensitiveModel(GivenColumns):
    """A model on the values of one sensitive column within each class.

    With `given`, the other sensitive columns named there are taken as known to the attacker: each
    class is divided by their values and every division must meet the model.
    """

    column: Annotated[Name, param("the sensitive column", kind="column")]

    def rules(self) -> Iterator[Problem]:
        """The column is not among those that are given."""
        if self.column in self.given:
            yield rule(
                "model.given-to-itself",
                "the column {column} cannot be given to itself",
                "given",
                column=shown(self.column),
            )

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        """The sensitive column, together with the given ones."""
        return ((self.column, *self.given),)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        """Refuse also a sensitive column without a single value."""
        super().check(tuples, quasi_identifiers)
        self.require_values(tuples, 1)

    def whole(self, tuples: Tuples) -> Distribution:
        """The distribution of the sensitive column in the whole table, as one class."""
        return tuples.classes((), distributions=[(self.column,)]).distributions[self.column,]

    def require_values(self, tuples: Tuples, least: int) -> None:
        """Refuse a demand for more different values than the column has."""
        there = int(np.count_nonzero(self.whole(tuples).totals))
        require(
            there >= least,
            "privacy.needs-classes-least-different",
            "{model} needs classes with at least {least} different values of '{column}', but the whole "
            "table has only {there}: ask for less",
            model=self,
            least=least,
            column=self.column,
            there=there,
        )

    def require_known(self, tuples: Tuples, values: Iterable[str]) -> None:
        """Refuse values that do not occur in the column."""
        whole = self.whole(tuples)
        known = [label for label, n in zip(whole.column.labels, whole.totals, strict=True) if n]
        for value in values:
            if value not in known:
                meant = near(value, known)
                hint = (
                    Reason("schema.colon-meant", ": did you mean '{meant}'?", meant=meant[0]) if meant else ""
                )
                raise ParameterError(
                    "privacy.column-no-value",
                    "{model}: the column '{column}' has no value '{value}'{hint}",
                    model=self,
                    column=self.column,
                    value=value,
                    hint=hint,
                )

    @abstractmethod
    def measure_values(self, distribution: Distribution) -> Measure:
        """The measured value of each class, from the counts of its sensitive values."""

    @abstractmethod
    def values_hold(self, distribution: Distribution) -> Mask:
        """Which classes meet the model, from the counts of their sensitive values."""

    def values_keepable(self, distribution: Distribution) -> Counts | None:
        """How many rows of each class can be kept at most, if that is known (see `keepable.py`)."""
        return None

    def measure(self, classes: Classes) -> Measure:
        """The measured value of every class; of a divided class, the worst of its divisions."""
        distribution, parents = self._divided(classes)
        measured = self.measure_values(distribution)
        if parents is None:
            return measured
        high_is_good = self.direction.high_is_good
        worst = np.full(classes.num_classes, np.inf if high_is_good else -np.inf)
        (np.minimum if high_is_good else np.maximum).at(worst, parents, measured)
        return worst

    def holds(self, classes: Classes) -> Mask:
        """Which classes meet the model in all their divisions; one without any visible value fails."""
        distribution, parents = self._divided(classes)
        good = self.values_hold(distribution)
        visible = classes.distributions[self.column, *self.given].sizes > 0
        if parents is None:
            return good & visible
        np.logical_and.at(visible, parents, good)
        return visible

    def _divided(self, classes: Classes) -> tuple[Distribution, npt.NDArray[np.int32] | None]:
        distribution = classes.distributions[self.column, *self.given]
        return divide(distribution) if self.given else (distribution, None)


def divide(joint: Distribution) -> tuple[Distribution, npt.NDArray[np.int32]]:
    """Divide classes by the given columns of a joint distribution.

    Returns the distribution of the first column in each division, and the class of each division.
    """
    (column, value_codes), *given = joint.column.parts
    entry_class = joint.class_of_entry
    keys = [entry_class, *(codes[joint.codes] for _, codes in given)]
    divisions = group_codes(keys, [joint.num_classes, *(c.cardinality for c, _ in given)])
    order, offsets = sort_pairs_by_group(divisions.ids, divisions.num_groups)
    totals = np.zeros(column.cardinality, dtype=np.int64)
    np.add.at(totals, value_codes, joint.totals)
    distribution = Distribution(
        column=column,
        totals=totals,
        offsets=offsets,
        codes=value_codes[joint.codes][order],
        counts=joint.counts[order],
    )
    return distribution, entry_class[divisions.representatives]


def entries_of(distribution: Distribution, index: int) -> tuple[tuple[int, int], ...]:
    """The codes of one class with their counts, as whole numbers of any size."""
    entries = slice(distribution.offsets[index], distribution.offsets[index + 1])
    return tuple(
        zip(distribution.codes[entries].tolist(), distribution.counts[entries].tolist(), strict=True)
    )


def as_names(names: str | Iterable[object]) -> tuple[str, ...]:
    """One name or several (of columns or values) as a tuple of text."""
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def literal(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def other_rows(number: int) -> str:
    """So many other rows, in words.

    >>> other_rows(1), other_rows(4)
    ('1 other row', '4 other rows')
    """
    return f"{number} other row{'' if number == 1 else 's'}"


def others(number: int) -> str:
    """So many other people, in words.

    >>> others(1), others(4)
    ('1 other', '4 others')
    """
    return f"{number} other{'' if number == 1 else 's'}"
