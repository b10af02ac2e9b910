"""Catalog files: what queries need to know of relations and columns, in TOML.

Columns have the same sections as in a job file, with `noise` beside. Everything is checked before any work;
paths are relative to the catalog file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, field

from tarnkappe.algebra.catalog import LEAST_BUCKET
from tarnkappe.algebra.declarations import Declarations, StatedCatalog
from tarnkappe.algebra.noise_plan import read_noise
from tarnkappe.algebra.person_paths import PersonPath
from tarnkappe.errors import TarnkappeError
from tarnkappe.job.document import ColumnSection
from tarnkappe.job.sources import InputSource
from tarnkappe.schema import (
    MANY_ROWS,
    MOST_NAMES,
    InvalidError,
    Name,
    Number,
    Parameters,
    Problem,
    Rows,
    Text,
    TextBesideMany,
    Whole,
    fields_of,
    param,
    rule,
)
from tarnkappe.schema.documents import parse, refused
from tarnkappe.schema.written import read_toml
from tarnkappe.table.reading_settings import ReadingSettings

MOST_KEYS = 1_000

ColumnNames = Annotated[tuple[Name, ...], Meta(max_length=MOST_NAMES)]
Others = Annotated[Mapping[Name, ColumnNames], Meta(max_length=MOST_NAMES)]
Probability = Number | Text


class PersonSection(Parameters, kw_only=True):
    """How the person of a row is found: in a column, or through a foreign key."""

    space: Annotated[Text, param("which kind of people these are; tables of one space have one budget")] = ""
    column: Annotated[Text, param("the column that tells people apart", kind="column")] = ""
    through: Annotated[Text, param("the column that leads to another relation", kind="column")] = ""
    to: Annotated[Text, param("the other relation, whose rows have a person")] = ""


class RelationSection(ReadingSettings, kw_only=True):
    """One relation: `[relations.NAME]`."""

    path: Annotated[Name | None, param("the file with its rows", kind="file")] = None
    database: Annotated[Name | None, param("the address of a database, instead of a file")] = None
    table: Annotated[Name | None, param("the table of the database")] = None
    columns: Annotated[
        ColumnNames | None, param("its columns, where plans are made without rows", kind="columns")
    ] = None
    keys: Annotated[
        Annotated[tuple[ColumnNames, ...], Meta(max_length=MOST_KEYS)] | None,
        param('lists of columns that tell rows apart, as [["id"]]'),
    ] = None
    not_null: Annotated[ColumnNames | None, param("columns in which nothing is missing")] = None
    person: Annotated[
        Name | PersonSection | None, param("the column that tells people apart, or how people are found")
    ] = None
    rows_per_person: Annotated[Rows | None, param("the most rows that one person has", unit="rows")] = None
    public: Annotated[bool, param("whether it is about nobody, so that everybody may see it")] = False
    least_rows: Annotated[
        Whole | None, param("how many rows it has at least, whatever is asked", unit="rows")
    ] = None
    within: Annotated[Others, param("relations that have all its values in these columns")] = field(
        default_factory=dict
    )
    ordered_like: Annotated[Others, param("relations that order these columns in the same way")] = field(
        default_factory=dict
    )

    def rules(self) -> Iterator[Problem]:
        """It has rows, or columns alone."""
        location = self.location
        if bool(location) == (self.columns is not None):
            yield rule(
                "catalog.rows-or-columns",
                "it needs either its rows (path, or database and table) or its columns alone",
            )
        elif location:
            try:
                InputSource(**location)
            except InvalidError as error:
                yield from error.problems
        if self.rows_per_person is not None and self.person is None:
            yield rule(
                "catalog.rows-per-person", "it needs `person`, which tells people apart", "rows_per_person"
            )
        try:
            self.person_path  # noqa: B018  it is made, or says why not
        except TarnkappeError as error:
            yield refused(error.reason, "person")

    @property
    def location(self) -> dict[str, Any]:
        """Where its rows are, and how they are written."""
        given = {"path": self.path, "database": self.database, "table": self.table}
        return {key: value for key, value in given.items() if value is not None} | self.stated

    @property
    def person_path(self) -> PersonPath | None:
        """How the person of a row is found, if that is said."""
        if self.person is None:
            return None
        said = PersonSection(column=self.person) if isinstance(self.person, str) else self.person
        given = {each.name: getattr(said, each.name) for each in fields_of(PersonSection)}
        return PersonPath(**given, rows=self.rows_per_person or 1)


class CatalogColumn(ColumnSection, kw_only=True):
    """One column of a catalog: as in a job file, and how its cells are randomized."""

    noise: Annotated[
        TextBesideMany | Annotated[Mapping[Text, Probability], Meta(max_length=MOST_NAMES)] | None,
        param('a file, "uniform", "neighbours", or a table of values with their probabilities'),
    ] = None


class SlicingSection(Parameters):
    """How tables are sliced: `[slicing]`."""

    bucket: Annotated[
        int, param("the least number of rows in a bucket", ge=LEAST_BUCKET, le=MANY_ROWS, unit="rows")
    ] = LEAST_BUCKET


class CatalogDocument(Parameters, kw_only=True):
    """A catalog file: what queries need to know."""

    relations: Annotated[
        Annotated[Mapping[Text, RelationSection], Meta(max_length=MOST_NAMES)],
        param("one [relations.NAME] for each relation"),
    ] = field(default_factory=dict)
    columns: Annotated[
        Annotated[Mapping[Text, CatalogColumn], Meta(max_length=MOST_NAMES)],
        param("one [columns.NAME] for each column of which something is said"),
    ] = field(default_factory=dict)
    slicing: Annotated[SlicingSection, param("how tables are sliced")] = SlicingSection()


@dataclasses.dataclass(frozen=True)
class CatalogFile(StatedCatalog):
    """What a catalog file says; its sources are those of a job file."""

    @classmethod
    def load(cls, path: str | Path) -> CatalogFile:
        """Read a catalog file."""
        return cls.from_dict(read_toml(path, "catalog file"), Path(path).parent, name=str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path(), *, name: str = "") -> CatalogFile:
        """The content of a catalog file; relative paths start at the folder."""
        said = parse(CatalogDocument, content, folder, name=name)
        relations, columns = said.relations, said.columns
        plans = {column: section.plan for column, section in columns.items()}
        noise = {}
        for column, section in columns.items():
            if section.noise is not None:
                try:
                    noise[column] = read_noise(column, section.noise, folder)
                except TarnkappeError as error:
                    raise (error.within(name) if name else error) from None
        return cls(
            {n: InputSource(**each.location) for n, each in relations.items() if each.columns is None},
            {n: tuple(each.columns) for n, each in relations.items() if each.columns is not None},
            Declarations(
                hierarchies={n: plan.hierarchy for n, plan in plans.items() if plan.hierarchy is not None},
                noise=noise,
                bucket=said.slicing.bucket,
                roles={n: plan.role for n, plan in plans.items()},
                keys={
                    n: [frozenset(key) for key in each.keys]
                    for n, each in relations.items()
                    if each.keys is not None
                },
                not_null={
                    n: frozenset(each.not_null) for n, each in relations.items() if each.not_null is not None
                },
                inclusions=[
                    (n, other, frozenset(shared))
                    for n, each in relations.items()
                    for other, shared in each.within.items()
                ],
                orders=[
                    (frozenset({n, other}), frozenset(shared))
                    for n, each in relations.items()
                    for other, shared in each.ordered_like.items()
                ],
                persons={n: path for n, each in relations.items() if (path := each.person_path) is not None},
                public=frozenset(n for n, each in relations.items() if each.public),
                least_rows={
                    n: each.least_rows for n, each in relations.items() if each.least_rows is not None
                },
            ),
        )
