"""The flags of `tarn check` that ask for risk measures and for a scan for identifiers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from tarnkappe.cli.arguments import parse_parameters
from tarnkappe.cli.console import output, print_json, progress_bar, show_in_one_line
from tarnkappe.cli.reading_flags import Options, say_reading
from tarnkappe.errors import ParameterError
from tarnkappe.report.check_text import render_scan
from tarnkappe.risk import MEASURES, RiskMeasure, find_identifiers
from tarnkappe.schema import fields_of
from tarnkappe.table import read

EVERYTHING = "all"


def create_measures(chosen: Mapping[str, Mapping[str, Any]]) -> list[RiskMeasure]:
    """Risk measures by their names and parameters."""
    return [MEASURES.create(name, parameters) for name, parameters in chosen.items()]


def choose_measures(
    asked: Sequence[str], sampling_fraction: str | None, threshold: str | None, suda_size: int | None
) -> dict[str, dict[str, Any]]:
    """The risk measures that flags ask for, each with its parameters.

    >>> choose_measures(["contributions:most_exact=8"], None, None, 2)
    {'contributions': {'most_exact': 8}, 'special-uniques': {'size': 2}}
    """
    chosen: dict[str, dict[str, Any]] = {}
    for text in asked:
        name, parameters = parse_parameters(text)
        for member in MEASURES.names if name == EVERYTHING else (MEASURES[name].name,):
            chosen.setdefault(member, {}).update(parameters)
    if suda_size is not None:
        chosen.setdefault("special-uniques", {}).setdefault("size", suda_size)
    if threshold is not None:
        chosen.setdefault("reidentification", {}).setdefault("threshold", threshold)
    if sampling_fraction is not None:
        for kind in MEASURES:
            if any(field.name == "sampling_fraction" for field in fields_of(kind)):
                chosen.setdefault(kind.name, {}).setdefault("sampling_fraction", sampling_fraction)
    return chosen


def scan_only(data: str, reading: Options, html: Path | None, as_json: bool) -> None:
    """Look for identifiers in a table of which nothing else is known yet."""
    if html is not None:
        raise ParameterError(
            "cli.html-writes-report-whole",
            "--html writes the report of a whole check: name the quasi-identifiers with --qi",
        )
    start = time.perf_counter()
    with progress_bar() as progress:
        table = read(data, **reading, progress=progress)
        was_read = time.perf_counter()
        show_in_one_line(table.column_names)
        scan = find_identifiers(table, progress=progress)
    say_reading(table)
    if as_json:
        seconds = {"read": round(was_read - start, 6), "check": round(time.perf_counter() - was_read, 6)}
        found = {"input": data, "rows": table.num_rows, "safe_harbor": scan.to_dict(), "holds": scan.holds}
        print_json({**found, "seconds": seconds})
    else:
        output.print(render_scan(scan))
    if not scan.holds:
        raise typer.Exit(1)
