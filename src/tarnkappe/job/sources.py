"""Where the rows of a job come from, where its release goes, and what it remembers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from tarnkappe.schema import MOST_NAMES, NO_NUL, Name, Parameters, Problem, param, rule
from tarnkappe.table import Table, read
from tarnkappe.table.encoding import Progress
from tarnkappe.table.reading_settings import ReadingSettings, Short

Engine = Literal["memory", "duckdb", "postgresql", "spark"]
Query = Annotated[str, Meta(min_length=1, max_length=1_000_000, pattern=NO_NUL)]


class InputSource(ReadingSettings):
    """Where rows come from: a file, or a table or query of a database.

    With an engine other than `memory` the rows stay where they are: the engine counts, releases, verifies.
    """

    path: Annotated[Name | None, param("the file with the rows", kind="file")] = None
    database: Annotated[Name | None, param("the address of a database, instead of a file")] = None
    table: Annotated[Name | None, param("the table of the database")] = None
    query: Annotated[Query | None, param("a query of the database, instead of a table")] = None
    engine: Annotated[Engine, param("what counts, releases and verifies the rows")] = "memory"
    memory_limit: Annotated[Short | None, param("how much memory duckdb may take, such as 4GB")] = None
    types: Annotated[
        Annotated[Mapping[Name, Short], Meta(max_length=MOST_NAMES)] | None,
        param("what columns hold: text, number or date; found if not said"),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """Rows come from one place, and nothing is said that does not go with it."""
        if self.memory_limit is not None and self.engine != "duckdb":
            yield rule(
                "job.memory-limit",
                "'memory_limit' is kept by the engine 'duckdb' only: leave it out",
                "memory_limit",
            )
        if (self.path is None) == (self.database is None):
            yield rule("job.source", "say where the rows come from: either 'path' or 'database'")
        if self.database is not None and (self.table is None) == (self.query is None):
            yield rule("job.table", "with 'database', name either a 'table' or a 'query'")

    @property
    def files(self) -> tuple[str, ...]:
        """What the rows come from: a file or an address, and the files that a query may read."""
        quoted = re.findall(r"'([^']+)'", self.query or "")
        return tuple(name for name in (self.path, self.database, *quoted) if name is not None)

    def read(self, progress: Progress | None = None) -> Table:
        """Read the rows."""
        if self.database is not None:
            return read(self.database, table=self.table, query=self.query, progress=progress)
        assert self.path is not None
        return read(self.path, progress=progress, **self.options)

    @property
    def options(self) -> dict[str, Any]:
        """What is stated about how the file is written."""
        return self.stated | ({} if self.types is None else {"types": self.types})


class Output(Parameters):
    """Where the release goes: to a file, or with the engine `postgresql` to a new table of the same database.

    Rows are shuffled unless told otherwise: their order links releases. A CSV file is written as the input
    is, unless a delimiter is given or it is for Excel. The certificate for everybody lies beside it;
    `certificate` is the one for auditors, which must not be delivered.
    """

    path: Annotated[Name | None, param("the file that gets the release", kind="file")] = None
    table: Annotated[Name | None, param("the new table of the database that gets the release")] = None
    delimiter: Annotated[
        Short | None, param("what separates the cells of a CSV file; as in the input if not said")
    ] = None
    shuffle: Annotated[bool, param("whether the rows get a random order, which links no releases")] = True
    report: Annotated[Name | None, param("the file that gets the report for people", kind="file")] = None
    manifest: Annotated[Name | None, param("the file that gets the record of the run", kind="file")] = None
    certificate: Annotated[Name | None, param("the file that gets the proof for auditors", kind="file")] = (
        None
    )
    excel: Annotated[bool, param("whether a CSV file is written so that Excel opens it")] = False


class Memory(Parameters):
    """Where a job remembers its releases."""

    store: Annotated[Name, param("a file such as ward.db, or the address of a database", kind="file")]
    key: Annotated[Name, param("the file with the key, made if it is not there; keep it apart", kind="file")]
    population: Annotated[Name, param("whose data these are; others are not compared")] = "default"
    name: Annotated[Name | None, param("what the release is called; without it, the time")] = None
