"""Verification before release: from the values as they were written, by code that did not produce them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from tarnkappe.errors import VerificationError
from tarnkappe.job.result import Result
from tarnkappe.job.truthfulness import require_true_cells
from tarnkappe.privacy import ModelScope
from tarnkappe.privacy.verify import Verification, verify
from tarnkappe.recoding import Pass
from tarnkappe.table import MISSING, SUPPRESSED, write
from tarnkappe.table.files import suffix_of
from tarnkappe.table.read import as_typed, read_written
from tarnkappe.table.write import csv_style, without_guards


def verify_release(result: Result, release: pa.Table) -> Result:
    """Check a release against everything that was promised; anything amiss is an error.

    Beside the privacy models, no identifier may be left, and every generalized column may hold only
    labels of its level; where a method wrote each row in its own way, only what is true of the row.
    """
    _require_no_identifiers(result, release)
    columns = result.problem.tuples.columns
    if result.passes:
        _require_labels(result, release)
    else:
        columns = require_true_cells(result, release)
    with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
        connection.register("release", _with_withheld(release, result.withheld))
        connection.register("input", result.input.data)
        if result.population is not None:
            connection.register("everyone", result.population.data)
        verified = verify(
            connection,
            result.problem.models,
            result.problem.quasi_identifiers,
            population=None if result.population is None else "everyone",
            sensitive=columns,
        )
        passes = _verify_passes(connection, result, _with_withheld(release, result.withheld))
    if result.further is not None:
        originals = result.input.data.select(result.further.columns).take(pa.array(result.source_rows))
        result.further.verify(originals, release, result.problem.quasi_identifiers)
    return require_promises(dataclasses.replace(result, passes=passes), verified)


def require_promises(result: Result, verified: Sequence[Verification]) -> Result:
    """The result with what the independent path found; a broken promise is an error."""
    _require_all_hold(verified, "the release")
    return dataclasses.replace(result, verified=tuple(verified))


def _with_withheld(release: pa.Table, withheld: pa.Table) -> pa.Table:
    for name in withheld.column_names:
        release = release.append_column(name, withheld.column(name))
    return release


def write_verified(result: Result, path: Path, delimiter: str | None, excel: bool = False) -> Result:
    """Write the release in the spelling of the input and verify it again, from what was written."""
    reading = result.input.reading
    write(result.release, path, delimiter=delimiter, excel=excel, reading=reading)
    style = csv_style(reading, suffix_of(path), delimiter, excel)
    return verify_release(result, _as_released(without_guards(read_written(path, style), style), result))


def _as_released(written: pa.Table, result: Result) -> pa.Table:
    """What was written, with the types of the release (text formats forget them)."""
    expected = result.release.data
    if written.column_names != expected.column_names or written.num_rows != expected.num_rows:
        raise VerificationError(
            "job.what-written-differs-release",
            "what was written differs from the release: it was not handed over",
        )
    written = as_typed(written, expected.schema)
    if not written.equals(expected):
        raise VerificationError(
            "job.what-written-differs-release",
            "what was written differs from the release: it was not handed over",
        )
    return written


def _require_no_identifiers(result: Result, release: pa.Table) -> None:
    left = [name for name in result.input.identifiers if name in release.column_names]
    if left:
        raise VerificationError(
            "job.release-still-identifier-not-handed",
            "the release still has the identifier {left}: it was not handed over",
            left=", ".join(left),
        )


def _require_labels(result: Result, release: pa.Table) -> None:
    """A generalized column holds only labels of the chosen levels, and '*' where it was asked for."""
    stars = {SUPPRESSED} if result.starred else set()
    for name in result.problem.quasi_identifiers:
        used = sorted({each.levels[name] for each in result.passes if each.rows})
        levels = result.problem.tuples.columns[name].levels
        if name in result.aggregates or levels is None or used in ([], [0]):
            continue
        allowed = {label for level in used for label in levels.labels[level]} | stars
        allowed = {SUPPRESSED} if name in result.treatment.suppressed else allowed
        found = {MISSING if value is None else value for value in release.column(name).unique().to_pylist()}
        if not found <= allowed:
            raise VerificationError(
                "job.column-release-holds-value-no-label",
                "the column '{name}' of the release holds a value that is no label of level {str}: it was "
                "not handed over",
                name=name,
                str=" or ".join(map(str, used)),
            )


def _verify_passes(
    connection: duckdb.DuckDBPyConnection, result: Result, release: pa.Table
) -> tuple[Pass, ...]:
    """Each pass of a local recoding keeps by itself what is promised of every class."""
    if len(result.passes) <= 1:
        return result.passes
    models = [
        part
        for model in result.problem.models
        for part in model.parts
        if part.scope is ModelScope.CLASS and not part.looks_beyond_release
    ]
    passes = []
    for number, each in enumerate(result.passes):
        connection.register("pass", release.filter(pa.array(result.pass_of_row == number)))
        verified = verify(
            connection,
            models,
            result.problem.quasi_identifiers,
            release="pass",
            sensitive=result.problem.tuples.columns,
        )
        _require_all_hold(verified, f"pass {number + 1} of the release")
        passes.append(dataclasses.replace(each, verified=tuple(verified)))
    return tuple(passes)


def _require_all_hold(verified: Sequence[Verification], what: str) -> None:
    for found in verified:
        if not found.holds:
            raise VerificationError(
                "job.not-meet-classes-violate",
                "{what} does not meet {model} ({violating_classes} {violating_classes:class "
                "violates|classes violate} it): it was not handed "
                "over; please report this, it is a fault of the program",
                what=what,
                model=found.model,
                violating_classes=found.violating_classes,
            )
