"""How many levels up its hierarchy a written cell is, where no level is known but the word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.table import SUPPRESSED, Levels
from tarnkappe.table.encoding import Codes, Counts


def climbed_levels(levels: Levels, originals: Codes, labels: Sequence[str], leaves: Counts) -> Counts:
    """For each pair of a value and what was written for it, the level of the written word.

    Args:
        levels: the hierarchy.
        originals: the code of each value.
        labels: the word that was written for it.
        leaves: how many values that word may stand for.
    """
    words = np.array(labels, dtype=object)
    covered = np.full(len(originals), levels.height, dtype=np.int64)
    named = np.full(len(originals), -1, dtype=np.int64)
    for level in range(levels.height, -1, -1):  # downward, so that the lowest level stays
        codes = levels.maps[level][originals]
        own = levels.leaves[level][codes]
        covered[own >= leaves] = level
        # A word that also stands for more on another level may mean that: a reader cannot tell.
        named[(np.array(levels.labels[level], dtype=object)[codes] == words) & (own >= leaves)] = level
    climbed = np.where(named >= 0, named, covered)
    return np.where(words == SUPPRESSED, levels.height, climbed)
