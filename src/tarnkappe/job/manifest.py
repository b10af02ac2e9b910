"""The manifest: a record of what was released, how, and that it was verified. It holds no personal value."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tarnkappe.job.job import Job
from tarnkappe.job.result import Result
from tarnkappe.table import Table
from tarnkappe.table.files import replace_atomically
from tarnkappe.table.ownership import digest_of


def manifest(
    result: Result, job: Job, release: Path | None, tables: Mapping[str, Path] | None = None
) -> dict[str, Any]:
    """What is recorded of a release: a file, a folder of files, or a table in a database (None).

    Where a release has several tables, each is recorded by its name.
    """
    return {
        "tarnkappe": version("tarnkappe"),
        "python": platform.python_version(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": job.input.path or f"database table {job.input.table}"
        if not job.input.query
        else "database query",
        "output": result.output,
        **({} if release is None else {"sha256": _sha256(release)}),
        **({"sha256_of_tables": {n: _sha256(file) for n, file in tables.items()}} if tables else {}),
        "roles": {name: str(role) for name, role in result.input.roles.items()},
        "accepted": job.accepted,
        **_reading(result.input),
        "promises": [model.promise for model in result.problem.models],
        **{key: value for key, value in result.to_dict().items() if key != "output"},
    }


def _reading(table: Table) -> dict[str, Any]:
    """How a text file was read; other formats say it themselves."""
    is_text = table.reading is not None and table.reading.encoding is not None
    return {"reading": table.reading.to_dict()} if table.reading and is_text else {}


def write_manifest(
    result: Result, job: Job, release: Path | None, path: Path, tables: Mapping[str, Path] | None = None
) -> None:
    """Write the manifest of a release."""
    text = json.dumps(manifest(result, job, release, tables), ensure_ascii=False, indent=2, default=str)
    with replace_atomically(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def _sha256(path: Path) -> str | dict[str, str]:
    """The hash of a file, or of every file of a folder by its name."""
    if path.is_dir():
        return {file.name: str(_sha256(file)) for file in sorted(path.iterdir()) if file.name[0] not in "._"}
    return digest_of(path)
