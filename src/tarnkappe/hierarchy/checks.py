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
        raise HierarchyError(
            "hierarchy.hierarchy-empty-give-line",
            "the hierarchy is empty: give one line a value, such as 34;30-39;*",
        )
    if len(rows[0]) < 2:
        raise HierarchyError(
            "hierarchy.line-no-label-only-value",
            "line {lines} has no label, only the value {rows}: write value;label;...;*",
            lines=lines[0],
            rows=shown(rows[0][0]),
        )
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise HierarchyError(
                "hierarchy.line-levels-line-every-needs",
                "line {line} ({row}) has {row_2} levels, line {lines} has {rows}: every line needs the same"
                " number of levels",
                line=line,
                row=shown(row[0]),
                row_2=len(row) - 1,
                lines=lines[0],
                rows=len(rows[0]) - 1,
            )


def check_repeated(row: Sequence[Value], earlier: Sequence[Value]) -> None:
    """Refuse a value that occurs twice with different labels."""
    for level, (label, other) in enumerate(zip(row[1:], earlier[1:], strict=True), start=1):
        if label != other:
            raise HierarchyError(
                "hierarchy.value-occurs-twice-different",
                "the value {row} occurs twice with different labels: on level {level} '{other}' and "
                "'{label}'; keep one of the lines",
                row=shown(row[0]),
                level=level,
                other=other,
                label=label,
            )


def check_hierarchy(values: Sequence[Value], maps: Sequence[Codes], labels: Sequence[Sequence[str]]) -> None:
    """Refuse what is no monotone hierarchy with one root; levels are counted from 1."""
    for level, (codes, names) in enumerate(zip(maps, labels, strict=True), start=1):
        if "" in names:
            value = values[int(np.flatnonzero(codes == list(names).index(""))[0])]
            raise HierarchyError(
                "hierarchy.value-no-label-level",
                "the value {value} has no label on level {level}: give it one",
                value=shown(value),
                level=level,
            )
    check_one_root(values, maps[-1], labels[-1])
    for level in range(1, len(maps)):
        check_monotone(values, maps, labels, level)


def check_one_root(values: Sequence[Value], top: Codes, labels: Sequence[str]) -> None:
    """Refuse a hierarchy whose highest level tells values apart."""
    if len(labels) > 1:
        other = int(np.flatnonzero(top != top[0])[0])
        raise HierarchyError(
            "hierarchy.hierarchy-roots-ends-last",
            "the hierarchy has {labels} roots: {values} ends in '{labels_2}', {values_2} in '{labels_3}'; "
            "the last label of every line must be the same, usually *",
            labels=len(labels),
            values=shown(values[0]),
            labels_2=labels[top[0]],
            values_2=shown(values[other]),
            labels_3=labels[top[other]],
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
            "hierarchy.hierarchy-not-monotone-level",
            "the hierarchy is not monotone: on level {level} the values {values} and {values_2} share the "
            "label '{labels}', but on level {level_2} they have '{labels_2}' and '{labels_3}'; give them "
            "the same label on level {level_2} or different ones on level {level}",
            level=level,
            values=shown(values[other]),
            values_2=shown(values[value]),
            labels=labels[level - 1][below[value]],
            level_2=level + 1,
            labels_2=labels[level][above[other]],
            labels_3=labels[level][above[value]],
        )


def not_total(
    column: str, values: Sequence[Value], absent: Sequence[Value], root: str, height: int
) -> HierarchyError:
    """The error for a column with values that the hierarchy does not have; `absent` are those values."""
    if list(absent) == [None]:
        line = ";".join(["", *[MISSING] * (height - 1), root])
        return HierarchyError(
            "hierarchy.column-missing-values-but-hierarchy",
            "the column '{column}' has missing values, but the hierarchy has no line for them: add the line"
            " {line}",
            column=column,
            line=line,
        )
    return HierarchyError(
        "hierarchy.hierarchy-lacks-values-column",
        "the hierarchy lacks {absent} of the {values} values of the column '{column}', the first is "
        "{absent_2}: add a line for each of them",
        absent=len(absent),
        values=len(values),
        column=column,
        absent_2=shown(absent[0]),
    )


def shown(value: Value) -> str:
    """A value as an error shows it."""
    return "of missing cells" if value is None else f"'{value}'"
