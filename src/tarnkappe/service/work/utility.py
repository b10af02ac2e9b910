"""What a release is still good for, beside the table that it was made from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tarnkappe.errors import JobError
from tarnkappe.job import Job
from tarnkappe.job.utility import measure_utility
from tarnkappe.report.utility_page import render_internal, render_public
from tarnkappe.service.work.documents import RestUtility
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome
from tarnkappe.table import read

PUBLIC, INTERNAL = "utility.html", "utility.internal.html"


class UtilityJob(JobKind):
    """Measure what is left: words of each column, errors of queries, means, dependence."""

    name = "utility"
    document = RestUtility

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        _read(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        job, release = _read(document)
        original = job.read_input(work.progress)
        report = measure_utility(read(release), original=original, job=job, progress=work.progress)
        (work.folder / PUBLIC).write_text(render_public(report), encoding="utf-8")
        (work.folder / INTERNAL).write_text(render_internal(report), encoding="utf-8")
        files = {"utility": PUBLIC, "utility-internal": INTERNAL}
        dates = [field.name for field in original.data.schema if pa.types.is_temporal(field.type)]
        figures = {**_finite(report.to_dict(internal=True)), "dates": dates}
        return JobOutcome(figures, str(report), files=files)


def _finite(value: Any) -> Any:
    """The same without numbers that JSON does not have: what cannot be computed is left open."""
    if isinstance(value, Mapping):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _read(document: Mapping[str, Any]) -> tuple[Job, str]:
    """The job that made a release, whose input is the original, and where the release is."""
    if "path" not in document.get("release", {}):
        raise JobError(
            "service.name-release-job-id", 'name the release: [release] is {{"job": ID}} or {{"file": ID}}'
        )
    job = Job.from_dict({key: value for key, value in document.items() if key != "release"})
    return job, str(document["release"]["path"])
