"""Slicing in an engine: every correlation set is numbered anew within its bucket, then all are joined again.

Rows at positions 0, 1, 2, ... fall into buckets of so many consecutive ones, the last with what remains. For
every correlation set but one (the result does not change in distribution if one stays in place) the rows of a
bucket are ordered by a keyed hash of their ids; the n-th in this order gives its part of the row to the n-th
position of the bucket. Hashes of 256 bits do not repeat, so every order is equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis

from tarnkappe.algebra.lowering.rows import LoweredRows, id_as_text
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.errors import NoSolutionError


def sliced(
    rows: LoweredRows,
    groups: Sequence[Sequence[str]],
    secrets: Sequence[str],
    least: int,
    site: EngineSnapshot,
) -> LoweredRows:
    """The rows with the parts in `groups` permuted within buckets of at least so many rows.

    Args:
        rows: with an id that counts them without a gap.
        groups: the correlation sets, two or more; the first stays in place.
        secrets: of every set, what the hashes that order it begin with.
        least: how many rows a bucket has.
        site: where this runs.
    """
    total = int(site.fetch(rows.table.aggregate(n=rows.table.count()), "counting").column("n")[0].as_py())
    if total < least:
        raise NoSolutionError(
            "algebra.slicing-needs-least-rows",
            "slicing needs at least {least} rows, a bucket; there {total:is|are} {total}",
            least=least,
            total=total,
        )
    (place,) = rows.id
    bucket = ibis.least(place - place % least, (total // least - 1) * least)  # its first place; no division
    joined = rows.table
    cells: dict[str, Any] = {}
    for n, group in enumerate(groups[1:], start=1):
        order = site.hashed(site.secret(secrets[n]) + id_as_text(rows.id))
        number = ibis.row_number().over(group_by=bucket, order_by=order)
        own = {f"p{n}_{m}": rows.cell(column) for m, column in enumerate(group)}
        part = rows.table.select(**{f"s{n}": bucket + number}, **own)
        joined = joined.join(part, place == part[f"s{n}"])
        cells |= {column: part[f"p{n}_{m}"] for m, column in enumerate(group)}
    return rows.changed(joined, cells)
