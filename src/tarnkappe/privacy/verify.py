"""Independent verification: the models asked again, in SQL, of the released values.

Nothing here uses the encoded table, the kernels or the lattice. A release and what it must be compared
with (the input's sensitive columns, the generalized population) are relations of a DuckDB connection;
each model brings its own query (`Model.sql`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import duckdb
import pyarrow as pa

from tarnkappe.privacy.model import Model
from tarnkappe.table import MISSING, SUPPRESSED, Column


@dataclasses.dataclass(frozen=True)
class Verification:
    """What the independent path found for one model."""

    model: Model
    value: float | None
    holds: bool
    violating_classes: int


def quote(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def text(name: str) -> str:
    """A column as text, the missing value included, in SQL."""
    return f"shown({quote(name)})"


SHOWN = f"""
    CREATE OR REPLACE TEMP MACRO shown(x) AS coalesce(
        CASE WHEN typeof(x) IN ('DOUBLE', 'FLOAT') THEN regexp_replace(CAST(x AS VARCHAR), '[.]0$', '')
             ELSE CAST(x AS VARCHAR) END, '{MISSING}')"""
"""Values as text in the form in which hierarchies and reports show them: 100, where DuckDB has 100.0."""


def verify(
    connection: duckdb.DuckDBPyConnection,
    models: Sequence[Model],
    quasi_identifiers: Sequence[str],
    *,
    release: str = "release",
    input_table: str = "input",
    population: str | None = None,
    sensitive: Mapping[str, Column] | None = None,
    weight: str | None = None,
) -> list[Verification]:
    """Verify models on a release.

    Args:
        connection: where the relations are.
        models: what was promised.
        quasi_identifiers: the columns that define the classes.
        release: the relation with the released rows.
        input_table: the relation with all input rows; only sensitive columns are looked at.
        population: the relation with the generalized population, if there is one.
        sensitive: the sensitive columns with the hierarchies that models measure distances by.
        weight: where equal rows of the relations are merged, the column that tells how many one stands for;
            the release must then have another name than `release`, which is what models call the rows.
    """
    connection.execute(SHOWN)
    relations = Relations(release, input_table, population, weight)
    return [
        _verify_part(connection, part, quasi_identifiers, relations, sensitive or {})
        for model in models
        for part in model.parts
    ]


@dataclasses.dataclass(frozen=True)
class Relations:
    """The relations that a release is verified with."""

    release: str
    input: str
    population: str | None
    weight: str | None

    @property
    def rows(self) -> str:
        """How many rows of a group there are, in SQL."""
        return "count(*)" if self.weight is None else f"CAST(sum({quote(self.weight)}) AS BIGINT)"

    @property
    def released_rows(self) -> str:
        """The released rows one by one, in SQL."""
        if self.weight is None:
            return f"SELECT * FROM {quote(self.release)}"
        return f"SELECT *, unnest(range({quote(self.weight)})) FROM {quote(self.release)}"


def _verify_part(
    connection: duckdb.DuckDBPyConnection,
    model: Model,
    quasi_identifiers: Sequence[str],
    relations: Relations,
    sensitive: Mapping[str, Column],
) -> Verification:
    columns = model.distributions[0] if model.distributions else ()
    key = [*quasi_identifiers, *columns[1:]]
    released, rows = quote(relations.release), relations.rows
    parts = [f"classes AS (SELECT {class_of(key)} AS class, {rows} AS size FROM {released} GROUP BY ALL)"]
    if relations.release != "release":
        parts.append(f"release AS ({relations.released_rows})")
    if columns:
        value = text(columns[0])
        parts.append(
            f"counts AS (SELECT {class_of(key)} AS class, {value} AS value, {rows} AS n"
            f" FROM {released} WHERE {value} <> '{SUPPRESSED}' GROUP BY ALL)"
        )
        parts.append(
            f"totals AS (SELECT {value} AS value, {rows} AS n,"
            f" row_number() OVER (ORDER BY {quote(columns[0])} NULLS LAST) AS rank,"
            f" {_number(columns[0])} AS number FROM {quote(relations.input)}"
            f" WHERE {value} <> '{SUPPRESSED}' GROUP BY {quote(columns[0])})"
        )
        connection.register("levels", _levels(sensitive.get(columns[0])))
    if relations.population:
        parts.append(
            f"population AS (SELECT {class_of(quasi_identifiers)} AS class, {rows} AS n"
            f" FROM {quote(relations.population)} GROUP BY ALL)"
        )
    parts.append(f"input_size AS (SELECT {rows} AS n FROM {quote(relations.input)})")
    connection.register("leaves", _leaves([sensitive[n] for n in quasi_identifiers if n in sensitive]))
    query = f"WITH {', '.join(parts)}, verified AS ({model.sql(quasi_identifiers)}) "
    worst = "min" if model.direction.high_is_good else "max"
    for name, function in model.functions.items():
        connection.create_function(name, function, ["BIGINT[]", "BIGINT"], "DOUBLE")
    value, violating = connection.execute(
        query + f"SELECT {worst}(value), count(*) FILTER (WHERE NOT coalesce(holds, false)) FROM verified"
    ).fetchall()[0]
    for name in model.functions:
        connection.remove_function(name)
    return Verification(model, None if value is None else float(value), violating == 0, int(violating))


def _number(name: str) -> str:
    """A column as numbers, dates as days and times as seconds, in SQL."""
    unit = f"CASE typeof({quote(name)}) WHEN 'DATE' THEN 86400 ELSE 1 END"
    return f"coalesce(TRY_CAST({quote(name)} AS DOUBLE), epoch(TRY_CAST({text(name)} AS TIMESTAMP)) / {unit})"


def class_of(names: Sequence[str]) -> str:
    """The class of a row of the release, in SQL: its values in some columns."""
    return f"row({', '.join(text(name) for name in names)})" if names else "row('')"


def _levels(column: Column | None) -> pa.Table:
    rows: dict[str, list[object]] = {"value": [], "level": [], "label": []}
    if column is not None and column.levels is not None:
        for level in range(1, column.levels.height + 1):
            for code, value in enumerate(column.labels):
                rows["value"].append(value)
                rows["level"].append(level)
                rows["label"].append(column.levels.labels[level][column.levels.maps[level][code]])
    return pa.table(
        rows, schema=pa.schema([("value", pa.string()), ("level", pa.int32()), ("label", pa.string())])
    )


def _leaves(columns: Sequence[Column]) -> pa.Table:
    """A label that stands on several levels counts as the most general of them."""
    most: dict[tuple[str, str], int] = {}
    domains: dict[str, int] = {}
    for column in columns:
        levels = column.levels
        domains[column.name] = column.cardinality if levels is None else levels.domain_size
        most[column.name, SUPPRESSED] = domains[column.name]  # a suppressed cell may be anything
        most.update({(column.name, label): 1 for label in column.labels})
        for labels, leaves in () if levels is None else zip(levels.labels, levels.leaves, strict=True):
            for label, n in zip(labels, leaves.tolist(), strict=True):
                most[column.name, label] = max(n, most.get((column.name, label), 1))
    return pa.table(
        {
            "name": pa.array([name for name, _ in most], pa.string()),
            "label": pa.array([label for _, label in most], pa.string()),
            "n": pa.array(most.values(), pa.int64()),
            "domain": pa.array([domains[name] for name, _ in most], pa.int64()),
        }
    )
