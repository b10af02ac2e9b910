"""What attackers see who know at most l of the quasi-identifiers, whichever they are.

Two facts save most of the work. What is known by fewer columns is a union of groups known by more, so a
least size or a largest share that holds for all combinations of exactly l columns (or of all columns,
if there are fewer) holds for every smaller combination. And classes, not rows, are grouped.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tarnkappe.privacy.group_model import group_classes
from tarnkappe.table import Classes
from tarnkappe.table.grouping import RowGrouping


def column_subsets(names: Sequence[str], l: int) -> list[tuple[str, ...]]:
    """The combinations of l of the columns, or of all if there are not more.

    >>> column_subsets(["age", "sex", "zip"], 2)
    [('age', 'sex'), ('age', 'zip'), ('sex', 'zip')]
    """
    return list(combinations(names, min(l, len(names))))


def subset_groups(classes: Classes, l: int) -> list[RowGrouping]:
    """For each combination of l quasi-identifiers, the classes that agree in it."""
    names = [column.name for column in classes.quasi_identifiers]
    return [group_classes(classes, chosen) for chosen in column_subsets(names, l)]
