"""Figures with noise: counts, sums and means that are true on average, and that a budget pays for.

How many people of an answer have a sensitive value, or what they earn together, the answer of the keeper says
only roughly: artificial values are in it. Where figures matter more than rows, they may be worked out in the
table itself and noised by OpenDP's discrete Laplace distribution: with or without any one person, and
whatever sensitive value that person has, every answer is nearly as likely. Who knows that somebody is in the
table asks the second: another value moves a person from one group to another, which changes two figures, or
a sum from one bound to the other. So figures that depend on sensitive values have twice the noise.

This takes nothing from anybody's possible values: any noise can come up with any table, so no table that was
possible before becomes impossible. What adds up is the epsilon. Every figure costs one; a mean divides it
between a sum and a count. It is counted for each circle of users who are presumed to share answers, spent
before the answer leaves, and ends with the budget.

Which groups there are follows from the values that the policy names, and how much one person can change a
sum from the bounds that it names: not from the table.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tarnkappe.algebra.noisy.grid import NumberGrid
from tarnkappe.algebra.noisy.mechanisms import laplace
from tarnkappe.errors import AccessError, ColumnError
from tarnkappe.gate.labels import NUMBERS, Labels
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import GateQuery, RefusedQuery
from tarnkappe.gate.source import ProtectedTable, SelectedPeople
from tarnkappe.state.budgets import Budgets
from tarnkappe.state.store import Store

NO_GROUPS = "noisy figures are grouped by sensitive columns whose values the policy names, and by no others"
NO_BOUNDS = "noisy sums and means are of columns for which the settings name bounds, and of no others"
SPENT = "the privacy budget for noisy figures is spent"
MOST_GROUPS = 10_000

Group = tuple[str, ...]
Bounds = Mapping[str, tuple[Fraction, Fraction]]


@dataclasses.dataclass(frozen=True)
class NoisyAggregate:
    """What is asked about every group: `count` of its people, or the `sum` or `avg` of a column."""

    function: str
    column: str | None = None


class NoisyFigures:
    """Works figures out in the table, and noises them.

    Args:
        policy: whose users share a budget.
        source: the table.
        store: where the budgets are.
        epsilon: what one figure costs: the smaller, the more noise.
        budget: what a circle of users may spend in all.
        bounds: between which numbers a column counts in sums and means; what is beyond counts as the bound.
    """

    def __init__(
        self,
        policy: GatePolicy,
        source: ProtectedTable,
        store: Store,
        epsilon: Fraction,
        budget: Fraction,
        bounds: Bounds | None = None,
    ) -> None:
        self.policy, self.source, self.epsilon, self.budget = policy, source, epsilon, budget
        self._budgets = Budgets(store)
        self._labels = {
            column.name: Labels(column, numbers=source.types[column.name] in NUMBERS)
            for column in policy.sensitive
            if column.values is not None
        }
        self._grids: dict[str, NumberGrid] = {}
        for name, (lower, upper) in (bounds or {}).items():
            if source.types.get(name) not in NUMBERS:
                raise ColumnError(
                    "gate.server-bounds-no-column",
                    "[server.bounds]: '{name}' is no column of numbers in the protected table",
                    name=name,
                )
            whole = source.types[name] in ("smallint", "integer", "bigint")
            self._grids[name] = NumberGrid.of(lower, upper, whole=whole)

    def answer(
        self, user: str, question: GateQuery, grouped: Sequence[str], figures: Sequence[NoisyAggregate]
    ) -> dict[Group, dict[NoisyAggregate, Fraction | None]] | RefusedQuery:
        """The figures of the people whom a question selects, by group; without groups there is one."""
        circle = self.policy.history_of(user)
        domains = self._domains(grouped)
        if domains is None:
            return RefusedQuery(NO_GROUPS)
        if any(figure.column is not None and figure.column not in self._grids for figure in figures):
            return RefusedQuery(NO_BOUNDS)
        known = self._budgets.of(circle, self.policy.table)
        if known is None or known.granted != self.budget:
            self._budgets.grant(circle, self.policy.table, self.budget)
        people = self.source.people(question)
        different = list(dict.fromkeys(figures))
        try:
            self._budgets.spend(circle, self.policy.table, self.epsilon * len(different))
        except AccessError:
            return RefusedQuery(SPENT)
        members = self._members(people, grouped)
        groups = list(itertools.product(*domains))
        found: dict[Group, dict[NoisyAggregate, Fraction | None]] = {group: {} for group in groups}
        for figure in different:
            for group, value in zip(groups, self._noised(figure, people, groups, members), strict=True):
                found[group][figure] = value
        return found

    def _domains(self, grouped: Sequence[str]) -> list[Group] | None:
        """The values of each column by which people are grouped; None where the policy does not say them."""
        domains: list[Group] = []
        for name in grouped:
            column = self.policy.sensitive_column(name)
            if column is None or column.values is None:
                return None
            domains.append(tuple(self._labels[name].all))
        return domains if math.prod(map(len, domains)) <= MOST_GROUPS else None

    def _members(self, people: SelectedPeople, grouped: Sequence[str]) -> Mapping[Group, list[int]]:
        """Who is in which group, by place."""
        columns = [[self._labels[name].of(value) for value in people.secrets[name]] for name in grouped]
        found: defaultdict[Group, list[int]] = defaultdict(list)
        for place in range(len(people.keys)):
            found[tuple(column[place] for column in columns)].append(place)
        return found

    def _noised(
        self,
        figure: NoisyAggregate,
        people: SelectedPeople,
        groups: Sequence[Group],
        members: Mapping[Group, list[int]],
    ) -> list[Fraction | None]:
        """One figure of every group. A person is in one group alone, so one epsilon pays for all of them."""
        secret = figure.column is not None and self.policy.sensitive_column(figure.column) is not None
        moves = 2 if secret or any(groups) else 1  # groups are by sensitive columns
        if figure.column is None:
            counts = laplace([len(members[group]) for group in groups], moves, self.epsilon)
            return [Fraction(max(0, count)) for count in counts]
        grid = self._grids[figure.column]
        cells = {**people.cells, **people.secrets}[figure.column]
        numbers = [
            [number for i in members[group] if (number := _number(grid, cells[i])) is not None]
            for group in groups
        ]
        if figure.function == "sum":
            unit = grid.step
            units = [[round(grid.value(number) / unit) for number in group] for group in numbers]
            most = max(abs(round(grid.value(place) / unit)) for place in (0, grid.last))
            totals = laplace([sum(group) for group in units], moves * max(1, most), self.epsilon)
            return [total * unit for total in totals]
        middle = grid.last // 2  # from there, a person changes a sum by half as much
        from_middle = [sum(number - middle for number in group) for group in numbers]
        totals = laplace(from_middle, moves * max(1, grid.last - middle), self.epsilon / 2)
        counts = laplace([*map(len, numbers)], moves, self.epsilon / 2)
        return [_mean(grid, middle, total, count) for total, count in zip(totals, counts, strict=True)]


def _mean(grid: NumberGrid, middle: int, total: int, count: int) -> Fraction | None:
    if count < 1:
        return None
    place = min(max(middle + Fraction(total, count), Fraction(0)), Fraction(grid.last))
    return grid.value(place)


def _number(grid: NumberGrid, cell: Any) -> int | None:
    """The place of a cell on the grid; None if there is no number."""
    if cell is None or str(cell).lower() in ("nan", "inf", "-inf", "infinity", "-infinity"):
        return None
    return min(max(round((Fraction(str(cell)) - grid.origin) / grid.step), 0), grid.last)
