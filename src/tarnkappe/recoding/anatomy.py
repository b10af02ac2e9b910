"""Anatomy: the quasi-identifiers stay exact, and what links them to the sensitive values is a group.

Two tables are published. The first has every row's quasi-identifiers and the number of its group, the second
how often each sensitive value occurs in each group. Within a group nobody can tell who has which value. Who
has the exact quasi-identifiers of a person, though, sees that she is in the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import duckdb
import numpy as np
import pyarrow as pa

from tarnkappe.errors import ColumnError, VerificationError
from tarnkappe.lattice import SearchProblem
from tarnkappe.privacy.verify import quote
from tarnkappe.recoding.bucket_assignment import DealtGroups, make_groups
from tarnkappe.recoding.judging import (
    free_name,
    group_models,
    mixing_remarks,
    plain,
    require_sensitive,
)
from tarnkappe.recoding.method import Bucketization, Buckets
from tarnkappe.recoding.randomness import Chance
from tarnkappe.schema import Rows, param
from tarnkappe.table import Role, Table, Tuples
from tarnkappe.table.encoding import Codes, Progress

QUASI_IDENTIFIERS, SENSITIVE = "quasi-identifiers", "sensitive"
"""The names of the two tables."""


class Anatomy(Bucketization, kw_only=True):
    """Publish exact quasi-identifiers and, group by group, the sensitive values."""

    name = "anatomy"
    cites = ("xiao2006anatomy",)
    summary = (
        "Keeps every quasi-identifier exact and publishes the sensitive values by group in a second table. "
        "Right for aggregate statistics under l-diversity or t-closeness, where it may be known who is in "
        "the table."
    )

    table_names = (QUASI_IDENTIFIERS, SENSITIVE)

    group_size: Annotated[
        Rows | None,
        param("how many rows a group has at least; without it, what the models demand", unit="rows"),
    ] = None

    def check(self, problem: SearchProblem) -> None:
        """Refuse what two tables cannot promise."""
        super().check(problem)
        group_models(problem.models, self.name)

    def bucketize(
        self,
        table: Table,
        rows: Tuples,
        problem: SearchProblem,
        seed: int | None,
        progress: Progress | None = None,
    ) -> Buckets:
        """Deal the rows to groups and make both tables, each in a random order."""
        if not table.sensitive:
            raise ColumnError(
                "recoding.anatomy-separates-sensitive-columns",
                "anatomy separates sensitive columns from the others: name a sensitive column",
            )
        require_sensitive(table, problem.models, self.name)
        chance = Chance(seed)
        groups = make_groups(
            rows,
            table.sensitive,
            problem.models,
            least_size=self.group_size,
            chance=chance,
            progress=progress,
        )
        # Group numbers are drawn anew: those of dealing follow the sensitive values.
        numbers = chance.order(groups.number).astype(np.int32)
        of_row = numbers[groups.of_row]
        uniques = int((rows.classes(problem.quasi_identifiers).sizes == 1).sum())
        accepts = (
            *_accepts(uniques, rows.num_rows),
            *mixing_remarks(group_models(problem.models, self.name)),
        )
        return Buckets(of_row, anatomy_tables(table, of_row, chance), _steps(groups), accepts)

    def read(self, tables: Mapping[str, pa.Table], quasi_identifiers: Sequence[str]) -> pa.Table:
        """Both tables joined within each group, in SQL; tables that do not fit together are refused."""
        del quasi_identifiers
        first, second = tables[QUASI_IDENTIFIERS], tables[SENSITIVE]
        group, count = quote(second.column_names[0]), quote(second.column_names[-1])
        place = f'row_number() OVER (PARTITION BY {group}) AS "(place)"'
        with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
            connection.register("first", first)
            connection.register("second", second)
            joined: pa.Table = connection.sql(
                f"""
                WITH people AS (SELECT *, {place} FROM first),
                     copies AS (SELECT * EXCLUDE ({count}), unnest(range({count})) AS "(copy)" FROM second),
                     told AS (SELECT * EXCLUDE ("(copy)"), {place} FROM copies)
                SELECT * EXCLUDE ("(place)") RENAME ({group} AS bucket)
                FROM people FULL JOIN told USING ({group}, "(place)")
                """
            ).to_arrow_table()
        told = int(np.asarray(second.column(second.num_columns - 1)).sum())
        if joined.num_rows != first.num_rows or told != first.num_rows:
            raise VerificationError(
                "recoding.two-tables-anatomy-groups",
                "the two tables of Anatomy have groups of different sizes: they were not handed over",
            )
        return joined


def anatomy_tables(table: Table, of_row: Codes, chance: Chance) -> dict[str, pa.Table]:
    """The quasi-identifiers (and what is insensitive) with groups, and the sensitive values with groups."""
    group, count = free_name("group", table), free_name("count", table)
    people = chance.order(len(of_row))
    first = [name for name in table.published if table.roles[name] is not Role.SENSITIVE]
    data = {name: plain(table.data.column(name)).take(pa.array(people)) for name in first}
    values = pa.table(
        {
            group: pa.array(of_row + 1, pa.int32()),
            **{name: plain(table.data.column(name)) for name in table.sensitive},
        }
    )
    counted = values.group_by(values.column_names, use_threads=False).aggregate([([], "count_all")])
    counted = counted.select([*values.column_names, "count_all"]).rename_columns(
        [*values.column_names, count]
    )
    return {
        QUASI_IDENTIFIERS: pa.table({**data, group: pa.array(of_row[people] + 1, pa.int32())}),
        SENSITIVE: counted.take(pa.array(chance.order(counted.num_rows))),
    }


def _steps(groups: DealtGroups) -> tuple[str, ...]:
    proof = (
        f"no grouping loses less in which a value has at most 1/{groups.least_size} of a group (proven)"
        if groups.optimal
        else "not proven to be the least"
    )
    return (
        f"{groups.number:,} groups of at least {groups.least_size} rows",
        f"reconstruction error {groups.error:.4f} per row: {proof}",
    )


def _accepts(uniques: int, rows: int) -> tuple[str, ...]:
    return (
        "Membership: the quasi-identifiers are published as they are, so whoever knows those of a person "
        f"sees whether she is in the table. {uniques:,} of {rows:,} rows ({uniques / max(rows, 1):.0%}) are "
        "the only ones with theirs. Use a generalizing method where membership itself is sensitive.",
    )
