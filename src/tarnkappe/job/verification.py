"""Verification before release: from the values as they were written, by code that did not produce them."""

from __future__ import annotations

import dataclasses
import secrets
from pathlib import Path

import duckdb
import pyarrow as pa

from tarnkappe.errors import VerificationError
from tarnkappe.job.result import Result
from tarnkappe.privacy.verify import verify
from tarnkappe.table import read, write


def verify_release(result: Result, release: pa.Table) -> Result:
    """Check a release against everything that was promised; anything amiss is an error.

    Beside the privacy models, no identifier may be left and every generalized column may hold only
    labels of its level.
    """
    _require_no_identifiers(result, release)
    _require_labels(result, release)
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
            sensitive=result.problem.tuples.columns,
        )
    for found in verified:
        if not found.holds:
            raise VerificationError(
                f"the release does not meet {found.model} ({found.violating_classes} classes violate it): "
                "it was not handed over; please report this, it is a fault of the program"
            )
    return dataclasses.replace(result, verified=tuple(verified))


def _with_withheld(release: pa.Table, withheld: pa.Table) -> pa.Table:
    for name in withheld.column_names:
        release = release.append_column(name, withheld.column(name))
    return release


def publish(result: Result, path: Path, delimiter: str) -> Result:
    """Write the release under another name, verify what was written, and only then give it its name."""
    unverified = path.with_name(f".{secrets.token_hex(4)}-unverified-{path.name}")
    try:
        write(result.release, unverified, delimiter=delimiter)
        written = read(unverified, delimiter=delimiter if path.suffix in {".csv", ".txt"} else None).data
        result = verify_release(result, _as_released(written, result))
        unverified.replace(path)
    finally:
        unverified.unlink(missing_ok=True)
    return dataclasses.replace(result, output=str(path))


def _as_released(written: pa.Table, result: Result) -> pa.Table:
    """What was written, with the types of the release (text formats forget them)."""
    expected = result.release.data
    if written.column_names != expected.column_names or written.num_rows != expected.num_rows:
        raise VerificationError("what was written differs from the release: it was not handed over")
    written = written.cast(expected.schema)
    if not written.equals(expected):
        raise VerificationError("what was written differs from the release: it was not handed over")
    return written


def _require_no_identifiers(result: Result, release: pa.Table) -> None:
    left = [name for name in result.input.identifiers if name in release.column_names]
    if left:
        raise VerificationError(
            f"the release still has the identifier {', '.join(left)}: it was not handed over"
        )


def _require_labels(result: Result, release: pa.Table) -> None:
    for name, level in result.levels.items():
        levels = result.problem.tuples.columns[name].levels
        if level == 0 or levels is None:
            continue
        if not set(release.column(name).unique().to_pylist()) <= set(levels.labels[level]):
            raise VerificationError(
                f"the column '{name}' of the release holds a value that is no label of level {level}: "
                "it was not handed over"
            )
