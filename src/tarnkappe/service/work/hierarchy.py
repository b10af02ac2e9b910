"""Build the hierarchy of a column and show it; nothing is protected yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import BUILDERS, HierarchyProposal, format_hierarchy, propose, read_hierarchy
from tarnkappe.job import InputSource
from tarnkappe.report.figures import hierarchy_figures
from tarnkappe.service.work.documents import RestHierarchyPreview
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome
from tarnkappe.table.encoding import encode_column

FILE = "hierarchy.csv"
SHOWN = 500


class PreviewHierarchy(JobKind):
    """The hierarchy that a builder or a file gives a column: its levels and the way of each value."""

    name = "hierarchy"
    document = RestHierarchyPreview
    most_seconds = 120.0

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        if not isinstance(document.get("column"), str) or "input" not in document:
            raise ParameterError(
                "service.name-table-input-column", "name the table as 'input' and its 'column'"
            )
        plan = document.get("hierarchy", {})
        if isinstance(plan, Mapping) and plan.get("builder") is not None:
            BUILDERS.create(plan["builder"], {key: value for key, value in plan.items() if key != "builder"})

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        name, plan = document["column"], document.get("hierarchy", {})
        table = InputSource(**document["input"]).read(work.progress)
        column = encode_column(name, table.data.column(table.require(name)))
        reason, builder = "", None
        if isinstance(plan, str):
            hierarchy = read_hierarchy(plan)
            hierarchy.encode(column)  # says which value it misses
        else:
            built = propose(column) if not plan.get("builder") else _built(plan, column)
            hierarchy, reason = built.hierarchy, built.reason
            builder = {"builder": built.builder.name, **built.builder.parameters}
        text = format_hierarchy(hierarchy)
        (work.folder / FILE).write_text(text, encoding="utf-8")
        rows = [list(row) for _, row in zip(range(SHOWN), hierarchy.rows(), strict=False)]
        told = hierarchy_figures(hierarchy)
        distinct = [level["labels"] for level in told["levels"][1:]]
        figures = {
            "column": name,
            "builder": builder,
            "reason": reason,
            **told,
            "distinct": distinct,
            "rows": rows,
        }
        return JobOutcome(figures, text, files={"hierarchy": FILE})


def _built(plan: Mapping[str, Any], column: Any) -> HierarchyProposal:
    options = dict(plan)
    builder = BUILDERS.create(options.pop("builder"), options)
    return HierarchyProposal(builder.build_column(column), builder, reason="")
