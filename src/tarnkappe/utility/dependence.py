"""How strongly columns depend on each other, in the original and in a release as its reader takes it.

Two columns of numbers have Pearson's and Spearman's correlation, two of categories the bias-corrected
Cramér's V, a mixed pair the correlation ratio. Within a row of a release columns are independent given their
words, so the dependence that a reader finds is never that of the unknown values within a cell.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tarnkappe.utility.contingency import cramers_v, groups, pairs_of
from tarnkappe.utility.domain import Weights
from tarnkappe.utility.view import ReleaseReader


@dataclasses.dataclass(frozen=True)
class Dependence:
    """One measure of one pair of columns; None where it is not defined, as for a constant column."""

    columns: tuple[str, str]
    measure: str
    original: float | None
    release: float | None

    @property
    def difference(self) -> float | None:
        """How far the release is off."""
        if self.original is None or self.release is None:
            return None
        return abs(self.original - self.release)

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "columns": list(self.columns),
            "measure": self.measure,
            "value": self.difference,
            "release": self.release,
            "original": self.original,
        }


def dependences(
    original: ReleaseReader, release: ReleaseReader, names: Sequence[str], first: Sequence[str] = ()
) -> list[Dependence]:
    """Every measure of every pair of columns."""
    found = []
    for pair in pairs_of(names, first):
        numeric = [name for name in pair if original.domains[name].summable]
        both: list[dict[str, float | None]] = []
        for view in (original, release):
            if len(numeric) == 2:
                both.append({"pearson": pearson(view, *pair), "spearman": spearman(view, *pair)})
            elif numeric:
                (number,) = numeric
                (category,) = (name for name in pair if name != number)
                both.append({"correlation ratio": correlation_ratio(view, category, number)})
            else:
                left, right = (groups(original, name) for name in pair)
                both.append({"cramers v": cramers_v(view.joint(*pair, left, right), corrected=True)})
        ours, theirs = both
        found += [Dependence(pair, measure, ours[measure], theirs[measure]) for measure in ours]
    return found


def pearson(view: ReleaseReader, first: str, second: str) -> float | None:
    """The correlation of two columns of numbers, of the rows in which neither is missing."""
    return _correlation(view, first, second, *(_numbers(view, name) for name in (first, second)))


def spearman(view: ReleaseReader, first: str, second: str) -> float | None:
    """The correlation of the ranks of two columns of numbers; equal values share their mean rank."""
    return _correlation(view, first, second, *(_ranks(view, name) for name in (first, second)))


def correlation_ratio(view: ReleaseReader, category: str, number: str) -> float | None:
    """How much of the variance of a number lies between the categories, as a root: eta, from 0 to 1."""
    values = _numbers(view, number)
    table = view.joint(category, number, groups(view, category), _powers(values))
    rows, sums, squares = table.T
    there = rows > 0
    mean = sums.sum() / rows.sum() if rows.sum() else 0.0
    total = squares.sum() - rows.sum() * mean**2
    between = (sums[there] ** 2 / rows[there]).sum() - rows.sum() * mean**2
    return (
        math.sqrt(min(max(between / total, 0.0), 1.0)) if total > 1e-9 * max(squares.sum(), 1e-300) else None
    )


def eigenvalue_difference(
    original: ReleaseReader, release: ReleaseReader, names: Sequence[str]
) -> float | None:
    """The sum of |e1 - e2| / e1 over the eigenvalues of the two correlation matrices, as sdcMicro has it."""
    numeric = [name for name in names if original.domains[name].summable]
    matrices = [_matrix(view, numeric) for view in (original, release)]
    if len(numeric) < 2 or any(matrix is None for matrix in matrices):
        return None
    ours, theirs = (np.sort(np.linalg.eigvalsh(matrix))[::-1] for matrix in matrices if matrix is not None)
    there = ours > 1e-12
    return float((np.abs(ours - theirs)[there] / ours[there]).sum())


def cell_distance(
    original: ReleaseReader, release: ReleaseReader, names: Sequence[str], rows: npt.NDArray[np.integer[Any]]
) -> float | None:
    """The mean of |x - x'| / (sd sqrt 2) over the cells of numbers (IL1s), x' being what the cell stands for.

    Args:
        original: the original.
        release: the release.
        names: the columns.
        rows: the row of the original that each row of the release was made from.
    """
    parts = []
    for name in names:
        numbers = original.domains[name].numbers
        if numbers is None or not original.domains[name].summable:
            continue
        known = np.nan_to_num(numbers)
        ours = original.cells[name].expectation(known)
        spread = float(ours.std(ddof=1)) if len(ours) > 1 else 0.0
        if spread > 0:
            parts.append(
                np.abs(ours[rows] - release.cells[name].expectation(known)) / (spread * math.sqrt(2))
            )
    return float(np.mean(parts)) if parts else None


def _matrix(view: ReleaseReader, names: Sequence[str]) -> Weights | None:
    found = np.eye(len(names))
    for i, first in enumerate(names):
        for j in range(i):
            each = pearson(view, first, names[j])
            if each is None:
                return None
            found[i, j] = found[j, i] = each
    return found


def _numbers(view: ReleaseReader, name: str) -> Weights:
    numbers = view.domains[name].numbers
    assert numbers is not None, "the column holds numbers"
    # Measured from the mean, so that squares of large numbers do not swallow small differences.
    counts, known = view.marginal(name), ~np.isnan(numbers)
    rows = float(counts[known].sum())
    off = numbers - (float(counts[known] @ numbers[known]) / rows if rows else 0.0)
    noise = 1e-12 * float(np.abs(numbers[known]).max(initial=0.0))
    return np.where(np.abs(off) <= noise, 0.0, off)


def _ranks(view: ReleaseReader, name: str) -> Weights:
    numbers, counts = view.domains[name].numbers, view.marginal(name)
    assert numbers is not None, "the column holds numbers"
    known = np.where(np.isnan(numbers), 0.0, counts)
    ranks = np.cumsum(known) - known + (known + 1) / 2
    return np.where(np.isnan(numbers), np.nan, ranks - (known.sum() + 1) / 2)


def _powers(values: Weights) -> Weights:
    known = ~np.isnan(values)
    plain = np.nan_to_num(values)
    return np.column_stack([known.astype(np.float64), plain, plain**2])


def _correlation(
    view: ReleaseReader, first: str, second: str, ours: Weights, theirs: Weights
) -> float | None:
    table = view.joint(first, second, _powers(ours), _powers(theirs))
    rows = table[0, 0]
    if rows <= 0:
        return None
    mean, other = table[1, 0] / rows, table[0, 1] / rows
    squares = table[2, 0] / rows, table[0, 2] / rows
    variances = squares[0] - mean**2, squares[1] - other**2
    if any(own <= 1e-12 * square for own, square in zip(variances, squares, strict=True)):
        return None  # a column of one number depends on nothing
    return float((table[1, 1] / rows - mean * other) / math.sqrt(variances[0] * variances[1]))
