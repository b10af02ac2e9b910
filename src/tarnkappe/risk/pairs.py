"""Which people fit which classes, and which classes of two releases fit each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are used

from tarnkappe.errors import ColumnError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.risk.cells import agreeing, covering
from tarnkappe.risk.levels import with_levels
from tarnkappe.table import Classes, Table, Tuples
from tarnkappe.table.encoding import Codes
from tarnkappe.table.row_tuples import row_tuples

Indices = npt.NDArray[np.int64]

MOST_BITS = 1 << 28
"""How many pairs are looked at in one go."""
MOST_PAIRS = 5_000_000
"""How many pairs of classes are kept at most: more would say next to nothing, and take minutes."""


class Pairs(NamedTuple):
    """Pairs of a left and a right thing that fit, ordered by left, then by right."""

    left: Indices
    right: Indices


def classes_of(table: Table, hierarchies: Mapping[str, Hierarchy] | None = None) -> Classes:
    """The classes of a released table by its quasi-identifiers, with the values of its sensitive columns.

    Hierarchies of sensitive columns are their categories; those of quasi-identifiers are not used, since
    the table shows generalized cells already.
    """
    if not table.quasi_identifiers:
        raise ColumnError(
            "risk.release-no-quasi-identifier",
            "a release has no quasi-identifier: name the columns that an attacker may know",
        )
    tuples = row_tuples(table, table.quasi_identifiers, table.sensitive)
    tuples = with_levels(tuples, {n: h for n, h in (hierarchies or {}).items() if n in table.sensitive})
    return tuples.classes(table.quasi_identifiers, None, [(name,) for name in table.sensitive])


def people_in_classes(people: Tuples, classes: Classes, hierarchies: Mapping[str, Hierarchy]) -> Pairs:
    """Which people (left) fit which classes (right): every cell of the class stands for their value."""
    sides = []
    for name in (column.name for column in classes.quasi_identifiers if column.name in people.columns):
        column = people.columns[name]
        codes, labels = _labels(classes, name)
        found = covering(labels, column.labels, hierarchies.get(name))
        if not found.nnz:
            raise ColumnError(
                "risk.no-cell-stands-what-known",
                "no cell of '{name}' stands for what is known of anybody: write both alike, or give the "
                "hierarchy of the column if its cells are categories",
                name=name,
            )
        sides.append((column.codes, codes, scipy.sparse.csr_array(found.T)))
    fitting = _fitting(sides, people.num_tuples, classes.num_classes, None)
    assert fitting is not None
    return fitting


def classes_in_classes(
    ours: Classes, theirs: Classes, hierarchies: Mapping[str, Hierarchy], most: int = MOST_PAIRS
) -> Pairs | None:
    """Which classes of two releases can have a member in common, by the columns that both have.

    Returns None if these are more pairs than `most`.
    """
    shared = {column.name for column in theirs.quasi_identifiers}
    sides = []
    for column in ours.quasi_identifiers:
        if column.name in shared:
            (left, our_labels), (right, their_labels) = (_labels(c, column.name) for c in (ours, theirs))
            found = agreeing(our_labels, their_labels, hierarchies.get(column.name))
            sides.append((left, right, found))
    return _fitting(sides, ours.num_classes, theirs.num_classes, most)


def _labels(classes: Classes, name: str) -> tuple[Codes, tuple[str, ...]]:
    """The label code of each class in a column, and the labels."""
    index = [column.name for column in classes.quasi_identifiers].index(name)
    column, level = classes.quasi_identifiers[index], classes.levels[index]
    labels = column.labels if column.levels is None or level == 0 else column.levels.labels[level]
    return classes.label_codes(index), labels


def _fitting(
    sides: Sequence[tuple[Codes, Codes, scipy.sparse.csr_array]], lefts: int, rights: int, most: int | None
) -> Pairs | None:
    """The pairs that fit in every column, None if they are too many.

    Each distinct left label gets one bit for every right thing that it fits; the bits of a left thing
    are the conjunction over the columns. Left things that agree in everything are looked at once.
    """
    bits = []
    for left, right, fits in sides:
        table = np.zeros((fits.shape[0], (rights + 7) // 8), np.uint8)
        for label in np.unique(left).tolist():
            row = np.zeros(fits.shape[1], dtype=bool)
            row[fits.indices[fits.indptr[label] : fits.indptr[label + 1]]] = True
            table[label] = np.packbits(row[right])
        bits.append((left, table))
    step = max(1, MOST_BITS // max(rights, 1))
    found: list[Pairs] = []
    number = 0
    for start in range(0, lefts, step):
        chunk = np.full((min(step, lefts - start), (rights + 7) // 8), 255, np.uint8)
        for left, table in bits:
            chunk &= table[left[start : start + step]]
        number += int(np.bitwise_count(chunk).sum(dtype=np.int64))
        if most is not None and number > most:
            return None
        row, byte = np.nonzero(chunk)
        which, bit = np.nonzero(np.unpackbits(chunk[row, byte, None], axis=1))
        right_index = byte[which] * 8 + bit
        within = right_index < rights
        found.append(Pairs(row[which][within] + start, right_index[within]))
    empty = np.zeros(0, np.int64)
    return Pairs(
        np.concatenate([empty, *(pairs.left for pairs in found)]),
        np.concatenate([empty, *(pairs.right for pairs in found)]),
    )
