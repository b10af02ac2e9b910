"""Which column contributes how much to the risk: left out alone, and by its Shapley value."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import numpy as np
import scipy  # its parts are loaded when they are used

from tarnkappe.risk.measures.measure import Chart, MeasureResult, Numbers, RiskFigure, RiskMeasure
from tarnkappe.risk.measures.subsets import Apartness, SubsetTable
from tarnkappe.schema import param
from tarnkappe.table import Classes
from tarnkappe.table.encoding import Progress

MOST_EXACT = 10
EXACT_WORK = 600_000_000
SAMPLED_WORK = 400_000_000
"""How many rows may be grouped in all. Sampled sets are not made from each other, so they cost more a row."""
LEAST_PAIRS, MOST_PAIRS = 15, 500
"""Fewer pairs do not tell their own error: what a column adds is spread too unevenly."""
SEED = 20_240_917
"""A sampled value is the same each time a table is checked."""

Game = Callable[[frozenset[int]], Numbers]


@dataclasses.dataclass(frozen=True)
class Contribution:
    """What one column adds to the average risk and to the number of unique rows.

    Attributes:
        without: the average risk of an attacker who knows all columns but this one.
        uniques_without: the rows that stay unique for him.
        share: its Shapley value: the part of the average risk that is due to it.
        uniques: its Shapley value in unique rows.
        error: how far `share` may be from the true value, with 95 % confidence; 0 if it is exact.
        uniques_error: the same for `uniques`.
    """

    without: float
    uniques_without: int
    share: float
    uniques: float
    error: float = 0.0
    uniques_error: float = 0.0


@dataclasses.dataclass(frozen=True)
class ContributionsFound(MeasureResult):
    """What each column contributes.

    Attributes:
        average: the average risk of an attacker who knows all columns.
        uniques: the rows that are unique for him.
        exact: whether the Shapley values are exact; otherwise they are sampled.
        columns: the contribution of each column. The shares add up to the average risk less that of an
            attacker who knows nothing.
    """

    average: float
    uniques: int
    exact: bool
    columns: Mapping[str, Contribution]

    def to_dict(self) -> dict[str, Any]:
        return {
            "average": self.average,
            "uniques": self.uniques,
            "exact": self.exact,
            "columns": {name: dataclasses.asdict(found) for name, found in self.columns.items()},
        }

    def figures(self) -> Iterator[RiskFigure]:
        for name, found in self.columns.items():
            sure = "" if self.exact else f" (± {100 * found.error:.2g} %)"
            told = f"of the average risk is due to it{sure}; {100 * found.without:.3g} % remain without it"
            yield RiskFigure(name, found.share, told, share=True)

    def charts(self) -> Iterator[Chart]:
        how = "Shapley values" if self.exact else "sampled Shapley values"
        yield Chart(
            "Which column contributes how much",
            f"The part of the average risk that is due to each column ({how}).",
            tuple(
                RiskFigure(name, max(found.share, 0.0), "of the average risk", share=True)
                for name, found in self.columns.items()
            ),
        )


class Contributions(RiskMeasure):
    """What each quasi-identifier contributes to the average prosecutor's risk and to the unique rows.

    Leaving one column out tells what remains without it, but not what is due to it: if two columns say the
    same, leaving out either changes nothing. The Shapley value is the mean, over all orders in which the
    columns may become known, of what a column adds to those known before it. It is exact for up to 10
    columns; for more columns, or very large tables, it is the mean over pairs of a random order and its
    reverse, and the 95 % error is stated (from the spread of the pairs).
    """

    name = "contributions"
    cites = ("shapley1953",)
    title = "Contribution of each column"
    usual = False

    most_exact: Annotated[
        int, param("columns up to which contributions are computed exactly", ge=0, le=20, unit="columns")
    ] = MOST_EXACT

    def measure(self, classes: Classes, progress: Progress | None = None) -> ContributionsFound:
        table, rows = SubsetTable(classes), int(classes.sizes.sum())
        width = table.width
        told = (lambda done, total: progress("leaving out columns", done, total)) if progress else None
        exact = width <= self.most_exact and 2**width * table.num_tuples <= EXACT_WORK

        def game(known: frozenset[int]) -> Numbers:
            return _values(table.of(known), rows)

        if exact:
            table.count_all(told)
            values, errors = exact_shapley(game, width), np.zeros((width, 2))
        else:
            evaluations = SAMPLED_WORK // max(table.num_tuples, 1)
            pairs = min(max(evaluations // (2 * width), LEAST_PAIRS), MOST_PAIRS)
            values, errors = sampled_shapley(game, width, pairs, np.random.default_rng(SEED), told)
        everyone = frozenset(range(width))
        columns = {}
        for place, column in enumerate(classes.quasi_identifiers):
            rest = table.of(everyone - {place})
            columns[column.name] = Contribution(
                rest.classes / rows, rest.uniques, *values[place].tolist(), *errors[place].tolist()
            )
        whole = table.everything
        return ContributionsFound(whole.classes / rows, whole.uniques, exact, columns)


def _values(found: Apartness, rows: int) -> Numbers:
    return np.array([found.classes / rows, float(found.uniques)])


def exact_shapley(game: Game, width: int) -> Numbers:
    """The Shapley values of all columns: one row a column, one column a measured value.

    What column i adds to a set S counts |S|! (m - |S| - 1)! / m! times: so many of the orders have just S
    before i.
    """
    values = np.array([game(_members(mask)) for mask in range(2**width)])
    sizes = np.array([mask.bit_count() for mask in range(2**width)])
    weights = np.array([1 / (width * math.comb(width - 1, size)) for size in range(width)])
    shapley = np.zeros((width, values.shape[1]))
    masks = np.arange(2**width)
    for column in range(width):
        without = masks[masks >> column & 1 == 0]
        added = values[without | 1 << column] - values[without]
        shapley[column] = weights[sizes[without]] @ added
    return shapley


def _members(mask: int) -> frozenset[int]:
    return frozenset(place for place in range(mask.bit_length()) if mask >> place & 1)


def sampled_shapley(
    game: Game,
    width: int,
    pairs: int,
    generator: np.random.Generator,
    done: Callable[[int, int], None] | None = None,
) -> tuple[Numbers, Numbers]:
    """Shapley values by random orders in pairs with their reverse, and their errors with 95 % confidence.

    A pair of opposite orders is one draw: what a column adds late in the one it adds early in the other, so
    that pairs spread less than single orders do.
    """
    draws = np.zeros((pairs, width, len(game(frozenset()))))
    for pair in range(pairs):
        order = generator.permutation(width).tolist()
        for way in (order, order[::-1]):
            known: frozenset[int] = frozenset()
            before = game(known)
            for column in way:
                known |= {column}
                after = game(known)
                draws[pair, column] += (after - before) / 2
                before = after
        if done:
            done(pair + 1, pairs)
    student = float(scipy.special.stdtrit(pairs - 1, 0.975))
    return draws.mean(axis=0), student * draws.std(axis=0, ddof=1) / math.sqrt(pairs)
