"""The one way of the data: read, encode, protect, verify, release."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from tarnkappe.errors import NoSolutionError, Reason
from tarnkappe.job.bucketized import Bucketized, bucketize_and_release, write_tables_verified
from tarnkappe.job.certificate import require_certifiable, require_read_alike, write_certificates
from tarnkappe.job.cleansing import require_cleansable
from tarnkappe.job.column_plan import ColumnPlan
from tarnkappe.job.earlier_releases import Remembering
from tarnkappe.job.further_sensitive import FurtherSensitive
from tarnkappe.job.identifier_guard import refuse_identifiers, untouched
from tarnkappe.job.job import Job
from tarnkappe.job.manifest import write_manifest
from tarnkappe.job.method_run import recode_and_release
from tarnkappe.job.perturbing import require_perturbable, require_suppressible
from tarnkappe.job.preparation import prepare
from tarnkappe.job.publication import publication
from tarnkappe.job.result import ProtectionRequest, Result
from tarnkappe.job.search_plan import Algorithm
from tarnkappe.job.timings import Stopwatch
from tarnkappe.job.verification import write_verified
from tarnkappe.lattice import Search, SearchProblem, Solution
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model
from tarnkappe.recoding import Bucketization, LocalRecoding, Method, Suppression, local_search
from tarnkappe.recoding.perturbation import Perturbed, perturb
from tarnkappe.report.release_page import write_report
from tarnkappe.table import Table
from tarnkappe.table.encoding import Progress


def run(
    job: Job,
    *,
    table: Table | None = None,
    replace: bool = False,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run a job: read, protect, verify from the written values, and only then release.

    Release, report and manifest appear under their names after the release has passed verification, never
    before, never in part and all together. Files that show that they were written here are replaced; others
    only with `replace`. Where the input was read already, as `table`, it is not read
    again. A seed makes the order of the rows reproducible in tests.
    """
    require_certifiable(job)
    require_perturbable(job)
    require_suppressible(job)
    require_cleansable(job)
    if job.input.engine != "memory" or job.output.table is not None:
        from tarnkappe.job.engine_run import run_in_engine  # loads what only engines need

        return run_in_engine(job, replace=replace, seed=seed, progress=progress)
    watch = Stopwatch()
    several = job.search.table_names if isinstance(job.search, Bucketization) else ()
    with (
        ExitStack() as opened,
        publication(job.output, several, job.inputs, replace=replace, certified=not several) as made,
    ):
        with watch.stage("read"):
            table = (
                job.read_input(progress) if table is None else job.with_roles(job.cleansed(table, progress))
            )
            require_read_alike(job, table)
            population = job.population.read(progress) if job.population else None
        with watch.stage("look for identifiers"):
            refuse_identifiers(table, untouched(table, job.columns), job.accepted, progress)
        perturbed: tuple[Perturbed, ...] = ()
        if job.perturb:
            with watch.stage("perturb"):
                table, perturbed = perturb(table, job.perturb, seed=seed)
        result = protect_table(
            table,
            job.columns,
            job.privacy,
            job.loss,
            job.search,
            suppression_limit=job.suppression_limit,
            suppression=job.suppression,
            local_recoding=job.local_recoding,
            population=population,
            shuffle=job.output.shuffle,
            several_rows_per_person=job.several_rows_per_person,
            further=job.further_sensitive,
            seed=seed,
            watch=watch,
            progress=progress,
        )
        result = dataclasses.replace(result, perturbed=perturbed)
        remembering = None
        if job.history is not None:
            with watch.stage("history"):
                remembering = Remembering(job.history, result)
                opened.callback(remembering.store.close)
                result = dataclasses.replace(result, continuation=remembering.judge())
        if made.release is not None:
            refuse_nothing(result)
            with watch.stage("write"):
                if isinstance(result, Bucketized):
                    result = write_tables_verified(
                        result, made.tables, job.output.delimiter, job.output.excel
                    )
                else:
                    result = write_verified(result, made.release, job.output.delimiter, job.output.excel)
                result = dataclasses.replace(result, output=job.output.path)
            if made.certificate is not None:
                with watch.stage("certify"):
                    write_certificates(result, job, made.release, made.certificate, made.full_certificate)
        if made.report is not None:
            with watch.stage("report"):
                write_report(result, made.report)
        if made.release is not None and made.manifest is not None:
            write_manifest(result, job, made.release, made.manifest, made.tables)
        if remembering is not None and result.continuation is not None:
            remembering.remember(result.continuation)  # rather one too many than one that nobody knows of
        made.publish()
    return result


def refuse_nothing(result: Result) -> None:
    """Refuse a release of which nothing is left: a file without rows looks like a mistake."""
    if not isinstance(result, Bucketized) and result.release.num_rows == 0:
        raise NoSolutionError(
            "job.all-rows-would-suppressed",
            "all {num_rows:,} rows would be suppressed, which the suppression limit of "
            "{suppression_limit:g} allows and {loss} finds best: lower the limit, or use another loss",
            num_rows=result.input.num_rows,
            suppression_limit=result.problem.suppression_limit,
            loss=result.problem.loss.name,
        )


def protect_table(
    table: Table,
    plans: Mapping[str, ColumnPlan],
    models: Sequence[Model],
    loss: Loss,
    search: Algorithm,
    *,
    suppression_limit: float = 0.0,
    suppression: Suppression | str = Suppression.RECORD,
    local_recoding: bool | float = False,
    population: Table | None = None,
    shuffle: bool = True,
    several_rows_per_person: bool = False,
    further: FurtherSensitive | None = None,
    seed: int | None = None,
    watch: Stopwatch | None = None,
    progress: Progress | None = None,
) -> Result:
    """Find the best node, or let a method recode, apply it to every row and verify the outcome in SQL."""
    watch = watch or Stopwatch()
    prepared = prepare(
        table,
        plans,
        models,
        loss,
        suppression_limit=suppression_limit,
        suppression=suppression,
        population=population,
        shuffle=shuffle,
        several_rows_per_person=several_rows_per_person,
        further=further,
        seed=seed,
        watch=watch,
        progress=progress,
    )
    result: Result
    if isinstance(search, Bucketization):
        result = bucketize_and_release(prepared, search, watch, progress, local_recoding=bool(local_recoding))
    elif isinstance(search, Method):
        result = recode_and_release(prepared, search, watch, progress, local_recoding=bool(local_recoding))
    else:
        method = local_search(search, local_recoding, models) if local_recoding else search
        result = prepared.release(solve(prepared.problem, method, watch, progress), watch)
    settings = {
        "suppression_limit": suppression_limit,
        "suppression": suppression,
        "local_recoding": local_recoding,
        "population": population,
        "several_rows_per_person": several_rows_per_person,
        "further": further,
        "seed": seed,
    }
    return dataclasses.replace(
        result,
        request=ProtectionRequest(plans, tuple(models), loss, search, settings),
        respelled=prepared.respelled,
    )


def solve(
    problem: SearchProblem, search: Search | LocalRecoding, watch: Stopwatch, progress: Progress | None = None
) -> Solution:
    """Search; that nothing keeps the promises is an error."""
    with watch.stage("search"):
        solution = search.run(problem, progress)
    if solution.best is None:
        raise NoSolutionError.because(_no_solution(problem, solution))
    return solution


def _no_solution(problem: SearchProblem, solution: Solution) -> Reason:
    promised = ", ".join(map(str, problem.models))
    if solution.stopped:
        return Reason(
            "job.no-combination-levels-meets",
            "no combination of levels that meets {promised} was found before the search ended ({stopped}, "
            "{checked:,} of {nodes:,} tested): give it more time",
            promised=promised,
            stopped=solution.stopped,
            checked=solution.checked,
            nodes=solution.nodes,
        )
    top = problem.evaluate(problem.lattice.top)
    return Reason(
        "job.no-combination-levels-meets-most-rows",
        "no combination of levels meets {promised} with at most {limit} of {num_rows} rows suppressed; even"
        " fully generalized, {suppressed} {suppressed:row|rows} would have to be suppressed: raise the "
        "suppression limit or "
        "ask for less",
        promised=promised,
        limit=problem.limit,
        num_rows=problem.tuples.num_rows,
        suppressed=top.suppressed,
    )
