"""Queries with anonymization operators: what the optimizer makes of them, why, and what comes out."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from nicegui import ui

from tarnkappe.service.people import Right
from tarnkappe.web.aside import aside
from tarnkappe.web.draft import load_draft
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import (
    area,
    box,
    button,
    card,
    choice,
    details,
    empty,
    field,
    link,
    notice,
    table,
    tag,
    title,
)
from tarnkappe.web.work import Watch, start_once

OPERATORS = ("generalize", "slice", "randomize")


@page("/sql", "sql.title", rights=(Right.PUBLISH,))
async def sql(visit: Visit, parts: dict[str, str]) -> None:
    """A query, and below it what came of it."""
    title(visit.t("sql.title"), visit.t("sql.lead"))
    files = {file.id: file.name for file in await aside(visit.house.files.list, visit.who)}
    if not files:
        empty(visit.t("sql.none"), visit.t("files.none_help"), "/files", visit.t("runs.to_files"))
        return
    job = await aside(visit.house.jobs.get, parts["job"], visit.who) if "job" in parts else None
    await Console(visit, files, dict(job.document) if job else {}).show()
    if job:
        explained = bool(job.document.get("sql", {}).get("explain"))
        Watch(visit, job, lambda: _found(visit, job.id, explained))


class Console:
    """A query that is being written."""

    def __init__(self, visit: Visit, files: dict[str, str], before: dict[str, Any]) -> None:
        self.visit, self.files, self.t = visit, files, visit.t
        relations: dict[str, dict[str, str]] = before.get("relations", {})
        self.name = next(iter(relations), "")
        source = relations.get(self.name, {})
        self.file = source.get("file", next(iter(files)))
        self.name = self.name or _name_for(files[self.file])
        self.query = before.get("query", "")

    async def show(self) -> None:
        """The form."""
        self.query = self.query or await self._example()
        with card(self.t("sql.query")):
            with box("row"):
                choice(self.t("sql.file"), self.files, self.file, self._take)
                self.named = field(self.t("sql.name"), self.name, self._call, hint=self.t("sql.name_help"))
            area(self.t("sql.text"), self.query, self._write, hint=self.t("sql.text_help"), rows=6, live=True)
            with details(self.t("sql.operators")), box("", "dl"):
                for name in OPERATORS:
                    tag("dt", self.t(f"sql.{name}_form"), "formula")
                    tag("dd", self.t(f"sql.{name}_says"), "soft")
            with box("line"):
                button(self.t("sql.run"), lambda: self._start(explain=False), "main")
                button(self.t("sql.explain"), lambda: self._start(explain=True))

    async def _example(self) -> str:
        draft = await load_draft(self.visit, self.file)
        known = [] if draft is None else draft.quasi_identifiers[:2]
        columns = ", ".join(name if name.isidentifier() else f'"{name}"' for name in known) or "…"
        return f"SELECT {columns} FROM generalize({self.name}, k => 5, by => [{columns}])"

    def _take(self, file_id: str) -> None:
        self.file = file_id

    def _call(self, name: str) -> None:
        self.name = name.strip()

    def _write(self, text: str) -> None:
        self.query = text

    async def _start(self, *, explain: bool) -> None:
        with shown_errors():
            draft = await load_draft(self.visit, self.file)
            document = {
                "query": self.query,
                "relations": {self.name: {"file": self.file}},
                "columns": {} if draft is None else draft.columns(),
                **({"sql": {"explain": True}} if explain else {}),
            }
            job = await start_once(self.visit, "sql", document)
            ui.navigate.to(f"/sql?job={job.id}")


def _name_for(file_name: str) -> str:
    """A name for a table, from that of its file."""
    return re.sub(r"\W+", "_", PurePath(file_name).stem.lower()).strip("_") or "t"


async def _found(visit: Visit, job_id: str, explained: bool) -> None:
    result = await aside(visit.house.jobs.result, job_id, visit.who)
    found = result["figures"]
    for warning in found.get("warnings", ()):
        notice("warn", visit.t("sql.warning"), str(warning["message"]))
    if not explained:
        with card(visit.t("sql.answer")):
            for kept in found.get("verified", ()):
                words = {"others": kept["k"] - 1, "columns": ", ".join(kept["columns"])}
                notice("good", visit.t(f"sql.verified_{kept['counted']}", **words))
            head = found["head"]
            table(head["columns"], head["rows"], label=visit.t("sql.answer"), heads=False)
            tag("p", visit.t("sql.rows", rows=visit.n(found["rows"])), "soft small")
            link(
                visit.t("sql.download"),
                f"/api/v1/jobs/{job_id}/files/release?format=csv",
                "button",
                download="answer.csv",
            )
    with card(visit.t("sql.rewrites")):
        _rewrites(visit, found)
    with card(visit.t("sql.plans")), box("columns"):
        for name in ("written", "chosen"):
            with box():
                tag("h3", visit.t(f"sql.{name}"))
                tag("pre", "\n".join(found["plan"][name]["tree"]))
                with details(visit.t("sql.as_sql")):
                    tag("pre", str(found["plan"][name]["sql"]))


def _rewrites(visit: Visit, found: dict[str, Any]) -> None:
    if not found["steps"]:
        tag("p", visit.t("sql.no_rewrites"), "soft")
    else:
        rows = [
            [
                step["rule"],
                step["operator"],
                step["kind"],
                visit.n(step["cost_before"]),
                visit.n(step["cost_after"]),
            ]
            for step in found["steps"]
        ]
        header = [
            visit.t(f"sql.{key}") for key in ("rule", "operator", "equality", "cost_before", "cost_after")
        ]
        table(header, rows, label=visit.t("sql.rewrites"), numbers=(3, 4))
    if found["refused"]:
        with details(visit.t("sql.refused")):
            rows = [[each["rule"], "; ".join(each["reasons"])] for each in found["refused"]]
            table([visit.t("sql.rule"), visit.t("sql.why")], rows, label=visit.t("sql.refused"))
