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
from tarnkappe.service.work.kind import JOB_SECTIONS, JobContext, JobKind, JobOutcome, head_of

RELEASE, REPORT, MANIFEST = "release.parquet", "report.html", "manifest.json"


class Anonymize(JobKind):
    """Find the release with the least loss that keeps all promises, and verify it."""

    name = "anonymize"
    sections = JOB_SECTIONS

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        Job.from_dict(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        made = {"path": RELEASE, "report": REPORT, "manifest": MANIFEST}
        job = Job.from_dict({**document, "output": {**document.get("output", {}), **made}}, work.folder)
        result = run(job, progress=work.progress)
        figures = {
            **result.to_dict(),
            "output": RELEASE,
            "stories": [dataclasses.asdict(story) for story in column_stories(result)],
            "head": head_of(pq.ParquetFile(work.folder / RELEASE)),
        }
        files = {"release": RELEASE, "report": REPORT, "manifest": MANIFEST}
        if isinstance(result, Bucketized):
            others = list(table_paths(Path(RELEASE), result.method.table_names).items())[1:]
            files |= {f"release-{name}": str(path) for name, path in others}
            figures["outputs"] = [RELEASE, *(str(path) for _, path in others)]
        return JobOutcome(figures, str(result), files=files)
