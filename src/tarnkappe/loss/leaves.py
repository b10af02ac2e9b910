"""How many original values a generalized value stands for.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tarnkappe.loss.remembered import remembered
from tarnkappe.native import compiled
from tarnkappe.table import Classes, Column, Tuples
from tarnkappe.table.grouping import Codes, Counts, sum_by_group

Bits = npt.NDArray[np.float64]
"""Logarithms to base 2: combinations of many columns are more than a number can hold."""


class Leaves(StrEnum):
    """Which values count as the leaves of a hierarchy."""

    HIERARCHY = "hierarchy"
    """All values that the hierarchy knows, whether they occur or not."""
    DATA = "data"
    """Only the values that occur in the table."""


@remembered
def leaves_by_value(tuples: Tuples, name: str, level: int, counted: Leaves) -> Counts:
    """For each value of a column, how many leaves lie under its label at a level."""
    column = tuples.columns[name]
    if counted is Leaves.DATA:
        occurs = (tuples.label_counts(name, 0) > 0).astype(np.int64)
        if column.levels is None:
            return occurs
        labels = column.levels.maps[level]
        return sum_by_group(labels, occurs, column.levels.distinct(level))[labels]
    if column.levels is None:
        return np.ones(column.cardinality, dtype=np.int64)
    return column.levels.leaves[level][column.levels.maps[level]]


@remembered
def num_leaves(tuples: Tuples, name: str, counted: Leaves) -> int:
    """How many leaves the whole hierarchy of a column has."""
    column = tuples.columns[name]
    if counted is Leaves.DATA:
        return int(np.count_nonzero(tuples.label_counts(name, 0)))
    return column.cardinality if column.levels is None else column.levels.domain_size


@remembered
def bits_by_value(tuples: Tuples, name: str, level: int) -> Bits:
    """For each value of a column, the logarithm of the leaves under its label at a level."""
    return np.log2(leaves_by_value(tuples, name, level, Leaves.HIERARCHY))


@remembered
def mean_bits(tuples: Tuples, name: str, level: int) -> float:
    """The mean of these logarithms over all rows."""
    counts = tuples.label_counts(name, 0)
    return float((counts * bits_by_value(tuples, name, level)).sum()) / tuples.num_rows


def bits_of_classes(classes: Classes) -> Bits:
    """The logarithm of how many combinations of original values each class stands for."""
    bits = np.zeros(classes.num_classes)
    for column, level in zip(classes.quasi_identifiers, classes.levels, strict=True):
        if level > 0:
            own = bits_by_value(classes.tuples, column.name, level)
            _add_to_classes(bits, own, column.codes, classes.representatives)
    return bits


def bits_of_domain(tuples: Tuples, columns: Sequence[Column]) -> float:
    """The logarithm of how many combinations of original values there are in all."""
    return math.fsum(math.log2(num_leaves(tuples, column.name, Leaves.HIERARCHY)) for column in columns)


@compiled
def _add_to_classes(bits: Bits, own: Bits, codes: Codes, representatives: Counts) -> None:
    # Called once for each column, in their order, which fixes how floats are rounded. A class is looked up by
    # its representative: all its rows have the same label, so no other row needs to be read.
    for index in range(len(bits)):
        bits[index] += own[codes[representatives[index]]]
