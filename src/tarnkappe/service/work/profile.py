"""A first look at a table: its columns, what they seem to be, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tarnkappe.errors import TarnkappeError
from tarnkappe.job import Job, propose
from tarnkappe.report.check_text import render_scan
from tarnkappe.risk import find_identifiers
from tarnkappe.service.work.documents import RestProfile
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome, head_of, in_words
from tarnkappe.service.work.propose import with_document
from tarnkappe.table import MISSING, Table
from tarnkappe.table.encoding import Progress, as_text

SHOWN_VALUES = 50


class ProfileJob(JobKind):
    """Propose a role for every column, with the reason; and the release that `propose` would propose."""

    name = "profile"
    document = RestProfile

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        Job.from_dict(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        table = Job.from_dict(document).read_input(work.progress)
        scan = find_identifiers(table, progress=work.progress)
        proposal, refused = _proposal(table, work.progress)
        chosen = proposal["columns"] if proposal else {}
        columns = [
            {
                "name": found.column,
                **_values(table.data.column(found.column)),
                "spelled": _spelled(table, found.column),
                **found.to_dict(),
                **chosen.get(found.column, {}),
            }
            for found in scan.columns
        ]
        figures = {
            "rows": table.num_rows,
            "columns": columns,
            "head": head_of(table.data),
            "holds": scan.holds,
            "reading": None if table.reading is None else table.reading.to_dict(),
            "proposal": proposal,
            "refused": refused,
        }
        return JobOutcome(figures, in_words(render_scan(scan)))


def _spelled(table: Table, name: str) -> str | None:
    """What the texts of a column stand for, if the file has a spelling."""
    spelling = None if table.reading is None else table.reading.spelling(name)
    return None if spelling is None else str(spelling.kind)


def _proposal(table: Table, progress: Progress) -> tuple[dict[str, Any] | None, str]:
    """The release that is proposed if nothing is stated, or why there is none."""
    try:
        return with_document(propose(table, progress=progress)), ""
    except TarnkappeError as error:
        return None, str(error)


def _values(column: pa.ChunkedArray) -> dict[str, Any]:
    """The type of a column, how many values it has, and the most frequent of them."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    told: dict[str, Any] = {"type": str(kind), "missing": column.null_count, "distinct": None, "values": []}
    if pa.types.is_nested(kind):
        return told
    counted = column.cast(kind).value_counts()
    most = counted.take(pa.compute.sort_indices(counted.field("counts"), sort_keys=[("", "descending")]))
    first = most.slice(0, SHOWN_VALUES)
    texts = as_text(first.field("values")).fill_null(MISSING).to_pylist()
    values = [list(pair) for pair in zip(texts, first.field("counts").to_pylist(), strict=True)]
    return told | {"distinct": len(counted) - bool(column.null_count), "values": values}
