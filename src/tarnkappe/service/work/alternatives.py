"""Other releases that are nearly as good as the best, in words; nothing is released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarnkappe.job import Job
from tarnkappe.job.alternatives import alternatives_job
from tarnkappe.service.work.documents import RestJob
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome


class AlternativesJob(JobKind):
    """Which other levels lose little more, and what does each keep instead?"""

    name = "alternatives"
    document = RestJob

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        Job.from_dict(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        found = alternatives_job(Job.from_dict(document), progress=work.progress)
        return JobOutcome(found.to_dict(), str(found))
