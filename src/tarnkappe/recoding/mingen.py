"""MinGen: of all ways to generalize the cells of a small table, one with the greatest precision.

Every cell may get a level of its own, so with the heights h of the hierarchies there are as many tables as
the product of (h + 1) over all cells. They need not be tried one by one. In a table of least loss the rows of
a class have in each column the lowest label that all of them share, and a class of 2k rows or more could be
divided without losing anything. So a best table is a partition of the rows into groups of k to 2k - 1 rows.
The best partition of every set of rows is found from those of smaller sets: O(3^n) for n rows.

Several tables may be equally precise. Preferred is the one with more precision in the columns of `prefer`,
one after the other, then in the other columns in alphabetical order; equal rows are interchangeable.

MinGen is about precision whatever the loss of a job, which only measures the result.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.lattice import SearchProblem
from tarnkappe.native import compiled
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.value_sets import require_sizes_only
from tarnkappe.recoding.written import WrittenColumn
from tarnkappe.schema import MOST_NAMES, Name, param
from tarnkappe.table import MISSING, Column, Tuples
from tarnkappe.table.encoding import Codes, Counts, Progress

MOST_ROWS = 16
"""A table of 16 rows has 3^16 = 43 million pairs of a set and a part of it."""
MOST_EXACT = 10**15
"""Numbers of tables up to this are told exactly."""


class MinGen(Method, kw_only=True):
    """Minimal generalization at the level of cells (Sweeney 2002)."""

    name = "mingen"
    cites = ("sweeney2002achieving",)
    summary = (
        "Finds the most precise k-anonymous generalization of every single cell. Right for tables of a "
        f"handful of rows (at most {MOST_ROWS}) and to see how much other methods lose."
    )

    prefer: Annotated[
        tuple[Name, ...],
        param(
            "columns that are kept precise first where several tables are equally precise",
            kind="columns",
            max_length=MOST_NAMES,
        ),
    ] = ()

    def check(self, problem: SearchProblem) -> None:
        """Refuse also other models, unknown columns, and tables that are too large."""
        super().check(problem)
        require_sizes_only(self.name, problem)
        for name in self.prefer:
            if name not in problem.quasi_identifiers:
                raise ColumnError(
                    "recoding.no-quasi-identifier",
                    "{name}: '{name_2}' is no quasi-identifier",
                    name=self.name,
                    name_2=name,
                )
        rows = problem.tuples.num_rows
        if rows > MOST_ROWS:
            raise ParameterError(
                "recoding.would-choose-among-generalizations",
                "{name} would have to choose among {heights} generalizations of {rows} rows: it takes at "
                "most {most_rows} rows; use mondrian",
                name=self.name,
                heights=search_space(problem.lattice.heights, rows),
                rows=rows,
                most_rows=MOST_ROWS,
            )
        if problem.tuples.population is not None:
            raise ParameterError(
                "recoding.generalizes-row-itself-nobody",
                "{name} generalizes each row for itself, so nobody can tell how a member of the population "
                "would be written: leave the population out, or use mondrian",
                name=self.name,
            )

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Find the best partition and write every group at its lowest common labels."""
        del progress  # it takes a moment
        self.check(problem)
        order = [
            *self.prefer,
            *(name for name in sorted(problem.quasi_identifiers) if name not in self.prefer),
        ]
        columns = [rows.columns[name] for name in order]
        sorted_rows = np.lexsort([column.codes for column in reversed(columns)])
        levels, groups = most_precise([c.take(sorted_rows) for c in columns], _least_size(problem))
        back = np.empty_like(sorted_rows)
        back[sorted_rows] = np.arange(len(sorted_rows))
        precision = 1 - _mean_share(columns, levels)
        return Recoding(
            {c.name: _write(c, levels[back, index]) for index, c in enumerate(columns)},
            np.ones(len(back), dtype=bool),
            steps=(
                f"{search_space(problem.lattice.heights, len(back))} generalizations to choose among",
                f"{groups} groups, precision {float(precision):.4f}, the greatest possible",
            ),
        )


def search_space(heights: Sequence[int], rows: int) -> str:
    """How many generalizations a table has when each cell has a level of its own, in words.

    >>> search_space([1, 1, 2], 6), search_space([1, 5, 1, 5], 1000)
    ('2,985,984', '10^2,158')
    """
    of_a_row = math.prod(height + 1 for height in heights)
    if rows * math.log10(of_a_row) <= math.log10(MOST_EXACT):
        return f"{of_a_row**rows:,}"
    return f"10^{int(rows * math.log10(of_a_row)):,}"


def most_precise(columns: Sequence[Column], least_size: int) -> tuple[Counts, int]:
    """The level of each cell in the most precise table, and how many groups there are.

    Of equally precise tables the one with more precision in the first column is taken, and so on.
    """
    number = len(columns[0].codes)
    subsets = np.arange(1 << number)
    at = _common_levels(columns)
    heights = [_height(column) for column in columns]
    common = math.lcm(*(max(height, 1) for height in heights))
    size = np.array([bin(subset).count("1") for subset in subsets.tolist()], np.int64)
    cost = sum(
        (at[i] * (common // max(height, 1)) for i, height in enumerate(heights)), np.zeros_like(subsets)
    )
    tie, most = np.zeros_like(subsets), 1
    for i, height in enumerate(heights):
        most *= number * height + 1
        if most < 2**62:  # some ten columns; ties in all of them are left as they are
            tie = tie * (number * height + 1) + at[i]
    chosen = partition(size, cost * size, tie * size, least_size)
    levels = np.zeros((number, len(columns)), np.int64)
    left, groups = len(subsets) - 1, 0
    while left:
        group = int(chosen[left])
        members = [row for row in range(number) if group >> row & 1]
        levels[members] = at[:, group]
        left, groups = left ^ group, groups + 1
    return levels, groups


def _height(column: Column) -> int:
    assert column.levels is not None, "a quasi-identifier has a hierarchy"
    return column.levels.height


def _common_levels(columns: Sequence[Column]) -> Counts:
    """For each column and each set of rows, the lowest level on which they have one label."""
    number = len(columns[0].codes)
    at = np.zeros((len(columns), 1 << number), np.int64)
    for index, column in enumerate(columns):
        assert column.levels is not None
        labels = np.stack(column.levels.maps)[:, column.codes]
        pairs = (labels[:, :, None] == labels[:, None, :]).argmax(axis=0)
        for row in range(number):
            # Rows that share a label with the last of them on some level share it with one another.
            below = np.arange(1 << row)
            lowest = np.zeros(1 << row, np.int64)
            for other in range(row):
                lowest = np.where(below >> other & 1, np.maximum(lowest, pairs[row, other]), lowest)
            at[index, 1 << row : 2 << row] = lowest
    return at


@compiled
def partition(size: Counts, cost: Counts, tie: Counts, least_size: int) -> Counts:
    """For each set of rows the group of its last row in the best partition of the set."""
    # Sets are bits of a number, so every smaller set has a smaller number and is decided before it is used.
    # The group of the last row is enumerated, which counts each partition once: O(3^n) for n rows, 8 bytes a
    # set three times. `(part - 1) & others` runs through all subsets downward and ends after 0, which must
    # still be tried.
    best, best_tie = np.full(len(size), -1, np.int64), np.zeros(len(size), np.int64)
    chosen = np.zeros(len(size), np.int64)
    best[0] = 0
    for rows in range(1, len(size)):
        last = 1
        while last * 2 <= rows:
            last *= 2
        others = rows ^ last
        part = others
        while True:
            group = part | last
            left = rows ^ group
            if least_size <= size[group] < 2 * least_size and best[left] >= 0:
                own, own_tie = best[left] + cost[group], best_tie[left] + tie[group]
                if best[rows] < 0 or own < best[rows] or (own == best[rows] and own_tie < best_tie[rows]):
                    best[rows], best_tie[rows], chosen[rows] = own, own_tie, group
            if part == 0:
                break
            part = (part - 1) & others
    return chosen


def _least_size(problem: SearchProblem) -> int:
    return max(model.least_size(problem.tuples) for model in problem.models)


def _mean_share(columns: Sequence[Column], levels: Counts) -> Fraction:
    """How far up its hierarchy a cell is on average."""
    shares = [
        Fraction(int(levels[:, index].sum()), max(_height(column), 1) * len(levels))
        for index, column in enumerate(columns)
    ]
    return sum(shares, Fraction(0)) / len(shares)


def _write(column: Column, level_of_row: Counts) -> WrittenColumn:
    own = column.levels
    assert own is not None
    if not level_of_row.any():
        return WrittenColumn(column.codes, column.values)
    words = [
        own.labels[level][int(own.maps[level][code])]
        for level, code in zip(level_of_row.tolist(), column.codes.tolist(), strict=True)
    ]
    encoded = pa.array(words, pa.string()).dictionary_encode()
    nullable = column.values.null_count > 0
    texts = [None if nullable and word == MISSING else word for word in encoded.dictionary.to_pylist()]
    codes: Codes = np.asarray(encoded.indices, dtype=np.int32)
    return WrittenColumn(codes, pa.array(texts, pa.string()))
