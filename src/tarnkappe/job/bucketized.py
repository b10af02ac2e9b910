"""A bucketization in a job: its tables are verified, written, read again and verified once more."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from tarnkappe.drawing import html_table
from tarnkappe.errors import ColumnError, ParameterError, VerificationError
from tarnkappe.job.paths import table_paths
from tarnkappe.job.preparation import Preparation
from tarnkappe.job.result import Result
from tarnkappe.job.timings import Stopwatch
from tarnkappe.job.verification import require_promises
from tarnkappe.lattice import Evaluation, Solution
from tarnkappe.privacy import KAnonymity
from tarnkappe.privacy.verify import SHOWN, quote, text, verify
from tarnkappe.recoding import Bucketization, Buckets, Suppression
from tarnkappe.risk import attack_all
from tarnkappe.risk.attacks import Linking
from tarnkappe.table import ClassState, Table, write
from tarnkappe.table.classes import release_everything
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import suffix_of
from tarnkappe.table.read import as_typed, read_written
from tarnkappe.table.row_tuples import row_tuples
from tarnkappe.table.write import csv_style, without_guards

BUCKET = "bucket"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Bucketized(Result):
    """A verified release whose quasi-identifiers are exact and whose links are broken within buckets.

    The loss by which generalizations are compared does not apply: `loss` is NaN. `release` is the first of
    the tables; `state` has the buckets, as the models look at them, for classes.

    Attributes:
        method: how it was made.
        buckets: what the method found.
    """

    method: Bucketization = dataclasses.field(kw_only=True)
    buckets: Buckets = dataclasses.field(kw_only=True)

    @property
    def tables(self) -> Mapping[str, pa.Table]:
        """The tables of the release by name; the first is written to the output itself."""
        return self.buckets.tables

    @property
    def promises(self) -> list[str]:
        """What each model promises here: k-anonymity is one of groups, since all people stay distinct."""
        return [
            f"The sensitive values of everybody are hidden in a group of at least {part.k} rows."
            if isinstance(part, KAnonymity)
            else part.promise
            for model in self.problem.models
            for part in model.parts
        ]

    @property
    def generalizes(self) -> bool:
        """Quasi-identifiers stay as they are."""
        return False

    @property
    def suppressed(self) -> int:
        """How many rows were suppressed."""
        return int(np.count_nonzero(self.buckets.bucket < 0))

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return super().to_dict() | {
            "loss": None,
            "promises": self.promises,
            "released_rows": self.input.num_rows - self.suppressed,
            "outputs": list(self.outputs),
            "tables": {name: table.num_rows for name, table in self.tables.items()},
            "steps": list(self.buckets.steps),
            "accepts": list(self.buckets.accepts),
        }

    @property
    def outputs(self) -> tuple[str, ...]:
        """The files of the release."""
        if self.output is None:
            return ()
        return tuple(map(str, table_paths(self.output, self.method.table_names).values()))

    def _repr_html_(self) -> str:
        tables = [(name, f"{table.num_rows:,} rows") for name, table in self.tables.items()]
        measured = [
            (promise, str(found.model), "" if found.value is None else f"{found.value:,.6g}")
            for promise, found in zip(self.promises, self.verified, strict=True)
        ]
        accepted = [(text,) for text in self.buckets.accepts]
        return (
            html_table(("table", ""), tables)
            + html_table(("promise", "model", "measured"), measured)
            + html_table(("accepted",), accepted)
        )

    def __str__(self) -> str:
        checks = "; ".join(f"{v.model}: {v.value:g}" for v in self.verified if v.value is not None)
        rows = f"{self.input.num_rows - self.suppressed:,} of {self.input.num_rows:,} rows"
        tables = ", ".join(f"{name} ({table.num_rows:,} rows)" for name, table in self.tables.items())
        return "\n".join(
            [
                f"{rows} by {self.method.name}: {tables}",
                *self.columns.lines,
                *self.buckets.steps,
                f"verified of every group: {checks}",
                *(f"accepted: {accepted}" for accepted in self.buckets.accepts),
            ]
        )


def bucketize_and_release(
    prepared: Preparation,
    method: Bucketization,
    watch: Stopwatch | None = None,
    progress: Progress | None = None,
    *,
    local_recoding: bool = False,
) -> Bucketized:
    """Let a bucketization make its tables, and verify them in SQL."""
    watch = watch or Stopwatch(prepared.seconds)
    problem, table = prepared.problem, prepared.table
    method.check(problem)
    _refuse_misfits(prepared, method, local_recoding=local_recoding)
    with watch.stage("search"):
        found = method.bucketize(table, prepared.rows, problem, prepared.seed, progress)
    with watch.stage("transform"):
        one = method.read(found.tables, problem.quasi_identifiers)
        state = _state(one, prepared)
        first = next(iter(found.tables.values()))
        roles = {name: table.roles[name] for name in first.column_names if name in table.column_names}
    suppressed = int(np.count_nonzero(found.bucket < 0))
    best = Evaluation((), True, float("nan"), suppressed, state.num_kept)
    result = Bucketized(
        input=table,
        release=Table(first, roles),
        problem=problem,
        solution=Solution(best, False, 0, method.name),
        state=state,
        hierarchies=prepared.hierarchies,
        population=None,
        withheld=pa.table({}),
        seconds=watch.seconds,
        attacks=tuple(found for found in attack_all(state) if found.attack != Linking.name),
        prepared=prepared,
        method=method,
        buckets=found,
    )
    with watch.stage("verify"):
        return verify_tables(result, found.tables)


def verify_tables(result: Bucketized, tables: Mapping[str, pa.Table]) -> Bucketized:
    """Check the tables of a release against everything that was promised; anything amiss is an error.

    Beside the privacy models on buckets: no identifier is left, and each column has exactly the values of the
    rows that are released, no more and no other.
    """
    for name, table in tables.items():
        left = [column for column in result.input.identifiers if column in table.column_names]
        if left:
            raise VerificationError(
                "job.table-still-not-handed",
                "the table '{name}' still has {left}: it was not handed over",
                name=name,
                left=", ".join(left),
            )
    one = result.method.read(tables, result.problem.quasi_identifiers)
    with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
        connection.register("release", one)
        connection.register("input", result.input.data)
        connection.register("kept", result.input.data.filter(pa.array(result.buckets.bucket >= 0)))
        _require_unchanged(connection, result, one)
        verified = verify(
            connection, result.problem.models, (BUCKET,), sensitive=result.problem.tuples.columns
        )
    checked = require_promises(result, verified)
    assert isinstance(checked, Bucketized)
    return checked


def _require_unchanged(connection: duckdb.DuckDBPyConnection, result: Bucketized, one: pa.Table) -> None:
    connection.execute(SHOWN)
    names = result.input.published
    if sorted(one.column_names) != sorted([*names, BUCKET]):
        raise VerificationError(
            "job.release-lacks-column-too",
            "the release lacks a column or has one too many: it was not handed over",
        )
    for name in names:
        ours, theirs = (f"SELECT {text(name)} FROM {quote(relation)}" for relation in ("release", "kept"))
        different = connection.execute(
            f"SELECT count(*) FROM (({ours} EXCEPT ALL {theirs}) UNION ALL ({theirs} EXCEPT ALL {ours}))"
        ).fetchall()[0][0]
        if different:
            raise VerificationError(
                "job.column-release-other-values",
                "the column '{name}' of the release has other values than the input: it was not handed over",
                name=name,
            )


def write_tables_verified(
    result: Bucketized, places: Mapping[str, Path], delimiter: str | None, excel: bool = False
) -> Bucketized:
    """Write the tables and verify them again, from what was written."""
    written: dict[str, pa.Table] = {}
    for name, path in places.items():
        expected = result.tables[name]
        write(Table(expected), path, delimiter=delimiter, excel=excel, reading=result.input.reading)
        style = csv_style(result.input.reading, suffix_of(path), delimiter, excel)
        found = without_guards(read_written(path, style), style)
        if found.column_names != expected.column_names or found.num_rows != expected.num_rows:
            raise VerificationError(
                "job.what-written-table-differs",
                "what was written of the table '{name}' differs: it was not handed over",
                name=name,
            )
        written[name] = as_typed(found, expected.schema)  # text formats forget types
        if not written[name].equals(expected):
            raise VerificationError(
                "job.what-written-table-differs",
                "what was written of the table '{name}' differs: it was not handed over",
                name=name,
            )
    return verify_tables(result, written)


def _state(one: pa.Table, prepared: Preparation) -> ClassState:
    """The buckets as classes, from what is released."""
    names = prepared.table.sensitive
    rows = row_tuples(Table(one), [BUCKET], names)
    levels = {name: h.encode(rows.columns[name]) for name, h in prepared.hierarchies.items() if name in names}
    classes = rows.with_levels(levels).classes((BUCKET,), None, [(name,) for name in names])
    return release_everything(classes)


def _refuse_misfits(prepared: Preparation, method: Bucketization, *, local_recoding: bool) -> None:
    treatment = prepared.treatment
    asked = {
        "aggregates": bool(treatment.aggregations),
        "suppressed columns": bool(treatment.suppressed),
        'suppression = "cell"': treatment.suppression is not Suppression.RECORD,
        "local_recoding": local_recoding,
        "level limits": bool(prepared.problem.level_limits),
        "a population": prepared.population is not None,
        "shuffle = false": not prepared.shuffle,
        "[further_sensitive]": prepared.further is not None,
    }
    for what, is_asked in asked.items():
        if is_asked:
            raise ParameterError(
                "job.not-go-together-since",
                "{what} and {method} do not go together, since it does not generalize and its promise rests"
                " on a random order: leave it out, or use a search",
                what=what,
                method=method.name,
            )
    if BUCKET in prepared.table.column_names:
        raise ColumnError(
            "job.needs-name-itself-rename",
            "{method} needs the name '{bucket}' for itself: rename this column",
            method=method.name,
            bucket=BUCKET,
        )
