"""The kept or the suppressed classes of a state, whichever are fewer.

What the rows of one side add up to follows from all rows and the other side, so a loss need only walk
over the smaller one.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarnkappe.native import compiled
from tarnkappe.table import ClassState
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


class Side(NamedTuple):
    """Some classes of a state.

    Attributes:
        is_kept: whether they are the kept ones.
        representatives: one tuple of each.
        sizes: the rows of each.
    """

    is_kept: bool
    representatives: Counts
    sizes: Counts


def smaller_side(state: ClassState) -> Side:
    """The kept classes or the others, whichever are fewer."""
    classes = state.classes
    others = classes.num_classes - state.num_kept
    is_kept = state.num_kept < others
    chosen = _choose(state.kept, is_kept, min(state.num_kept, others), classes.representatives, classes.sizes)
    return Side(is_kept, *chosen)


@compiled
def _choose(
    kept: Mask, wanted: bool, number: int, representatives: Counts, sizes: Counts
) -> tuple[Counts, Counts]:
    # The caller knows how many there are, so both arrays are made once with that size; a wrong `number` would
    # write beyond their end. The order of the classes is kept: sums over one side round as those over all.
    chosen_representatives, chosen_sizes = np.empty(number, np.int64), np.empty(number, np.int64)
    place = 0
    for index in range(len(kept)):
        if kept[index] == wanted:
            chosen_representatives[place] = representatives[index]
            chosen_sizes[place] = sizes[index]
            place += 1
    return chosen_representatives, chosen_sizes
