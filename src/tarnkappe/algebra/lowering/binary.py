"""Operators on two relations, as bags: multiplicities count, and missing values are equal to each other.

Joins are SQL's: a missing value joins nothing.
"""

from __future__ import annotations

from typing import Any

import ibis

from tarnkappe.algebra.lowering.rows import LoweredRows, alike, common, made

ZERO = ibis.literal(0, "int64")
ONE = ibis.literal(1, "int64")


def united(left: LoweredRows, right: LoweredRows) -> LoweredRows:
    """All rows of both; with ids, the left ones come first."""
    left, right = alike(left, right)
    ids = max(left.ids, right.ids)
    sides = [_padded(side, number, ids).table for side, number in ((left, ZERO), (right, ONE))]
    return LoweredRows(ibis.union(*sides, distinct=False), left.columns, ids + 1 if ids else 0)


def _padded(rows: LoweredRows, side: Any, ids: int) -> LoweredRows:
    """With the number of its side before the id, and zeros behind it until it is long enough."""
    if not ids:
        return rows
    return made(rows.table, rows.columns, rows.cells, [side, *rows.id, *[ZERO] * (ids - rows.ids)])


def matched(left: LoweredRows, right: LoweredRows, *, keep_matches: bool) -> LoweredRows:
    """The rows of the left that have a partner of their own on the right; or else those that have none.

    That is INTERSECT ALL and EXCEPT ALL. With ids it matters which of several equal rows stay: the first ones
    find partners. Then rows are counted among their equals, and as many as the right has are matched.
    """
    left, right = alike(left, right)
    if not left.ids:
        operation = ibis.intersect if keep_matches else ibis.difference
        return LoweredRows(operation(left.table, right.table, distinct=False), left.columns)
    both = united(left, LoweredRows(right.table, right.columns, 0))
    side, *ids = both.id
    equals = both.cells
    partners = side.sum().over(group_by=equals)
    number = ibis.row_number().over(group_by=[*equals, side], order_by=ids)
    counted = both.table.mutate(partners=partners, number=number)
    is_matched = counted["number"] < counted["partners"]
    kept = counted.filter((counted["i0"] == 0) & (is_matched if keep_matches else ~is_matched))
    cells = [kept[f"c{n}"] for n in range(len(both.columns))]
    return made(kept, both.columns, cells, [kept[f"i{n + 1}"] for n in range(len(ids))])


def joined(left: LoweredRows, right: LoweredRows, on: frozenset[str]) -> LoweredRows:
    """All pairs that agree on some columns; without columns, all pairs."""
    other = _told_apart(right)
    pairs = [common(left.cell(c), other[f"d{right.columns.index(c)}"], c) for c in left.columns if c in on]
    conditions = [one == another for one, another in pairs]
    table = left.table.join(other, conditions) if conditions else left.table.cross_join(other)
    added = [n for n, column in enumerate(right.columns) if column not in on]
    columns = (*left.columns, *(right.columns[n] for n in added))
    cells = [*(table[f"c{n}"] for n in range(len(left.columns))), *(table[f"d{n}"] for n in added)]
    ids = [*(table[f"i{n}"] for n in range(left.ids)), *(table[f"j{n}"] for n in range(right.ids))]
    return made(table, columns, cells, ids)


def _told_apart(rows: LoweredRows) -> Any:
    """The table of a right side, under names that no left side has."""
    cells = {f"d{n}": cell for n, cell in enumerate(rows.cells)}
    return rows.table.select(**cells, **{f"j{n}": number for n, number in enumerate(rows.id)}).view()
