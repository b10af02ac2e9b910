"""Slicing: rows are cut into groups of columns, and the pieces are shuffled within buckets of rows.

Columns that tell much about each other stay together, so what is between them survives; what is between two
groups survives only as far as buckets tell. Published are the sliced table, with the bucket of each row, and
which columns stayed together.

What it promises. Whoever knows a person's quasi-identifiers, and even her bucket, knows of her sensitive
value only that it is one of those that stand in this bucket beside her quasi-identifiers of the same group of
columns (beside none, if the sensitive columns are a group of their own): every permutation of the pieces was
equally probable, so each of these rows is hers with the same probability. In every bucket these rows meet the
models. If an attacker is not sure of the bucket, he mixes what the buckets tell, and a mixture of
distributions that are diverse (or close to that of the whole table) is so too. The few models of which this
is not true are named in the release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import duckdb
import numpy as np
import pyarrow as pa
from msgspec import Meta

from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.lattice import SearchProblem
from tarnkappe.privacy import Model
from tarnkappe.privacy.verify import SHOWN, class_of, quote
from tarnkappe.recoding.bucket_assignment import require_eligible
from tarnkappe.recoding.column_groups import (
    ColumnGroups,
    beside_sensitive,
    correlated_groups,
    released_columns,
    require_partition,
)
from tarnkappe.recoding.judging import (
    LEFT_OUT,
    GroupEvaluator,
    free_name,
    group_models,
    mixing_remarks,
    plain,
    require_sensitive,
)
from tarnkappe.recoding.matching import Matching, part_codes
from tarnkappe.recoding.method import Bucketization, Buckets
from tarnkappe.recoding.randomness import Chance
from tarnkappe.recoding.splitting import split_rows
from tarnkappe.schema import MOST_NAMES, Name, param, rule
from tarnkappe.schema import Problem as Refusal
from tarnkappe.table import Column, Role, Table, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Progress, encode
from tarnkappe.table.grouping import group_codes

SLICED, COLUMNS = "sliced", "columns"
"""The names of the two tables."""


Together = Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MOST_NAMES)]


class Slicing(Bucketization, kw_only=True):
    """Publish groups of columns, each shuffled within buckets of rows."""

    name = "slicing"
    cites = ("li2012",)
    summary = (
        "Keeps every value and the links between correlated columns, and breaks the other links within "
        "buckets. Right for tables with many columns and analyses of related ones; wrong for analyses of "
        "whole rows."
    )

    table_names = (SLICED, COLUMNS)

    groups: Annotated[
        tuple[Together, ...],
        param(
            "the columns that stay together, group by group; without them, those that are correlated do",
            kind="columns",
            max_length=MOST_NAMES,
        ),
    ] = ()
    number: Annotated[
        Annotated[int, Meta(ge=2, le=MOST_NAMES)] | None,
        param(
            "how many groups of correlated columns to make; without it, one for three columns", unit="groups"
        ),
    ] = None

    def rules(self) -> Iterator[Refusal]:
        """Either the groups are given, or their number."""
        if self.groups and (self.number is not None or len(self.groups) < 2):
            yield rule(
                "slicing.groups", "slicing: give at least 2 groups of columns, or their number, not both"
            )

    def check(self, problem: SearchProblem) -> None:
        """Refuse what buckets cannot promise."""
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
        """Group the columns, put the rows into buckets, and shuffle the pieces."""
        require_sensitive(table, problem.models, self.name)
        chance = Chance(seed)
        judge = GroupEvaluator(rows, group_models(problem.models, self.name))
        require_eligible(rows, judge, table.sensitive)
        groups = self._column_groups(table, rows, judge)
        _require_together(groups, judge.parts)
        judged = _Judgement(judge, [rows.columns[name] for name in beside_sensitive(groups, table.roles)])
        if judged(np.zeros(rows.num_tuples, np.int32)).any():
            raise NoSolutionError(
                "recoding.beside-sensitive-columns-even",
                "with {groups} beside sensitive columns even all rows in one bucket do not keep the "
                "promises: put them into other groups",
                groups=", ".join(beside_sensitive(groups, table.roles)),
            )
        found = split_rows([rows.columns[name] for name in problem.quasi_identifiers], judged, progress)
        # Bucket numbers are drawn anew: those of splitting follow the quasi-identifiers.
        buckets = chance.order(int(found.max()) + 1).astype(np.int32)[found]
        tables = {SLICED: slice_table(table, groups, buckets, chance), COLUMNS: _described(groups, table)}
        accepts = (*_accepts(groups, rows, table), *mixing_remarks(judge.parts))
        return Buckets(buckets, tables, _steps(groups, buckets, rows, table), accepts)

    def read(self, tables: Mapping[str, pa.Table], quasi_identifiers: Sequence[str]) -> pa.Table:
        """The sliced table, each bucket divided by the quasi-identifiers beside sensitive columns, in SQL."""
        del quasi_identifiers
        sliced, described = tables[SLICED], tables[COLUMNS]
        names = described.column("column").to_pylist()
        roles = {n: Role.parse(r) for n, r in zip(names, described.column("role").to_pylist(), strict=True)}
        numbers = described.column("group").to_pylist()
        groups = tuple(
            tuple(name for name, own in zip(names, numbers, strict=True) if own == number)
            for number in sorted(set(numbers))
        )
        bucket = sliced.column_names[-1]
        key = class_of([bucket, *beside_sensitive(groups, roles)])
        with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
            connection.register("sliced", sliced)
            connection.execute(SHOWN)
            return connection.sql(
                f"SELECT * EXCLUDE ({quote(bucket)}), dense_rank() OVER (ORDER BY {key}) AS bucket FROM "
                "sliced"
            ).to_arrow_table()

    def _column_groups(self, table: Table, rows: Tuples, judge: GroupEvaluator) -> ColumnGroups:
        names = released_columns(table)
        if self.groups:
            return require_partition(self.groups, names)
        columns = {**rows.columns, **encode(table, [name for name in names if name not in rows.columns])}

        def good(beside: Sequence[str]) -> bool:
            judged = _Judgement(judge, [rows.columns[name] for name in beside])
            return not judged(np.zeros(rows.num_tuples, np.int32)).any()

        return correlated_groups(table, columns, self.number, good)


def _require_together(groups: ColumnGroups, models: Sequence[Model]) -> None:
    """Refuse a promise about who knows another sensitive column if slicing breaks the link between the two.

    The written rows pair the pieces of a bucket at random. Whether they keep such a promise would be decided
    by the draw, and say nothing of the people.
    """
    for model in models:
        for group in groups:
            column = getattr(model, "column", None)
            apart = [name for name in getattr(model, "given", ()) if name not in group]
            if column in group and apart:
                raise ParameterError(
                    "recoding.slicing-would-shuffle-apart",
                    "{model}: slicing would shuffle '{apart}' apart from '{column}', so that nothing could "
                    "be promised to who knows it: put both into one group with groups = [...], or leave it "
                    "out of 'given'",
                    model=model.name,
                    apart=apart[0],
                    column=column,
                )


class _Judgement:
    """Whether buckets keep the promises, divided by what is known beside the sensitive columns."""

    def __init__(self, judge: GroupEvaluator, beside: Sequence[Column]) -> None:
        self._judge = judge
        self._part = part_codes([column.codes for column in beside], judge.rows.num_tuples)

    def __call__(self, buckets: Codes) -> Mask:
        """Which buckets break a promise or have one row only; rows below 0 are in none."""
        inside = np.flatnonzero(buckets >= 0)
        number = int(buckets.max(initial=-1)) + 1
        divided = group_codes(
            [buckets[inside], self._part[inside]], [number, int(self._part.max(initial=0)) + 1]
        )
        classes = np.full(len(buckets), LEFT_OUT, np.int32)
        classes[inside] = divided.ids
        bad = np.bincount(buckets[inside], minlength=number) < 2  # alone in a bucket nothing is shuffled
        bad[buckets[inside][divided.representatives[self._judge.violating(classes)]]] = True
        return np.asarray(bad)


def slice_table(table: Table, groups: ColumnGroups, buckets: Codes, chance: Chance) -> pa.Table:
    """Shuffle the pieces of each group within buckets, each group by itself, then the rows.

    The bucket of each row is the last column.
    """
    order = chance.order(len(buckets))
    piece_of = {}
    for group in groups:
        traded = chance.trade_within(buckets)[order]
        piece_of.update(dict.fromkeys(group, pa.array(traded)))
    data = {n: plain(table.data.column(n)).take(piece_of[n]) for n in released_columns(table)}
    own = pa.array(buckets[order] + 1, pa.int32())
    return pa.table({**data, free_name("bucket", table): own})


def _described(groups: ColumnGroups, table: Table) -> pa.Table:
    """Which columns stay together, as a reader of the release must know."""
    return pa.table(
        {
            "column": [name for group in groups for name in group],
            "group": pa.array([number for number, group in enumerate(groups, 1) for _ in group], pa.int64()),
            "role": [str(table.roles[name]) for group in groups for name in group],
        }
    )


def _parts(groups: ColumnGroups, rows: Tuples, table: Table) -> list[Codes]:
    """The quasi-identifiers of each group as one code per row."""
    return [
        part_codes(
            [rows.columns[n].codes for n in group if table.roles[n] is Role.QUASI_IDENTIFIER],
            rows.num_tuples,
        )
        for group in groups
    ]


def _steps(groups: ColumnGroups, buckets: Codes, rows: Tuples, table: Table) -> tuple[str, ...]:
    sizes = np.bincount(buckets)
    told = [
        f"columns that stay together: {'; '.join(', '.join(group) for group in groups)}",
        f"{len(sizes):,} buckets of {sizes.min():,} to {sizes.max():,} rows",
    ]
    for name in table.sensitive:
        place = next(number for number, group in enumerate(groups) if name in group)
        parts = _parts(groups, rows, table)
        greatest = Matching(buckets, parts, rows.columns[name].codes, place).greatest()
        told.append(
            f"for an attacker who weighs all buckets, no value of '{name}' is likelier than {greatest:.3f}"
        )
    return tuple(told)


def _accepts(groups: ColumnGroups, rows: Tuples, table: Table) -> tuple[str, ...]:
    alone = np.zeros(rows.num_tuples, dtype=bool)
    for part in _parts(groups, rows, table):
        alone |= np.bincount(part)[part] == 1
    return (
        "Membership in part: the columns of a group stay together as they are, so whoever knows a "
        f"combination that one person has sees it in the table. {int(alone.sum()):,} of {rows.num_rows:,} "
        "rows have such a combination within a group.",
    )
