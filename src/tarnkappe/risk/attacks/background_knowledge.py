"""Background knowledge: the attacker excludes some values until only one remains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy.distinct_diversity import distinct_values
from tarnkappe.privacy.model import entries_of
from tarnkappe.risk.attacks.attack import Attack, SensitiveAttack
from tarnkappe.risk.attacks.target import Target
from tarnkappe.schema import Problem, Text, param, rule
from tarnkappe.table import SUPPRESSED, Distribution
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Column, Counts
from tarnkappe.table.grouping import group_codes

ANY, NONE = -1, -2
"""Instead of the code of a value: every value will do, or none."""


def exclusions_needed(distribution: Distribution) -> npt.NDArray[np.int64]:
    """How many values an attacker must exclude in each class to learn the value: all but one.

    A class that shows no value (all cells suppressed) gives -1: there is nothing to learn.
    """
    return distinct_values(distribution).astype(np.int64) - 1


def posterior(distribution: Distribution, class_index: int, excluded: Iterable[str]) -> dict[str, Fraction]:
    """How probable each value is for a member of a class once some values are known to be wrong."""
    wrong, labels = set(excluded), distribution.column.labels
    left = {
        label: n for code, n in entries_of(distribution, class_index) if (label := labels[code]) not in wrong
    }
    return {label: Fraction(n, sum(left.values())) for label, n in left.items()}


def exclusions_needed_through(
    target: Target, column: str, through: str
) -> tuple[Counts, dict[int, set[str]]]:
    """How many values of another column must be excluded to learn a value of this one; and which are learned.

    A value of the other column is pure if all rows of the class that have it have one value v of this
    column. Who excludes all values that are not pure for v is left with v. A suppressed cell cannot be
    excluded. A class that gives nothing away so has -1.
    """
    if (column, through) not in target.exclusions:
        target.exclusions[column, through] = _exclusions_needed_through(target, column, through)
    return target.exclusions[column, through]


def _exclusions_needed_through(
    target: Target, column: str, through: str
) -> tuple[Counts, dict[int, set[str]]]:
    # With arrays: every pair of sensitive columns is asked, and classes are many.
    classes = target.classes
    tuples = classes.tuples
    own, other = tuples.columns[column], tuples.columns[through]
    there = tuples.counts > 0
    codes: list[Codes] = [
        classes.ids[there], _one_a_word(other)[other.codes[there]], _one_a_word(own)[own.codes[there]]
    ]  # fmt: skip
    groups = group_codes(codes, [classes.num_classes, other.cardinality, own.cardinality])
    index, known, secret = (each[groups.representatives].astype(np.int64) for each in codes)
    order = np.lexsort((secret, known, index))
    index, known, secret = index[order], known[order], secret[order]
    starts = np.flatnonzero(np.diff(index, prepend=-1) | np.diff(known, prepend=-1))
    alone = np.diff(starts, append=len(index)) == 1  # one value of this column beside that of the other one
    index, known, secret = index[starts], known[starts], secret[starts]
    hidden = known == _code_of(other, SUPPRESSED)
    beside_hidden = np.full(classes.num_classes, ANY)
    beside_hidden[index[hidden]] = np.where(alone[hidden], secret[hidden], NONE)
    number = np.bincount(index[~hidden], minlength=classes.num_classes)
    pure = ~hidden & alone & (secret != _code_of(own, SUPPRESSED))
    pairs, times = np.unique(index[pure] * own.cardinality + secret[pure], return_counts=True)
    index, secret = pairs // own.cardinality, pairs % own.cardinality
    possible = (beside_hidden[index] == ANY) | (beside_hidden[index] == secret)
    index, secret, times = index[possible], secret[possible], times[possible]
    left = number[index] - times
    most = np.iinfo(np.int64).max
    needed = np.full(classes.num_classes, most)
    np.minimum.at(needed, index, left)
    learned: dict[int, set[str]] = {}
    best = left == needed[index]
    for each, code in zip(index[best].tolist(), secret[best].tolist(), strict=True):
        learned.setdefault(each, set()).add(own.labels[code])
    needed[needed == most] = -1
    return needed, learned


def _one_a_word(column: Column) -> Codes:
    """For each code the first one that reads the same."""
    first: dict[str, int] = {}
    return np.array([first.setdefault(label, code) for code, label in enumerate(column.labels)], np.int32)


def _code_of(column: Column, label: str) -> int:
    return column.labels.index(label) if label in column.labels else NONE


class BackgroundKnowledge(SensitiveAttack):
    """Learn the sensitive value of a person by excluding a number of other values.

    Victims are the members of the classes in which that many exclusions are enough. l-diversity stops
    an attacker who can exclude at most l - 2 values. The evidence tells for every number of exclusions
    how many rows need exactly that many.

    With `through`, he excludes values of another sensitive column, and with them the rows that have these. A
    release that is diverse in each column may fall to it; diversity with the other column `given` does not.
    """

    name = "background-knowledge"
    cites = ("machanavajjhala2007",)
    title = "Background knowledge"
    knowledge = "What linking needs, and some values that the person does not have."

    exclusions: Annotated[
        int, param("values that the attacker can exclude for everybody", ge=0, le=1_000, unit="values")
    ] = 1
    through: Annotated[
        Text, param("another sensitive column through which he excludes them; none if empty", kind="column")
    ] = ""

    def rules(self) -> Iterator[Problem]:
        if self.through == self.column:
            yield rule(
                "background-knowledge.through-itself",
                "through '{column}' is the attack without it",
                "through",
                column=self.column,
            )

    @classmethod
    def usual(cls, target: Target) -> Sequence[Attack]:
        """On each sensitive column, by itself and through each of the others."""
        pairs = permutations(target.sensitive, 2)
        return [*super().usual(target), *(cls(column, through=other) for column, other in pairs)]

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: value for name, value in super().parameters.items() if value != ""}

    @property
    def certain(self) -> bool:
        return self.exclusions == 0

    def succeeds(self, target: Target) -> Mask:
        needed = self._needed(target)
        return (needed >= 0) & (needed <= self.exclusions)

    def learned(self, target: Target, class_index: int) -> str:
        if self.through:
            _, learned = exclusions_needed_through(target, self.column, self.through)
            return " or ".join(sorted(learned.get(class_index, ())))
        distribution = self.values(target)
        labels = distribution.column.labels
        return " or ".join(sorted(labels[code] for code, _ in entries_of(distribution, class_index)))

    def success(self, target: Target, victims: str) -> str:
        what = f"'{self.column}'" if self.through else "the value"
        return f"Whoever can exclude {self._excluded} learns {what} of {victims}."

    def failure(self, target: Target) -> str:
        what = f"'{self.column}'" if self.through else "the value"
        return f"Excluding {self._excluded} is not enough to learn {what} of anybody."

    def evidence(self, target: Target) -> dict[str, Any]:
        needed = self._needed(target)
        counted = target.kept & (needed >= 0)
        rows = np.bincount(needed[counted], weights=target.classes.sizes[counted])
        return {"rows_by_exclusions_needed": {int(n): int(rows[n]) for n in np.flatnonzero(rows)}}

    @property
    def _excluded(self) -> str:
        number = "one value" if self.exclusions == 1 else f"{self.exclusions} values"
        return f"{number} of '{self.through or self.column}'"

    def _needed(self, target: Target) -> npt.NDArray[np.int64]:
        if not self.through:
            return exclusions_needed(self.values(target))
        for name in (self.column, self.through):
            target.distribution(name)  # refuses a column that is not sensitive
        return exclusions_needed_through(target, self.column, self.through)[0]
