"""What every hierarchy must fulfil, whether it was written by hand, imported or built.

A hierarchy is monotone: whoever shares a label on one level shares it on all levels above. Every
optimization of the search (roll-up, pruning, snapshots) rests on it, so a hierarchy that breaks it is
refused before any work, with the values, the label and the level that break it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.errors import HierarchyError
from tarnkappe.table import MISSING
from tarnkappe.table.encoding import Codes

Value = str | None
"""A value as text; None is the missing value."""


def check_rows(rows: Sequence[Sequence[Value]], lines: Sequence[int]) -> None:
    """Refuse rows that are no table of value, label, ..., root; `lines` are their numbers in the file."""
    if not rows:
        raise HierarchyError("the hierarchy is empty: give one line a value, such as 34;30-39;*")
    if len(rows[0]) < 2:
        raise HierarchyError(
            f"line {lines[0]} has no label, only the value {shown(rows[0][0])}: write value;label;...;*"
        )
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise HierarchyError(
                f"line {line} ({shown(row[0])}) has {len(row) - 1} levels, line {lines[0]} has "
                f"{len(rows[0]) - 1}: every line needs the same number of levels"
            )


def check_repeated(row: Sequence[Value], earlier: Sequence[Value]) -> None:
    """Refuse a value that occurs twice with different labels."""
    for level, (label, other) in enumerate(zip(row[1:], earlier[1:], strict=True), start=1):
        if label != other:
            raise HierarchyError(
                f"the value {shown(row[0])} occurs twice with different labels: on level {level} "
                f"'{other}' and '{label}'; keep one of the lines"
            )


def check_hierarchy(values: Sequence[Value], maps: Sequence[Codes], labels: Sequence[Sequence[str]]) -> None:
    """Refuse what is no monotone hierarchy with one root; levels are counted from 1."""
    for level, (codes, names) in enumerate(zip(maps, labels, strict=True), start=1):
        if "" in names:
            value = values[int(np.flatnonzero(codes == list(names).index(""))[0])]
            raise HierarchyError(f"the value {shown(value)} has no label on level {level}: give it one")
    check_one_root(values, maps[-1], labels[-1])
    for level in range(1, len(maps)):
        check_monotone(values, maps, labels, level)


def check_one_root(values: Sequence[Value], top: Codes, labels: Sequence[str]) -> None:
    """Refuse a hierarchy whose highest level tells values apart."""
    if len(labels) > 1:
        other = int(np.flatnonzero(top != top[0])[0])
        raise HierarchyError(
            f"the hierarchy has {len(labels)} roots: {shown(values[0])} ends in '{labels[top[0]]}', "
            f"{shown(values[other])} in '{labels[top[other]]}'; the last label of every line must be the "
            "same, usually *"
        )


def check_monotone(
    values: Sequence[Value], maps: Sequence[Codes], labels: Sequence[Sequence[str]], level: int
) -> None:
    """Refuse labels of a level that lie under more than one label of the next level."""
    below, above = maps[level - 1], maps[level]
    _, first_value = np.unique(below, return_index=True)
    first = first_value[below]  # for every value, the first one that shares its label
    broken = np.flatnonzero(above[first] != above)
    if len(broken):
        value, other = int(broken[0]), int(first[broken[0]])
        raise HierarchyError(
            f"the hierarchy is not monotone: on level {level} the values {shown(values[other])} and "
            f"{shown(values[value])} share the label '{labels[level - 1][below[value]]}', but on level "
            f"{level + 1} they have '{labels[level][above[other]]}' and '{labels[level][above[value]]}'; "
            f"give them the same label on level {level + 1} or different ones on level {level}"
        )


def not_total(
    column: str, values: Sequence[Value], absent: Sequence[Value], root: str, height: int
) -> HierarchyError:
    """The error for a column with values that the hierarchy does not have; `absent` are those values."""
    if list(absent) == [None]:
        line = ";".join(["", *[MISSING] * (height - 1), root])
        return HierarchyError(
            f"the column '{column}' has missing values, but the hierarchy has no line for them: "
            f"add the line {line}"
        )
    return HierarchyError(
        f"the hierarchy lacks {len(absent)} of the {len(values)} values of the column '{column}', "
        f"the first is {shown(absent[0])}: add a line for each of them"
    )


def shown(value: Value) -> str:
    """A value as an error shows it."""
    return "of missing cells" if value is None else f"'{value}'"
