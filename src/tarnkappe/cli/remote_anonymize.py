"""`tarn anonymize --remote` and `tarn lattice --remote`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.cli.console import output, progress_bar
from tarnkappe.cli.remote import Remote, refuse_local, tell
from tarnkappe.errors import ParameterError
from tarnkappe.job import Output, read_job_file
from tarnkappe.job.publication import manifest_path

RELEASE = "release"


def anonymize_remotely(url: str, content: Mapping[str, Any], folder: Path, as_json: bool) -> None:
    """Run a job at a service and write its release, report and manifest here."""
    said: dict[str, Any] = dict(content.get("output", {}))
    said |= {key: str(folder / said[key]) for key in ("path", "report", "manifest") if key in said}
    made = Output(**said)
    if made.table is not None:
        raise ParameterError(
            "a release from a service is written to a file: name 'path' in [output], no 'table'"
        )
    if made.certificate is not None:
        raise ParameterError(
            "a certificate is made where the input is: leave 'certificate' out with --remote"
        )
    written = []
    with Remote(url) as there, progress_bar() as progress:
        document = {**there.job(content, folder), "output": {"shuffle": made.shuffle}}
        found = there.run("anonymize", document, progress)
        if made.path is not None:
            for what in (name for name in found["files"] if name.startswith(RELEASE)):
                path = Path(made.path)
                path = path.with_name(f"{path.stem}{what.removeprefix(RELEASE)}{path.suffix}")
                there.take_table(what, path, made.delimiter)
                written.append(str(path))
        for what, target in (("report", made.report), ("manifest", manifest_path(made))):
            if target is not None:
                there.take(what, target)
    outputs = {"outputs": written} if "outputs" in found["figures"] else {}
    tell(found, as_json, output=made.path, **outputs)
    if not as_json:
        for name in written:
            output.print(f"written to {name}", highlight=False)


def explore_remotely(url: str, job: Path, out: Path | None, picture: Path | None, as_json: bool) -> None:
    """Classify the lattice of a job at a service."""
    refuse_local(picture=picture)
    with Remote(url) as there, progress_bar() as progress:
        found = there.run("lattice", there.job(read_job_file(job), job.parent), progress)
        if out is not None:
            there.take_table("lattice", out)
    tell(found, as_json, output=None if out is None else str(out))
    if out is not None and not as_json:
        output.print(f"written to {out}", highlight=False)
