"""Check which guarantees a table has, as it is."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.job import Job
from tarnkappe.job.identifier_guard import untouched
from tarnkappe.job.unknown_keys import refuse_unknown
from tarnkappe.report import write_html
from tarnkappe.report.check_text import render, render_scan
from tarnkappe.risk import MEASURES, check, find_identifiers
from tarnkappe.risk.attacks import NOTHING
from tarnkappe.risk.identifiers import ColumnScan, find_alarms, with_proposed_roles
from tarnkappe.service.work.documents import RestCheck
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome, in_words
from tarnkappe.service.work.knowledge import (
    background,
    hierarchies_of,
    people_of,
    roles_from_people,
)

PAGE = "report.html"
ASKED = ("measures", "safe_harbor", "worst")


class CheckJob(JobKind):
    """Tell which guarantees a table has: k, l, t, delta, risks, and the attacks that work."""

    name = "check"
    document = RestCheck

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        _job(document)
        _measures(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        start = time.perf_counter()
        job, asked = _job(document), document.get("check", {})
        table = job.read_input(work.progress)
        people = people_of(document, table.column_names, work.progress)
        if not table.quasi_identifiers and asked.get("safe_harbor") and people is None:
            was_read = time.perf_counter()
            scan = find_identifiers(table, progress=work.progress)
            found: dict[str, Any] = {
                "rows": table.num_rows,
                "safe_harbor": scan.to_dict(),
                "holds": scan.holds,
            }
            found["seconds"] = _seconds(start, was_read)
            return JobOutcome(found, in_words(render_scan(scan)), exit_code=0 if scan.holds else 1)
        table = roles_from_people(table, people)
        proposed: tuple[ColumnScan, ...] = ()
        if not table.quasi_identifiers:
            stated = {name: table.roles[name] for name in _with_role(document) if name in table.roles}
            table, proposed = with_proposed_roles(table, stated, progress=work.progress)
        was_read = time.perf_counter()
        hierarchies = hierarchies_of(job, table, table.sensitive)
        known = background(document, table, people, hierarchies, work.progress)
        alarms = find_alarms(table, untouched(table, job.columns), job.accepted, work.progress)
        report = check(
            table,
            population=None if job.population is None else job.population.read(work.progress),
            hierarchies=hierarchies,
            models=job.privacy,
            measures=_measures(document),
            safe_harbor=bool(asked.get("safe_harbor", False)),
            background=NOTHING if known is None else known,
            worst=asked.get("worst", 5),
            progress=work.progress,
        )
        report = dataclasses.replace(report, alarms=alarms, proposed=proposed)
        told = {**report.to_dict(), "seconds": _seconds(start, was_read)}
        name = work.name_of(document["input"])
        write_html(report, work.folder / PAGE, name)
        shown = in_words(render(report, name))
        return JobOutcome(told, shown, exit_code=0 if report.holds else 1, files={"report": PAGE})


def _with_role(document: Mapping[str, Any]) -> list[str]:
    """The columns whose role the document states."""
    columns = document.get("columns", {})
    return [name for name, said in columns.items() if isinstance(said, Mapping) and "role" in said]


def _seconds(start: float, was_read: float) -> dict[str, float]:
    return {"read": round(was_read - start, 6), "check": round(time.perf_counter() - was_read, 6)}


def _job(document: Mapping[str, Any]) -> Job:
    asked = document.get("check", {})
    refuse_unknown(asked, ASKED, "key of [check]")
    worst = asked.get("worst", 0)
    if not isinstance(worst, int) or isinstance(worst, bool) or worst < 0:
        raise ParameterError(
            "service.check-worst-whole-number",
            "[check]: worst is a whole number of at least 0, not {worst!r}",
            worst=worst,
        )
    taken = ("input", "population", "columns", "privacy")
    return Job.from_dict({key: value for key, value in document.items() if key in taken})


def _measures(document: Mapping[str, Any]) -> list[Any]:
    made = []
    for entry in document.get("check", {}).get("measures", ()):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise ParameterError(
                "service.check-measures-tables-name",
                '[check]: measures are tables with a name, as {{"name": "special-uniques"}}',
            )
        made.append(MEASURES.create(entry["name"], {key: v for key, v in entry.items() if key != "name"}))
    return made
