"""What a client may ask of each kind of job: job files in which tables and hierarchies are named, not opened.

The sections are those of a job file; only where rows, hierarchies and files come from is said otherwise, by
the ids of what is in the house. From these declarations follow the check of a request and its schema in the
OpenAPI document.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from msgspec import Meta, field

from tarnkappe.algebra.optimizer import RewriteMode
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.hierarchy.builder import Builder
from tarnkappe.job.catalog_file import ColumnNames, Others, Probability, SlicingSection
from tarnkappe.job.column_plan import ColumnPlan, Unnamed
from tarnkappe.job.document import MOST_SECTIONS, AnyModel, ColumnSection, JobSections, column_problems
from tarnkappe.job.proposal import Audience
from tarnkappe.lattice.section import AlgorithmSection, sections_of
from tarnkappe.risk import ATTACKS, MEASURES
from tarnkappe.risk.background_files import AnswerSection, RuleSection
from tarnkappe.schema import (
    MOST_NAMES,
    NO_NUL,
    Name,
    Number,
    Parameters,
    Problem,
    Rows,
    Text,
    Whole,
    param,
    rule,
)
from tarnkappe.table import Role
from tarnkappe.table.reading_settings import ReadingSettings, Short

Id = Annotated[str, Meta(min_length=1, max_length=200, pattern=NO_NUL)]
SqlText = Annotated[str, Meta(min_length=1, max_length=100_000, pattern=NO_NUL)]
NamedTexts = Annotated[Mapping[Name, Text], Meta(max_length=MOST_NAMES)]


class RestSource(ReadingSettings, kw_only=True):
    """A table of the house: an upload, the result of a job, or a table of a named database."""

    file: Annotated[Id | None, param("the id of an upload")] = None
    job: Annotated[Id | None, param("the id of a job, for what it has made")] = None
    database: Annotated[Name | None, param("the name of a database in the settings of the service")] = None
    table: Annotated[Name | None, param("the table of the database")] = None
    what: Annotated[Short | None, param("which result of the job; its release if not said")] = None
    types: Annotated[
        Annotated[Mapping[Name, Short], Meta(max_length=MOST_NAMES)] | None,
        param("what columns hold: text, number or date; found if not said"),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """It names one table."""
        given = [name for name in ("file", "job", "database") if getattr(self, name) is not None]
        if len(given) != 1:
            yield rule(
                "rest.source",
                'it names one table: {{"file": ID}}, {{"job": ID}} or {{"database": NAME, ...}}',
            )
        elif given == ["database"] and self.table is None:
            yield Problem("schema.missing-key", ("table",), {"hint": "the table of the database"})


class RestInput(RestSource, kw_only=True):
    """The rows of a job: `input`."""

    several_rows_per_person: Annotated[
        bool, param("whether rows with the same identifiers are taken, although promises count rows")
    ] = False
    engine: Annotated[Literal["memory", "duckdb"], param("what counts, releases and verifies")] = "memory"
    memory_limit: Annotated[Short | None, param("how much memory duckdb may take, such as 4GB")] = None


class RestPeople(RestSource, kw_only=True):
    """People of whom an attacker knows something: `people`."""

    names: Annotated[
        Annotated[tuple[Name, ...], Meta(max_length=MOST_NAMES)] | None,
        param("the columns that name them; the first that the release lacks if not said", kind="columns"),
    ] = None


class StoredHierarchy(Parameters, tag_field="builder", kw_only=True):
    """A hierarchy of the house: an upload, or what a job has built."""

    name: ClassVar[str] = "(stored)"
    told_by: ClassVar[tuple[str, ...]] = ("file", "job")

    file: Annotated[Id | None, param("the id of an upload")] = None
    job: Annotated[Id | None, param("the id of a job that built it")] = None

    def rules(self) -> Iterator[Problem]:
        """It names one."""
        if (self.file is None) == (self.job is None):
            yield rule("rest.hierarchy", 'it is {{"file": ID}} or {{"job": ID}}')


if TYPE_CHECKING:
    RestHierarchy = Builder | StoredHierarchy
else:
    RestHierarchy = Union[(*BUILDERS, StoredHierarchy)]


def _hierarchy(text: str) -> Any:
    return param(text, what="hierarchy builder", otherwise="auto")


class RestColumn(ColumnSection, kw_only=True):
    """What is done with one column; its hierarchy is built, or in the house."""

    hierarchy: Annotated[
        RestHierarchy | None, _hierarchy("how it generalizes: a builder, or the id of a hierarchy")
    ] = None  # type: ignore[assignment]

    @property
    def plan(self) -> ColumnPlan:
        """The same without the hierarchy, which is looked up first."""
        names = [each.name for each in dataclasses.fields(ColumnPlan) if each.name != "hierarchy"]
        return ColumnPlan(**{name: getattr(self, name) for name in names})


RestColumns = Annotated[Mapping[Text, RestColumn | Unnamed], Meta(max_length=MOST_NAMES)]


class RestOutput(Parameters, kw_only=True):
    """How the release is written: `output`."""

    shuffle: Annotated[bool, param("whether the rows get a random order, which links no releases")] = True
    excel: Annotated[bool, param("whether a CSV file is written so that Excel opens it")] = False


class RestJob(JobSections, kw_only=True):
    """A job file whose tables are in the house."""

    input: Annotated[RestInput, param("which table")]
    population: Annotated[RestSource | None, param("everybody who could be in the table")] = None
    columns: Annotated[RestColumns, param("what each column is, by its name")] = field(default_factory=dict)
    output: Annotated[RestOutput, param("how the release is written")] = RestOutput()

    def rules(self) -> Iterator[Problem]:
        """Columns are sections, and what is weighed is a column."""
        yield from column_problems(self.columns, self.search.weights)


class CompareSection(Parameters, kw_only=True):
    """What is compared: `compare`."""

    methods: Annotated[tuple[Name, ...], param("the methods; the usual ones if none", max_length=100)] = ()
    queries: Annotated[int, param("how many random queries are asked", ge=1, le=1_000_000)] = 500
    selectivity: Annotated[
        Annotated[int, Meta(gt=0, le=1)] | Annotated[float, Meta(gt=0, le=1)],
        param("the share of rows that a query is about", kind="share"),
    ] = 0.05
    seed: Annotated[Whole, param("which random queries")] = 0
    target: Annotated[Name | None, param("a column that a classifier predicts", kind="column")] = None


class RestCompare(RestJob, kw_only=True):
    """Several methods side by side."""

    compare: Annotated[CompareSection, param("what is compared")] = CompareSection()


class RestUtility(RestJob, kw_only=True):
    """A release, and the job that made it."""

    release: Annotated[RestSource, param("the release, an upload or the result of a job")]


class RestKnowledge(Parameters, kw_only=True):
    """What an attacker knows."""

    people: Annotated[RestPeople | None, param("people of whom something is known")] = None
    earlier: Annotated[tuple[RestSource, ...], param("earlier releases", max_length=MOST_SECTIONS)] = ()
    exclusions: Annotated[
        tuple[RuleSection, ...], param("values that are excluded", max_length=MOST_SECTIONS)
    ] = field(default=(), name="rules")
    answers: Annotated[tuple[AnswerSection, ...], param("published answers", max_length=MOST_SECTIONS)] = ()
    sensitive_table: Annotated[RestSource | None, param("the second table of a bucketization")] = None
    minimal_for: Annotated[
        AnyModel | None, param("the promise for which the release is minimal", what="privacy model")
    ] = None


class MeasureSection(AlgorithmSection, tag_field="name", kw_only=True):
    """A risk measure with its parameters."""


class AttackSection(AlgorithmSection, tag_field="name", kw_only=True):
    """An attack with its parameters: `attack`."""

    limit: Annotated[int, param("victims that are listed; 0 for all", ge=0, le=1_000_000_000)] = 20
    repair: Annotated[bool, param("whether repairs are proposed")] = False

    def rules(self) -> Iterator[Problem]:
        """What is left out here, such as the column, is tried out one by one."""
        return iter(())


MEASURE_SECTIONS = sections_of(MeasureSection, MEASURES)
ATTACK_SECTIONS = sections_of(AttackSection, ATTACKS, optional=True)

if TYPE_CHECKING:
    AnyMeasure = MeasureSection
    AnyAttack = AttackSection
else:
    AnyMeasure, AnyAttack = Union[MEASURE_SECTIONS], Union[ATTACK_SECTIONS]  # noqa: UP007


class CheckSection(Parameters, kw_only=True):
    """What is looked at: `check`."""

    measures: Annotated[
        tuple[AnyMeasure, ...],
        param("further risk measures", what="risk measure", max_length=MOST_SECTIONS),
    ] = ()
    safe_harbor: Annotated[bool, param("whether identifiers of the safe harbor rule are looked for")] = False
    worst: Annotated[int, param("classes that are shown", ge=0, le=1_000_000)] = 5


class RestCheck(RestKnowledge, kw_only=True):
    """A table whose guarantees are asked for."""

    input: Annotated[RestInput, param("which table")]
    population: Annotated[RestSource | None, param("everybody who could be in the table")] = None
    columns: Annotated[RestColumns, param("what each column is, by its name")] = field(default_factory=dict)
    privacy: Annotated[
        tuple[AnyModel, ...],
        param("the promises that are looked at", what="privacy model", max_length=MOST_SECTIONS),
    ] = ()
    check: Annotated[CheckSection, param("what is looked at")] = CheckSection()


class RestAttack(RestKnowledge, kw_only=True):
    """A release and an attack on it."""

    attack: Annotated[AnyAttack, param("which attack", what="attack")]
    input: Annotated[RestInput | None, param("the release")] = None
    columns: Annotated[RestColumns, param("what each column is, by its name")] = field(default_factory=dict)


class RestRelation(RestSource, kw_only=True):
    """A relation of a query."""

    keys: Annotated[
        Annotated[tuple[ColumnNames, ...], Meta(max_length=MOST_SECTIONS)] | None,
        param('lists of columns that tell rows apart, as [["id"]]'),
    ] = None
    least_rows: Annotated[Whole | None, param("how many rows it has at least", unit="rows")] = None
    within: Annotated[Others | None, param("relations that have all its values in these columns")] = None
    ordered_like: Annotated[Others | None, param("relations that order these columns alike")] = None


class RestQueryColumn(RestColumn, kw_only=True):
    """One column of a query, and how its cells are randomized."""

    noise: Annotated[
        Annotated[Mapping[Text, Probability], Meta(max_length=MOST_NAMES)] | None,
        param("values with their probabilities"),
    ] = None


class SqlSection(Parameters, kw_only=True):
    """How a query is rewritten: `sql`."""

    mode: Annotated[RewriteMode, param("which rewrites may be made")] = RewriteMode.STRICT
    rules_allowed: Annotated[
        Annotated[tuple[Name, ...], Meta(max_length=MOST_NAMES)] | None, param("the rules that may be used")
    ] = field(default=None, name="rules")
    explain: Annotated[bool, param("whether the rewriting is told")] = False


class RestSql(Parameters, kw_only=True):
    """A query with anonymization inside."""

    query: Annotated[SqlText, param("SQL over the relations")]
    relations: Annotated[
        Annotated[Mapping[Name, RestRelation], Meta(max_length=MOST_NAMES)],
        param("the tables, by the names that the query has for them"),
    ] = field(default_factory=dict)
    columns: Annotated[
        Annotated[Mapping[Text, RestQueryColumn], Meta(max_length=MOST_NAMES)],
        param("what each column is, by its name"),
    ] = field(default_factory=dict)
    slicing: Annotated[SlicingSection, param("how tables are sliced")] = SlicingSection()
    sql: Annotated[SqlSection, param("how the query is rewritten")] = SqlSection()


class RestProfile(Parameters, kw_only=True):
    """A table to be looked at."""

    input: Annotated[RestInput, param("which table")]


class ProposalSection(Parameters, kw_only=True):
    """What somebody knows better than it can be found: `proposal`."""

    audience: Annotated[Audience, param("who gets the release")] = field(default=Audience.PARTNER, name="for")
    k: Annotated[Rows | None, param("rows that look alike at least", unit="rows")] = None
    identifiers: Annotated[ColumnNames, param("columns that name people", kind="columns")] = ()
    quasi_identifiers: Annotated[ColumnNames, param("columns that others know", kind="columns")] = ()
    sensitive: Annotated[ColumnNames, param("columns that nobody may learn", kind="columns")] = ()
    publish: Annotated[ColumnNames, param("columns that are released as they are", kind="columns")] = ()
    hierarchies: Annotated[
        Annotated[Mapping[Name, RestHierarchy], Meta(max_length=MOST_NAMES)],
        _hierarchy("how columns generalize"),
    ] = field(default_factory=dict)
    weights: Annotated[
        Annotated[Mapping[Name, Number], Meta(max_length=MOST_NAMES)],
        param("how much the loss of each column counts"),
    ] = field(default_factory=dict)
    accept: Annotated[
        Annotated[Mapping[Name, ColumnNames], Meta(max_length=MOST_NAMES)],
        param("detectors that are wrong about a column"),
    ] = field(default_factory=dict)
    uniform: Annotated[bool, param("whether a column has one level in all rows")] = False


class RestPropose(Parameters, kw_only=True):
    """A table that nobody has described."""

    input: Annotated[RestInput, param("which table")]
    proposal: Annotated[ProposalSection, param("what is known better")] = ProposalSection()


class RestHierarchyPreview(Parameters, kw_only=True):
    """A column and how it should generalize."""

    input: Annotated[RestInput, param("which table")]
    column: Annotated[Name, param("which column", kind="column")]
    hierarchy: Annotated[RestHierarchy | None, _hierarchy("a builder; proposed if not said")] = None


class RestGate(Parameters, kw_only=True):
    """A gate of the service."""

    gate: Annotated[Name, param("its name in the settings of the service")]


class RestRequestCheck(Parameters, kw_only=True):
    """A request that a site of the exchange got."""

    site: Annotated[Name, param("the name of the site in the settings of the service")]
    request: Annotated[Id, param("the digest of the request")]
    roles: Annotated[
        Annotated[Mapping[Name, Role], Meta(max_length=MOST_NAMES)], param("another class for an attribute")
    ] = field(default_factory=dict)
    reasons: Annotated[NamedTexts, param("why, where that protects less")] = field(default_factory=dict)
    expert: Annotated[
        Annotated[Mapping[Name, Any], Meta(max_length=100)] | None, param("the finding of an expert")
    ] = None


class RestFederate(Parameters, kw_only=True):
    """A federation to be run."""

    federation: Annotated[Name, param("its name in the settings of the service")]
    run: Annotated[
        Annotated[str, Meta(min_length=1, max_length=64, pattern=NO_NUL)] | None,
        param("a name that no other run has"),
    ] = None
