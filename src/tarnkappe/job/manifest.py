"""The manifest: a record of what was released, how, and that it was verified. It holds no personal value."""

from __future__ import annotations

import hashlib
import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tarnkappe.job.job import Job
from tarnkappe.job.result import Result
from tarnkappe.table.files import replace_atomically


def manifest(result: Result, job: Job) -> dict[str, Any]:
    """What is recorded of a release."""
    assert result.output is not None
    return {
        "tarnkappe": version("tarnkappe"),
        "python": platform.python_version(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": job.input.path or f"database table {job.input.table}"
        if not job.input.query
        else "database query",
        "output": result.output,
        "sha256": _sha256(Path(result.output)),
        "roles": {name: str(role) for name, role in result.input.roles.items()},
        "promises": [model.promise for model in result.problem.models],
        **{key: value for key, value in result.to_dict().items() if key != "output"},
    }


def write_manifest(result: Result, job: Job, path: Path) -> None:
    """Write the manifest beside the release."""
    text = json.dumps(manifest(result, job), ensure_ascii=False, indent=2, default=str)
    with replace_atomically(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
