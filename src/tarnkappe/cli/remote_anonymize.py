"""`tarn anonymize --remote` and `tarn lattice --remote`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tarnkappe.cli.console import output, progress_bar
from tarnkappe.cli.remote import Remote, refuse_local, tell
from tarnkappe.errors import ParameterError
from tarnkappe.job import Output, read_job_file
from tarnkappe.job.publication import manifest_path
from tarnkappe.table.files import replace_atomically
from tarnkappe.table.overwriting import refuse_overwriting
from tarnkappe.table.ownership import digest_of

RELEASE = "release"


def anonymize_remotely(url: str, content: Mapping[str, Any], folder: Path, as_json: bool) -> None:
    """Run a job at a service and write its release, report and manifest here."""
    said: dict[str, Any] = dict(content.get("output", {}))
    said |= {key: str(folder / said[key]) for key in ("path", "report", "manifest") if key in said}
    made = Output(**said)
    if made.table is not None:
        raise ParameterError(
            "cli.release-service-written-file",
            "a release from a service is written to a file: name 'path' in [output], no 'table'",
        )
    if made.certificate is not None:
        raise ParameterError(
            "cli.certificate-made-where-input",
            "a certificate is made where the input is: leave 'certificate' out with --remote",
        )
    manifest = manifest_path(made)
    outputs = {"the release": made.path, "the manifest": manifest, "the report": made.report}
    refuse_overwriting(outputs, (), [Path(manifest)] if manifest else ())
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
        if made.report is not None:
            there.take("report", made.report)
        if manifest is not None:
            _write_manifest(there.text("manifest"), Path(manifest), written)
    several = {"outputs": written} if "outputs" in found["figures"] else {}
    tell(found, as_json, output=made.path, **several)
    if not as_json:
        for name in written:
            output.print(f"written to {name}", highlight=False)


def _write_manifest(text: str, path: Path, written: Sequence[str]) -> None:
    """Write the manifest of a service with the digests of the files as they are here, in their formats."""
    content = json.loads(text)
    digests = [digest_of(Path(name)) for name in written]
    if digests and "sha256" in content:
        content["sha256"] = digests[0]
    if "sha256_of_tables" in content:
        content["sha256_of_tables"] = dict(zip(content["sha256_of_tables"], digests, strict=True))
    with replace_atomically(path) as partial:
        partial.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


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
