"""What a release is worth and whether it keeps its promise, by our own check, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

import tarnkappe
from tarnkappe.privacy import Model
from tarnkappe.table import SUPPRESSED
from tarnkappe_bench.federation_baselines import cell_entropy

ROW = "row"
"""The column by which rows of a release are found in the original, where a peer keeps it."""


def read_release(path: Path) -> pa.Table:
    """A release that a peer wrote; every cell is text."""
    parse = pa.csv.ParseOptions(delimiter=";")
    with path.open("rb") as file:
        names = file.readline().decode().strip().split(";")
    types = pa.csv.ConvertOptions(column_types={name.strip('"'): pa.string() for name in names})
    return pa.csv.read_csv(path, parse_options=parse, convert_options=types)


def judge(
    release: pa.Table, quasi_identifiers: Sequence[str], sensitive: str, models: Sequence[Model]
) -> dict[str, Any]:
    """What a check measures of a release, and whether every promise is kept."""
    report = tarnkappe.check(
        tarnkappe.Table(release.select([*quasi_identifiers, sensitive])),
        quasi_identifiers=list(quasi_identifiers),
        sensitive=[sensitive],
        models=list(models),
    )
    return {
        "k": report.k,
        "classes": report.classes,
        "rows": report.rows,
        "values": [verdict.value for verdict in report.verdicts],
        "right": all(verdict.holds for verdict in report.verdicts),
    }


def lost_bits(original: pa.Table, release: pa.Table, quasi_identifiers: Sequence[str]) -> float:
    """Non-uniform entropy of a release; rows that it left out count as if all their cells were hidden."""
    order = {row: place for place, row in enumerate(release.column(ROW).to_pylist())}
    there = [order.get(row) for row in original.column(ROW).to_pylist()]
    shown: Mapping[str, list[str]] = {
        name: [SUPPRESSED if place is None else cells[place] for place in there]
        for name, cells in ((name, release.column(name).to_pylist()) for name in quasi_identifiers)
    }
    return cell_entropy(original, pa.table(dict(shown)), dict.fromkeys(quasi_identifiers, 0))
