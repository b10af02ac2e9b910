"""Random aggregate queries, as an analyst asks them: COUNT or SUM of the rows that meet some conditions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.table.classes import Mask
from tarnkappe.utility.domain import ColumnDomain, Weights

MOST_CONDITIONS = 3
"""A query has conditions on at most so many quasi-identifiers, beside one on the sensitive column."""


@dataclasses.dataclass(frozen=True, eq=False)
class WorkloadQuery:
    """How many rows meet all conditions, or the sum of a column over them.

    Attributes:
        conditions: for each column with a condition, which values of its domain meet it.
        summed: the column whose sum is asked for; without it the query counts rows.
    """

    conditions: Mapping[str, Mask]
    summed: str | None = None

    def __str__(self) -> str:
        what = "COUNT(*)" if self.summed is None else f"SUM({self.summed})"
        return f"{what} with conditions on {', '.join(self.conditions)}"


@dataclasses.dataclass(frozen=True)
class Workload:
    """A random workload.

    Attributes:
        queries: how many queries.
        selectivity: about which share of the rows the conditions of a query let through, if columns were
            independent: each of m conditions lets the m-th root of it through.
        seed: what the queries are drawn from; the same seed asks the same queries of the same table.
    """

    queries: int = 500
    selectivity: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        if self.queries < 1:
            raise ParameterError(
                "utility.workload-needs-least-query",
                "a workload needs at least one query, not {queries}",
                queries=self.queries,
            )
        if not 0 < self.selectivity <= 1:
            raise ParameterError(
                "utility.selectivity-share-above-0",
                "a selectivity is a share above 0 and up to 1, not {selectivity}",
                selectivity=self.selectivity,
            )

    def draw(
        self,
        domains: Mapping[str, ColumnDomain],
        counts: Mapping[str, Weights],
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str] = (),
    ) -> list[WorkloadQuery]:
        """The queries.

        Args:
            domains: all columns that may be asked for.
            counts: how many rows have each value of a domain.
            quasi_identifiers: the columns with conditions.
            sensitive: one of them has a condition too, if there are any.
        """
        random = np.random.default_rng(self.seed)
        numeric = [name for name in domains if domains[name].summable]
        found = []
        for number in range(self.queries):
            summed = str(random.choice(numeric)) if numeric and number % 2 else None
            free = [name for name in quasi_identifiers if name != summed]
            most = min(len(free), MOST_CONDITIONS)
            chosen = list(random.choice(free, random.integers(1, most + 1), replace=False)) if free else []
            hidden = [name for name in sensitive if name != summed]
            chosen += [random.choice(hidden)] if hidden else []
            share = self.selectivity ** (1 / max(len(chosen), 1))
            conditions = {
                str(name): _condition(domains[name], counts[name], share, random) for name in chosen
            }
            found.append(WorkloadQuery(conditions, summed))
        return found


def _condition(domain: ColumnDomain, counts: Weights, share: float, random: np.random.Generator) -> Mask:
    """Values that about a share of the rows have: a range of numbers, or any values of another column."""
    wanted = share * counts.sum()
    if domain.numbers is None:
        order = random.permutation(domain.size)
        last = int(np.searchsorted(np.cumsum(counts[order]), wanted))
        meets = np.zeros(domain.size, dtype=bool)
        meets[order[: last + 1]] = True
        return meets
    reached = np.cumsum(counts)
    start = random.uniform(0, counts.sum() - wanted)
    return np.asarray((reached > start) & (reached - counts < start + wanted))
