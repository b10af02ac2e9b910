"""Anonymize a table: the main job. The release is kept as Parquet and handed out in any format."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tarnkappe.job import Job, run
from tarnkappe.job.bucketized import Bucketized
from tarnkappe.job.paths import table_paths
from tarnkappe.report.release_page import column_stories
from tarnkappe.report.verdict import ReleaseVerdict, judge
from tarnkappe.service.work.documents import RestJob
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome, head_of

RELEASE, REPORT, MANIFEST = "release.parquet", "report.html", "manifest.json"


class Anonymize(JobKind):
    """Find the release with the least loss that keeps all promises, and verify it."""

    name = "anonymize"
    document = RestJob

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        Job.from_dict(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        made = {"path": RELEASE, "report": REPORT, "manifest": MANIFEST}
        job = Job.from_dict({**document, "output": {**document.get("output", {}), **made}}, work.folder)
        result = run(job, progress=work.progress)
        told = result.to_dict()
        figures = {
            **told,
            "output": RELEASE,
            "stories": [dataclasses.asdict(story) for story in column_stories(result)],
            "head": head_of(pq.ParquetFile(work.folder / RELEASE)),
            "verdict": verdict_on(document, told).to_dict(),
        }
        files = {"release": RELEASE, "report": REPORT, "manifest": MANIFEST}
        if isinstance(result, Bucketized):
            others = list(table_paths(Path(RELEASE), result.method.table_names).items())[1:]
            files |= {f"release-{name}": str(path) for name, path in others}
            figures["outputs"] = [RELEASE, *(str(path) for _, path in others)]
        return JobOutcome(figures, str(result), files=files)


def verdict_on(document: Mapping[str, Any], figures: Mapping[str, Any]) -> ReleaseVerdict:
    """The verdict on the release that a document asked for, from the figures of its result."""
    sensitive = [name for name, said in document.get("columns", {}).items() if _role(said) == "sensitive"]
    return judge(figures["verified"], sensitive)


def _role(said: Any) -> str:
    """The role of a column in a document, which may be all that is said of it."""
    return str(said.get("role", "") if isinstance(said, Mapping) else said)
