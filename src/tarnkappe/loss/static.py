"""Static loss: what each level of each column loses, as the user says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Self

from msgspec import Meta

from tarnkappe.errors import ParameterError
from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.schema import MOST_NAMES, Listed, Name, NotNegative, Problem, param, rule, shown
from tarnkappe.table import Column, Tuples

LevelLosses = Annotated[Listed[NotNegative], Meta(min_length=1, max_length=1_000)]


class StaticLoss(ColumnLoss, kw_only=True):
    """A number that the user gives for each level of a column; one that is not named loses its level.

    The numbers of a column may not fall from level to level, so the loss is monotone always and its own lower
    bound: it depends on the levels alone.
    """

    name = "static"
    data_independent = True
    considers_suppression = False

    losses: Annotated[
        Mapping[Name, LevelLosses],
        param(
            "for columns, what each level loses, from level 0 upward", kind="columns", max_length=MOST_NAMES
        ),
    ] = {}

    def rules(self) -> Iterator[Problem]:
        """A higher level does not lose less."""
        for column, losses in self.losses.items():
            if any(above < below for below, above in pairwise(losses)):
                yield rule(
                    "static.falls",
                    "the losses of {column} fall from one level to the next, which a loss must not",
                    "losses",
                    column=shown(column),
                )

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        tenths = tuple(place / 10 for place in (0, 1, 1, 4, 9, 9, 9, 9))
        return (*super().examples(), cls(losses={"a": tenths}))

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        for column, losses in self.losses.items():
            if column not in quasi_identifiers:
                raise ParameterError(
                    "loss.static-no-quasi-identifier",
                    "static: there is no quasi-identifier '{column}' that could lose",
                    column=column,
                )
            levels = tuples.columns[column].levels
            height = 0 if levels is None else levels.height
            if len(losses) <= height:
                raise ParameterError(
                    "loss.static-levels-0",
                    "static: '{column}' has the levels 0 to {height}, not {losses} of them",
                    column=column,
                    height=height,
                    losses=len(losses),
                )

    def of_column(self, tuples: Tuples, column: Column, level: int) -> float:
        losses = self.losses.get(column.name)
        return float(level if losses is None else losses[level])

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return True
