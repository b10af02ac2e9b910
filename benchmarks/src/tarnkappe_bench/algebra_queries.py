"""Queries for which rewriting matters: the plan as written against the plan that the optimizer chose."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend
from tarnkappe.algebra.nodes import Generalization, Plan
from tarnkappe.algebra.optimizer import Rewriting
from tarnkappe.algebra.optimizer.places import replaced
from tarnkappe.algebra.session import QuerySession
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.table.encoding import Progress

ALL = "[plz, alter, tag]"
NARROW = "(SELECT plz, alter, blutgruppe, rh FROM spender)"
ENOUGH_SECONDS = 2.0
MOST_RUNS = 3


@dataclass(frozen=True)
class Workload:
    """A query, the mode in which it is rewritten, and what is to be seen in it."""

    name: str
    mode: str
    text: str


WORKLOADS = (
    Workload(
        "generalized columns that nobody sees",
        "strict",
        f"SELECT blutgruppe, rh FROM generalize(spender, k => 50, by => {ALL})",
    ),
    Workload(
        "generalized again for less",
        "strict",
        f"SELECT plz, alter FROM generalize(generalize(spender, k => 100, by => {ALL}), "
        f"k => 50, by => {ALL})",
    ),
    Workload(
        "a join of two parts, generalized",
        "strict",
        "SELECT * FROM generalize((SELECT plz, alter, befund FROM spender NATURAL JOIN labor), "
        "k => 50, by => [plz, alter])",
    ),
    Workload(
        "generalized, then selected",
        "relaxed",
        f"SELECT plz, alter, blutgruppe FROM generalize(spender, k => 50, by => {ALL}) WHERE rh = '-'",
    ),
    Workload(
        "one of the generalized columns hidden",
        "relaxed",
        f"SELECT plz, alter, blutgruppe FROM generalize(spender, k => 50, by => {ALL})",
    ),
    Workload(
        "sliced, one set shown",
        "strict",
        f"SELECT plz, alter FROM slice({NARROW}, groups => [[plz, alter], [blutgruppe, rh]])",
    ),
    Workload(
        "sliced, some sets hidden",
        "strict",
        f"SELECT plz, blutgruppe FROM slice({NARROW}, groups => [[plz], [alter], [blutgruppe], [rh]])",
    ),
    Workload(
        "sliced twice alike",
        "strict",
        f"SELECT * FROM slice(slice({NARROW}, groups => [[plz, alter], [blutgruppe, rh]]), "
        "groups => [[plz, alter], [blutgruppe, rh]])",
    ),
    Workload(
        "noise on hidden columns",
        "strict",
        "SELECT blutgruppe, plz FROM randomize(spender, "
        "probability => {blutgruppe: 0.3, tag: 0.3, alter: 0.3})",
    ),
    Workload(
        "noise twice",
        "strict",
        "SELECT blutgruppe, rh FROM randomize(randomize(spender, probability => {blutgruppe: 0.2, rh: 0.2}), "
        "probability => {blutgruppe: 0.3, rh: 0.3})",
    ),
)


def measure_queries(backend: Backend, catalog: Catalog, progress: Progress | None) -> list[dict[str, Any]]:
    """Each workload: both times, what each rule saves, and what the rewriting does to the answer."""
    found = []
    for done, workload in enumerate(WORKLOADS):
        if progress:
            progress("queries", done, len(WORKLOADS), workload.name)
        found.append(_measured(workload, backend, catalog))
    return found


def _measured(workload: Workload, backend: Backend, catalog: Catalog) -> dict[str, Any]:
    session = QuerySession(backend, catalog, mode=workload.mode)
    query = session.read(workload.text)
    start = time.perf_counter()
    session.explain(query)
    first = time.perf_counter() - start
    start = time.perf_counter()
    rewriting = session.explain(query).rewriting
    planning = time.perf_counter() - start
    plans = (rewriting.original, rewriting.plan)
    written, chosen = ParsedQuery(plans[0], query.columns), ParsedQuery(plans[1], query.columns)
    times: list[list[float]] = [[], []]
    answers: list[pa.Table] = [None, None]
    while len(times[1]) < MOST_RUNS and sum(map(sum, times)) < ENOUGH_SECONDS:
        for side, each in enumerate((written, chosen)):
            start = time.perf_counter()
            answers[side] = backend.execute(each, catalog, shuffle=False)
            times[side].append(time.perf_counter() - start)
    seconds = [min(side) for side in times]

    def run(plan: Plan) -> float:
        return _seconds(backend, ParsedQuery(plan, query.columns), catalog)

    return {
        "query": workload.name,
        "sql": workload.text,
        "mode": workload.mode,
        "rules": [step.rule for step in rewriting.steps],
        "kind": str(rewriting.kind),
        "seconds_as_written": seconds[0],
        "seconds_optimized": seconds[1],
        "speed_up": seconds[0] / seconds[1],
        "estimated_speed_up": rewriting.cost_before / max(rewriting.cost_after, 1e-9),
        "rewrite_seconds": planning,
        "statistics_seconds": max(first - planning, 0.0),
        "steps": _steps(rewriting, seconds, run),
        **_information(rewriting, answers),
    }


def _seconds(backend: Backend, query: ParsedQuery, catalog: Catalog) -> float:
    start = time.perf_counter()
    backend.execute(query, catalog, shuffle=False)
    return time.perf_counter() - start


def _steps(rewriting: Rewriting, ends: list[float], run: Callable[[Plan], float]) -> list[dict[str, Any]]:
    """What each rule saves: the plans between the steps are run as well, once each."""
    found, plan, before = [], rewriting.original, ends[0]
    for number, step in enumerate(rewriting.steps, 1):
        plan = replaced(plan, step.path, step.after)
        after = ends[1] if number == len(rewriting.steps) else run(plan)
        found.append(
            {
                "rule": step.rule,
                "way": step.way.value,
                "kind": str(step.kind),
                "seconds_saved": before - after,
                "share_saved": 1 - after / before,
                "estimated_share": 1 - step.cost_after / step.cost_before if step.cost_before else 0.0,
            }
        )
        before = after
    return found


def _information(rewriting: Rewriting, answers: list[pa.Table]) -> dict[str, Any]:
    """How many different combinations the generalized columns show: the more, the finer the answer."""
    named = {c for node in rewriting.original.walk() if isinstance(node, Generalization) for c in node.by}
    columns = [column for column in answers[0].column_names if column in named]
    if not columns:
        return {}
    before, after = (_combinations(answer, columns) for answer in answers)
    return {"classes_as_written": before, "classes_optimized": after}


def _combinations(answer: pa.Table, columns: list[str]) -> int:
    names = ", ".join(f'"{column}"' for column in columns)
    with duckdb.connect() as connection:
        connection.register("answer", answer.select(columns))
        found = connection.execute(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM answer)").fetchone()
    assert found is not None
    return int(found[0])
