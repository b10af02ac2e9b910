"""Jobs whose rows stay where they are: an engine counts them, writes the release and counts that again.

Only the distinct combinations of the columns that matter come here. The search on them is the same as on a
table in memory, so it gives the same levels; what it decides goes back to the engine as one statement.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from tarnkappe.engines.engine import Engine
from tarnkappe.engines.statements import LevelTable, ReleasePlan
from tarnkappe.engines.stored import StoredTable
from tarnkappe.errors import ColumnError, InputError, JobError, ParameterError
from tarnkappe.job.engine_verification import verify_written
from tarnkappe.job.identifier_guard import refuse_alarms, untouched
from tarnkappe.job.job import Job
from tarnkappe.job.manifest import write_manifest
from tarnkappe.job.pipeline import refuse_nothing, solve
from tarnkappe.job.preparation import Preparation, prepare
from tarnkappe.job.publication import Publication, publication
from tarnkappe.job.release import generalized, plain
from tarnkappe.job.result import Result
from tarnkappe.job.timings import Stopwatch
from tarnkappe.lattice import Search, Solution
from tarnkappe.privacy import DifferentialPrivacy, needed_distributions, protect
from tarnkappe.recoding import Pass
from tarnkappe.report.release_page import write_report
from tarnkappe.risk import attack_all
from tarnkappe.risk.identifiers import ColumnView, alarms_of, go_together, scan_views
from tarnkappe.table import Table
from tarnkappe.table.encoding import Column, Counts, Progress
from tarnkappe.table.read import READING_KEYS

LOOKED_AT = 200_000
"""How many rows the detectors of identifiers are shown; each value is at least once among them."""


def run_in_engine(
    job: Job, *, replace: bool = False, seed: int | None = None, progress: Progress | None = None
) -> Result:
    """Run a job where its rows are; release, report and manifest appear together, verified, or not at all."""
    search = _search_of(job)
    _refuse_misfits(job)
    with publication(job.output, inputs=job.inputs, replace=replace, by_suffix=False) as made:
        with _opened(job, made.release) as engine:
            result = _run(job, search, engine, made, seed, progress)
        made.publish()  # after the engine has had a last look at whether the source is what it was
    return result


def _search_of(job: Job) -> Search:
    if not isinstance(job.search, Search):
        raise JobError(
            "job.looks-rows-engine-keeps",
            "{search} looks at rows one by one, and the engine '{engine}' keeps them where they are: use "
            'engine = "memory", or a search such as algorithm = "auto"',
            search=job.search.name,
            engine=job.input.engine,
        )
    return job.search


def _run(
    job: Job,
    search: Search,
    engine: Engine,
    made: Publication,
    seed: int | None,
    progress: Progress | None,
) -> Result:
    watch = Stopwatch()
    table = _described(job, engine)
    with watch.stage("look for identifiers"):
        _refuse_identifiers(job, engine, table, progress)
    prepared = _prepared(job, engine, table, watch, progress)
    solution = solve(prepared.problem, search, watch, progress)
    with watch.stage("transform"):
        result = _decided(job, engine, prepared, table, solution, watch)
        refuse_nothing(result)
        plan = _plan(result, job.output.shuffle, seed)
    with ExitStack() as releasing:
        with watch.stage("write"):
            written = releasing.enter_context(engine.release(plan, progress))
        with watch.stage("verify"):
            result = verify_written(result, prepared, engine, written)
        if made.report is not None:
            with watch.stage("report"):
                write_report(result, made.report)
        if made.manifest is not None:
            write_manifest(result, job, made.release, made.manifest)
    return result


def _refuse_identifiers(job: Job, engine: Engine, table: Table, progress: Progress | None) -> None:
    """The same look as in memory, at columns that are counted where their rows are."""
    names = untouched(table, job.columns)
    views = []
    for name in names:
        counted = engine.group([name], progress)
        values = plain(counted.table.data.column(name)).take(_alike(counted.counts))
        views.append(ColumnView(name, values))

    def one_to_one(one: str, other: str, repeats: bool) -> bool:
        counted = engine.group([one, other], progress)
        data = counted.table.data
        return go_together(plain(data.column(one)), plain(data.column(other)), repeats, counted.counts)

    scan = scan_views(views, one_to_one, accepted=job.accepted, progress=progress)
    refuse_alarms(alarms_of(scan, names, table.roles, job.accepted))


def _alike(counts: Counts) -> pa.Array:
    """Rows in which values occur as often as in the source, or in proportion if it is large."""
    times = np.maximum(1, np.round(counts * min(1.0, LOOKED_AT / max(1, counts.sum())))).astype(np.int64)
    return pa.array(np.repeat(np.arange(len(times)), times))


def _refuse_misfits(job: Job) -> None:
    engine, output = job.input.engine, job.output
    if engine == "postgresql" and (output.table is None or output.path is not None):
        raise JobError(
            "job.engine-postgresql-writes-where-rows",
            "the engine 'postgresql' writes where the rows are: name a 'table' in [output], no 'path'",
        )
    if engine != "postgresql" and output.table is not None:
        raise JobError(
            "job.table-output-written-engine",
            "a 'table' in [output] is written by the engine 'postgresql': set it in [input]",
        )
    if engine != "postgresql" and output.path is None:
        raise JobError(
            "job.engine-writes-release-file",
            "the engine '{engine}' writes the release to a file: name its 'path' in [output]",
            engine=engine,
        )
    if job.history is not None:
        raise JobError(
            "job.history-compares-people-engines",
            "[history] compares people one by one, and engines keep their rows where they are: leave the "
            'section out, or use engine = "memory"',
        )
    if any(isinstance(model, DifferentialPrivacy) for model in job.privacy):
        raise ParameterError(
            "job.differential-privacy-draws-random",
            "differential-privacy draws a random sample of the rows, which engines do not: use engine = "
            '"memory"',
        )
    if job.needs_rows:
        raise JobError(
            "job.aggregates-suppressed-columns-suppression",
            'aggregates, suppressed columns, suppression = "cell" and local_recoding are made row by row: '
            'use engine = "memory"',
        )
    if job.population is not None and job.population.engine != "memory":
        raise JobError(
            "job.population-read-memory-leave",
            "a population is read into memory: leave 'engine' out of [population]",
        )


@contextmanager
def _opened(job: Job, target: Path | None) -> Iterator[Engine]:
    """Open the engine; what it loads is loaded when it is used."""
    source = job.input
    _refuse_foreign(job)
    if source.engine == "postgresql":
        from tarnkappe.engines.postgresql import open_postgresql

        assert source.database is not None
        assert job.output.table is not None
        with open_postgresql(
            source.database, job.output.table, table=source.table, query=source.query
        ) as postgresql:
            yield postgresql
        return
    assert target is not None
    if source.engine == "spark":
        from tarnkappe.engines.spark import open_spark

        assert source.path is not None
        with open_spark(target, path=source.path) as spark:
            yield spark
        return
    from tarnkappe.engines.duckdb import open_duckdb

    with open_duckdb(
        target,
        path=source.path,
        database=source.database,
        table=source.table,
        query=source.query,
        options=source.options,
        memory_limit=source.memory_limit,
        output_delimiter=job.output.delimiter,
    ) as duckdb:
        yield duckdb


FOREIGN = {
    "duckdb": ("sheet",),
    "postgresql": ("path", *READING_KEYS),
    "spark": ("database", "table", "query", *READING_KEYS),
}
"""What an engine cannot do anything with."""


def _refuse_foreign(job: Job) -> None:
    for key in FOREIGN[job.input.engine]:
        if getattr(job.input, key) is not None:
            raise JobError(
                "job.input-not-go-engine",
                "[input]: '{key}' does not go with the engine '{engine}'",
                key=key,
                engine=job.input.engine,
            )


def _described(job: Job, engine: Engine) -> Table:
    """The columns of the source with their roles; its rows stay where they are."""
    columns = Table(pa.table({name: pa.nulls(0) for name in engine.columns}))
    table = job.with_roles(columns)
    if not table.quasi_identifiers:
        raise ColumnError(
            "job.no-column-quasi-identifier",
            "no column is a quasi-identifier: say which columns an attacker may know",
        )
    withheld = [
        name
        for names in needed_distributions(job.privacy)
        for name in names
        if table.require(name) not in table.published
    ]
    if withheld:
        raise ColumnError(
            "job.model-looks-not-released",
            "a model looks at '{withheld}', which is not released: an engine cannot verify that: use engine"
            ' = "memory"',
            withheld=withheld[0],
        )
    return table


def _prepared(
    job: Job, engine: Engine, table: Table, watch: Stopwatch, progress: Progress | None
) -> Preparation:
    """The distinct combinations of the columns that matter, made ready as a table in memory is."""
    looked_at = [*needed_distributions(job.privacy), *job.loss.distributions]
    needed = [table.require(name) for names in looked_at for name in names]
    names = dict.fromkeys([*table.quasi_identifiers, *needed, *table.sensitive])
    with watch.stage("read"):
        if table.identifiers and not job.several_rows_per_person:
            _refuse_repeated_people(engine, table)
        counted = engine.group(list(names), progress)
        population = job.population.read(progress) if job.population else None
    data = counted.table.data
    if population is not None:  # values are compared with those of another table
        data = pa.table({name: plain(data.column(name)) for name in names})
    return prepare(
        Table(data, {name: table.roles[name] for name in names}, counted.table.reading),
        job.columns,
        job.privacy,
        job.loss,
        suppression_limit=job.suppression_limit,
        population=population,
        several_rows_per_person=True,
        counts=counted.counts,
        watch=watch,
        progress=progress,
    )


def _refuse_repeated_people(engine: Engine, table: Table) -> None:
    """As `people.refuse_repeated_people`, asked of the engine."""
    repeated = engine.repeated(table.identifiers)
    if repeated:
        raise InputError(
            "job.rows-repeat-another-row",
            "{source}: {repeated} {repeated:row repeats|rows repeat} the {identifiers} of another row, "
            "but every promise counts a "
            "row as a person: merge the rows of a person, or allow it with several_rows_per_person",
            source=engine.source,
            repeated=repeated,
            identifiers=" and ".join(table.identifiers),
        )


def _decided(
    job: Job, engine: Engine, prepared: Preparation, table: Table, solution: Solution, watch: Stopwatch
) -> Result:
    """What will be released, not yet written and not yet verified."""
    assert solution.best is not None
    rows, problem = prepared.rows, prepared.problem
    counted = dict.fromkeys([*problem.distributions, *((name,) for name in table.sensitive)])
    state = protect(rows.classes(table.quasi_identifiers, solution.best.node, counted), problem.models)
    names = table.published
    levels = dict(zip(table.quasi_identifiers, solution.best.node, strict=True))
    num_rows = rows.num_rows
    place = job.output.path or f"table {job.output.table} of the database"
    return Result(
        input=StoredTable.of(table.column_names, table.roles, num_rows, engine.source, engine.reading),
        release=StoredTable.of(names, table.roles, num_rows - state.suppressed_rows, place),
        problem=problem,
        solution=solution,
        state=state,
        hierarchies=prepared.hierarchies,
        population=None,
        withheld=pa.table({}),
        seconds=watch.seconds,
        passes=(Pass(levels, num_rows - state.suppressed_rows, state.num_kept, solution.best.loss),),
        attacks=tuple(attack_all(state)),
        output=place,
    )


def _plan(result: Result, shuffle: bool, seed: int | None) -> ReleasePlan:
    """The winning node as instructions for an engine."""
    classes = result.state.classes
    levels = tuple(
        _level_table(column, level)
        for column, level in zip(classes.quasi_identifiers, classes.levels, strict=True)
    )
    kept = tuple(classes.label_codes(index)[result.state.kept] for index in range(len(levels)))
    columns = result.release.column_names
    if seed is None:
        return ReleasePlan(columns, levels, kept, shuffle)
    return ReleasePlan(columns, levels, kept, shuffle, key=f"{seed:032x}")


def _level_table(column: Column, level: int) -> LevelTable:
    """Every value of a column with its label: the column itself, with one row for each value."""
    each = dataclasses.replace(column, codes=np.arange(column.cardinality, dtype=np.int32))
    own = level == 0 or column.levels is None
    codes = each.codes if own or column.levels is None else column.levels.maps[level]
    return LevelTable(column.name, column.values, codes, generalized(each, level), own)
