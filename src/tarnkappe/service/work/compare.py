"""Compare several methods on the same table; nothing is released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.job import Job, compare_job
from tarnkappe.job.unknown_keys import refuse_unknown
from tarnkappe.report.comparison import table_rows, write_comparison
from tarnkappe.service.work.documents import RestCompare
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome
from tarnkappe.utility import Workload

PAGE = "comparison.html"
ASKED = ("methods", "queries", "selectivity", "seed", "target")


class Compare(JobKind):
    """Publish the same table in several ways: loss, suppression, query error, accuracy, time."""

    name = "compare"
    document = RestCompare

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        _read(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        job, asked = _read(document)
        queries = {key: asked[key] for key in ("queries", "selectivity", "seed") if key in asked}
        found = compare_job(
            job,
            methods=asked.get("methods", ()),
            workload=Workload(**queries),
            target=asked.get("target"),
            progress=work.progress,
        )
        write_comparison(found, work.folder / PAGE)
        head, rows = table_rows(found)
        text = "\n".join("\t".join(row) for row in [head, *rows])
        return JobOutcome(found.to_dict(), text, files={"report": PAGE})


def _read(document: Mapping[str, Any]) -> tuple[Job, Mapping[str, Any]]:
    asked = document.get("compare", {})
    refuse_unknown(asked, ASKED, "key of [compare]")
    methods = asked.get("methods", [])
    if not isinstance(methods, list) or not all(isinstance(name, str) for name in methods):
        raise ParameterError("service.compare-methods-list-names", "[compare]: methods is a list of names")
    return Job.from_dict({key: value for key, value in document.items() if key != "compare"}), asked
