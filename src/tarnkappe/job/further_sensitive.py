"""Further sensitive columns of a job: they are shown in so few rows that the main one does not tell them.

Classes may be diverse in each sensitive column and yet tell one through another. Here the main column stays
whole, and of the rows that share one of its values in a class at most one in `l` shows the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Meta

from tarnkappe.errors import JobError, VerificationError
from tarnkappe.privacy import Model, needed_distributions
from tarnkappe.privacy.several_sensitive import protect_several
from tarnkappe.privacy.verify import quote
from tarnkappe.schema import MOST_NAMES, Name, Parameters, Problem, param, rule
from tarnkappe.table import MISSING, SUPPRESSED, Role, Table
from tarnkappe.table.encoding import as_text, encode_column
from tarnkappe.table.grouping import group_codes


class FurtherSensitive(Parameters, kw_only=True):
    """Sensitive columns that are partly suppressed, so that the main one does not tell them."""

    main: Annotated[Name, param("the sensitive column that stays whole")]
    columns: Annotated[
        Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MOST_NAMES)],
        param("the sensitive columns of which cells are suppressed"),
    ]
    l: Annotated[  # noqa: E741  the letter of the field
        Annotated[int, Meta(ge=2, le=1_000)],
        param("of the rows with one main value in a class, at most one in so many shows the columns"),
    ]

    def rules(self) -> Iterator[Problem]:
        """A column is either the main one or one of the others, once."""
        if len({self.main, *self.columns}) <= len(self.columns):
            yield rule(
                "job.further-twice", "each column is named once, as main or among the columns", "columns"
            )

    def check(self, table: Table, models: Sequence[Model]) -> None:
        """Refuse columns that are not sensitive, and promises about cells that would be suppressed.

        Raises:
            JobError: with what to change.
        """
        for name in (self.main, *self.columns):
            if table.roles[table.require(name)] is not Role.SENSITIVE:
                raise JobError(
                    "job.further-not-sensitive",
                    "[further_sensitive] names '{name}', which is not sensitive: give it that role",
                    name=name,
                )
        judged = {name for names in needed_distributions(models) for name in names}
        for name in self.columns:
            if name in judged:
                raise JobError(
                    "job.further-is-promised",
                    "a promise is about '{name}', of which [further_sensitive] suppresses cells: leave one "
                    "of the two out",
                    name=name,
                )

    def suppress(self, release: Table, seed: int | None) -> Table:
        """The release with suppressed cells; which ones is random.

        Raises:
            GuaranteeError: if a class has fewer than `l` main values.
        """
        keys = [encode_column(name, release.data.column(name)) for name in release.quasi_identifiers]
        classes = group_codes([key.codes for key in keys], [key.cardinality for key in keys])
        ids = pa.array(classes.ids, pa.int64())
        found = protect_several(release.data, ids, self.main, self.columns, self.l, seed=seed)
        return Table(found.data, release.roles)

    def verify(self, originals: pa.Table, release: pa.Table, quasi_identifiers: Sequence[str]) -> None:
        """Count in SQL what the release shows, and compare it with the originals, row by row.

        Raises:
            VerificationError: if it shows too much, or something else.
        """
        with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
            connection.register("release", release)
            keys = ", ".join(quote(name) for name in (*quasi_identifiers, self.main))
            for name in self.columns:
                shown = f"count(*) FILTER ({quote(name)} IS DISTINCT FROM '{SUPPRESSED}')"
                crowded = f"SELECT 1 FROM release GROUP BY {keys} HAVING {shown} * {self.l} > count(*)"
                true = pc.equal(_texts(originals.column(name)), _texts(release.column(name)))
                starred = pc.equal(_texts(release.column(name)), SUPPRESSED)
                if (
                    connection.execute(f"{crowded} LIMIT 1").fetchone()
                    or not pc.all(pc.or_(true, starred)).as_py()
                ):
                    raise VerificationError(
                        "job.further-shows-too-much",
                        "the column '{name}' of the release shows more than one cell in {l} of a main value, "
                        "or a wrong one: it was not handed over; please report this, it is a fault of "
                        "the program",
                        name=name,
                        l=self.l,
                    )

    def outcome(self, release: Table, name: str) -> str:
        """What became of a column, in words."""
        starred = pc.sum(pc.equal(_texts(release.data.column(name)), SUPPRESSED)).as_py() or 0
        return (
            f"'*' in {starred:,} of {release.num_rows:,} rows: of those with one value of {self.main} "
            f"in a class at most 1 in {self.l} shows it"
        )


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return as_text(column).fill_null(MISSING)
