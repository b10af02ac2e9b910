"""Contingency tables of pairs of columns, before and after, and what of their dependence is left."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tarnkappe.utility.domain import Weights
from tarnkappe.utility.view import ReleaseReader

MOST_PAIRS = 200
"""So many pairs of columns are looked at."""
MOST_GROUPS = 100
"""A column has so many rows or columns of a table at most: values that follow each other, or the rarest ones,
are taken together."""


@dataclasses.dataclass(frozen=True, eq=False)
class Contingency:
    """How many rows have each pair of values, and how many are to be expected from the release.

    Attributes:
        columns: the two columns.
        before: the table of the original.
        after: that of the release, as many rows as it has.
    """

    columns: tuple[str, str]
    before: Weights
    after: Weights

    @property
    def total_variation(self) -> float:
        """Half of the sum of the differences of all shares: 0 if they are equal, 1 if nothing is common."""
        return 0.5 * float(np.abs(_shares(self.before) - _shares(self.after)).sum())

    @property
    def hellinger(self) -> float:
        """The Hellinger distance of the shares, from 0 to 1."""
        off = np.sqrt(_shares(self.before)) - np.sqrt(_shares(self.after))
        return math.sqrt(0.5 * float((off**2).sum()))

    @property
    def information_kept(self) -> float | None:
        """The mutual information of the release as a share of the original's; None if there was none."""
        original = mutual_information(self.before)
        return mutual_information(self.after) / original if original > 1e-12 else None

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON, without the tables."""
        return {
            "columns": list(self.columns),
            "total_variation": {"value": self.total_variation},
            "hellinger": {"value": self.hellinger},
            "cramers_v": {"release": cramers_v(self.after), "original": cramers_v(self.before)},
            "mutual_information": {
                "value": self.information_kept,
                "release": mutual_information(self.after),
                "original": mutual_information(self.before),
            },
        }


def contingency(original: ReleaseReader, release: ReleaseReader, first: str, second: str) -> Contingency:
    """The table of two columns before and after; long columns are taken together into groups."""
    left, right = (groups(original, name) for name in (first, second))
    before, after = (view.joint(first, second, left, right) for view in (original, release))
    return Contingency((first, second), before, after)


def pairs_of(names: Sequence[str], first: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The pairs of columns that are looked at, those with one of the first ones before others."""
    order = [*(name for name in first if name in names), *(name for name in names if name not in first)]
    pairs = list(itertools.combinations(order, 2))
    return sorted(pairs, key=lambda pair: not {*pair} & {*first})[:MOST_PAIRS]


def groups(view: ReleaseReader, name: str, most: int = MOST_GROUPS) -> Weights:
    """Which group each value of a domain belongs to, as a matrix of ones."""
    domain, counts = view.domains[name], view.marginal(name)
    if domain.size <= most:
        return np.eye(domain.size)
    if domain.numbers is not None:
        place = np.minimum((np.cumsum(counts) - counts) * most // max(float(counts.sum()), 1.0), most - 1)
    else:
        place = np.minimum(np.argsort(np.argsort(-counts, kind="stable")), most - 1)
    found = np.zeros((domain.size, most))
    found[np.arange(domain.size), place.astype(np.int64)] = 1.0
    return found


def mutual_information(table: Weights) -> float:
    """The mutual information of rows and columns in bits."""
    shares = _shares(table)
    independent = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    there = shares > 0
    return max(float((shares[there] * np.log2(shares[there] / independent[there])).sum()), 0.0)


def cramers_v(table: Weights, *, corrected: bool = False) -> float | None:
    """Cramér's V, or with Bergsma's correction for the bias of small tables; None for one row or column.

    Bergsma 2013, doi:10.1016/j.jkss.2012.10.002.
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    rows, columns = table.shape
    number = float(table.sum())
    if min(rows, columns) < 2:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / number
    phi = float(((table - expected) ** 2 / expected).sum()) / number
    if not corrected:
        return math.sqrt(phi / (min(rows, columns) - 1))
    phi = max(0.0, phi - (rows - 1) * (columns - 1) / (number - 1))
    rows_left, columns_left = (size - (size - 1) ** 2 / (number - 1) for size in (rows, columns))
    least = min(rows_left, columns_left) - 1
    return math.sqrt(phi / least) if least > 0 else None


def _shares(table: Weights) -> Weights:
    total = float(table.sum())
    return table / total if total else table
