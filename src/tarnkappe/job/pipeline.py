"""The one way of the data: read, encode, protect, verify, release."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ColumnError, HierarchyError, NoSolutionError
from tarnkappe.hierarchy import Hierarchy, propose
from tarnkappe.job.job import ColumnPlan, Job
from tarnkappe.job.manifest import write_manifest
from tarnkappe.job.people import refuse_repeated_people
from tarnkappe.job.release import plain, random_order, release_table
from tarnkappe.job.report import write_report
from tarnkappe.job.result import Result
from tarnkappe.job.sampling import draw_sample
from tarnkappe.job.verification import publish, verify_release
from tarnkappe.lattice import Problem, Search
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model, needed_distributions, protect
from tarnkappe.risk import attack_all
from tarnkappe.table import Column, Levels, Role, Table, Tuples
from tarnkappe.table.encoding import Progress
from tarnkappe.table.row_tuples import row_tuples


class Stopwatch:
    """How long each stage took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage; a stage that runs twice adds up."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def run(job: Job, *, seed: int | None = None, progress: Progress | None = None) -> Result:
    """Run a job: read, protect, verify from the written values, and only then release.

    The release appears under its name after it has passed verification, never before and never in
    part. A seed makes the order of the rows reproducible in tests.
    """
    watch = Stopwatch()
    with watch.stage("read"):
        table = job.read_input(progress)
        population = job.population.read(progress) if job.population else None
    result = protect_table(
        table,
        job.columns,
        job.privacy,
        job.loss,
        job.search,
        suppression_limit=job.suppression_limit,
        population=population,
        shuffle=job.output.shuffle,
        several_rows_per_person=job.several_rows_per_person,
        seed=seed,
        watch=watch,
        progress=progress,
    )
    if job.output.path:
        with watch.stage("write"):
            result = publish(result, Path(job.output.path), job.output.delimiter)
            write_manifest(result, job, Path(job.output.manifest or job.output.path + ".manifest.json"))
    if job.output.report:
        with watch.stage("report"):
            write_report(result, Path(job.output.report))
    return result


def protect_table(
    table: Table,
    plans: Mapping[str, ColumnPlan],
    models: Sequence[Model],
    loss: Loss,
    search: Search,
    *,
    suppression_limit: float = 0.0,
    population: Table | None = None,
    shuffle: bool = True,
    several_rows_per_person: bool = False,
    seed: int | None = None,
    watch: Stopwatch | None = None,
    progress: Progress | None = None,
) -> Result:
    """Find the best node, apply it to every row and verify the outcome in SQL."""
    watch = watch or Stopwatch()
    if not table.quasi_identifiers:
        raise ColumnError("no column is a quasi-identifier: say which columns an attacker may know")
    if not several_rows_per_person:
        refuse_repeated_people(table)
    table = draw_sample(table, models, plans, suppression_limit, seed)
    with watch.stage("encode"):
        looked_at = [*needed_distributions(models), *loss.distributions]
        needed = dict.fromkeys(table.require(name) for names in looked_at for name in names)
        others = [n for n in dict.fromkeys([*needed, *table.sensitive]) if n not in table.quasi_identifiers]
        rows = row_tuples(table, table.quasi_identifiers, others, population=population, progress=progress)
        hierarchies = _hierarchies(rows, plans, table)
        rows = rows.with_levels({n: _encoded(h, rows.columns[n], plans) for n, h in hierarchies.items()})
        tuples = rows.select(dict.fromkeys([*table.quasi_identifiers, *needed])).distinct()
        limits = _level_limits(plans, tuples)
        problem = Problem(tuples, table.quasi_identifiers, tuple(models), loss, suppression_limit, limits)
    with watch.stage("search"):
        solution = search.run(problem, progress)
    if solution.best is None:
        raise NoSolutionError(_no_solution(problem))
    with watch.stage("transform"):
        # Searches work on merged tuples; here the node is applied anew to every row.
        counted = dict.fromkeys([*problem.distributions, *((name,) for name in table.sensitive)])
        state = protect(rows.classes(table.quasi_identifiers, solution.levels, counted), models)
        levels = dict(zip(table.quasi_identifiers, solution.best.node, strict=True))
        chosen = np.flatnonzero(state.kept[state.classes.ids[: table.num_rows]])
        chosen = chosen[random_order(len(chosen), seed)] if shuffle else chosen
        release = release_table(table, _some_rows(rows, 0, table.num_rows), levels, chosen)
        judged = [n for n in needed if n not in release.column_names]
        withheld = pa.table({n: plain(table.data.column(n)).take(pa.array(chosen)) for n in judged})
        everyone = None
        if population is not None:
            whole = population.with_roles(dict.fromkeys(table.quasi_identifiers, Role.QUASI_IDENTIFIER))
            theirs = _some_rows(rows, table.num_rows, rows.num_tuples)
            everyone = release_table(whole, theirs, levels, np.arange(whole.num_rows))
    result = Result(
        input=table,
        release=release,
        problem=problem,
        solution=solution,
        state=state,
        hierarchies=hierarchies,
        population=everyone,
        withheld=withheld,
        seconds=watch.seconds,
        attacks=tuple(attack_all(state)),
    )
    with watch.stage("verify"):
        return verify_release(result, release.data)


def _hierarchies(rows: Tuples, plans: Mapping[str, ColumnPlan], table: Table) -> dict[str, Hierarchy]:
    """The hierarchy of every quasi-identifier (proposed where none is given) and of other columns."""
    found: dict[str, Hierarchy] = {}
    for name, column in rows.columns.items():
        plan = plans.get(name, ColumnPlan())
        hierarchy = plan.hierarchy_for(column)
        if hierarchy is None and name in table.quasi_identifiers:
            hierarchy = propose(column).hierarchy
        if hierarchy is not None:
            found[name] = hierarchy
    return found


def _encoded(hierarchy: Hierarchy, column: Column, plans: Mapping[str, ColumnPlan]) -> Levels:
    """The levels of a column; an error names the file that the hierarchy comes from."""
    try:
        return hierarchy.encode(column)
    except HierarchyError as error:
        plan = plans.get(column.name, ColumnPlan()).hierarchy
        raise (HierarchyError(f"{plan}: {error}") if isinstance(plan, str) else error) from None


def _level_limits(plans: Mapping[str, ColumnPlan], tuples: Tuples) -> dict[str, tuple[int, int]]:
    limits: dict[str, tuple[int, int]] = {}
    for name, plan in plans.items():
        if plan.has_level_limits:
            levels = tuples.columns[name].levels if name in tuples.columns else None
            limits[name] = plan.level_limits(0 if levels is None else levels.height)
    return limits


def _some_rows(rows: Tuples, start: int, stop: int) -> dict[str, Column]:
    chosen = np.arange(start, stop)
    return {name: column.take(chosen) for name, column in rows.columns.items()}


def _no_solution(problem: Problem) -> str:
    top = problem.evaluate(problem.lattice.top)
    promised = ", ".join(map(str, problem.models))
    return (
        f"no combination of levels meets {promised} with at most {problem.limit} of "
        f"{problem.tuples.num_rows} rows suppressed; even fully generalized, {top.suppressed} rows would "
        "have to be suppressed: raise the suppression limit or ask for less"
    )
