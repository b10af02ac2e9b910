"""What a job file may say: every section and key, declared once.

From these declarations follow the check of a job file, its JSON Schema, the keys on its reference page and
the documents that a service takes (`service/documents.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from msgspec import UNSET, Meta, field

from tarnkappe.hierarchy import BUILDERS
from tarnkappe.hierarchy.builder import Builder
from tarnkappe.job.column_plan import ColumnPlan, Unnamed
from tarnkappe.job.default_coding import DEFAULT_LOSS, UNIFORM_SUPPRESSION
from tarnkappe.job.further_sensitive import FurtherSensitive
from tarnkappe.job.sources import InputSource, Memory, Output, Query
from tarnkappe.lattice import SEARCHES
from tarnkappe.lattice.section import AlgorithmSection, sections_of
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tarnkappe.recoding import BUCKETIZATIONS, METHODS, Aggregation, Suppression
from tarnkappe.recoding.perturbation import PERTURBATIONS, Perturbation
from tarnkappe.schema import (
    MOST_NAMES,
    Name,
    Number,
    Parameters,
    Problem,
    Share,
    Text,
    fields_of,
    near,
    param,
    rule,
)
from tarnkappe.table import Role
from tarnkappe.table.reading_settings import Short

MOST_LEVELS = 10_000
MOST_SECTIONS = 1_000

if TYPE_CHECKING:
    AnyBuilder = Builder
    AnyLoss = Loss
    AnyModel = Model
    AnyPerturbation = Perturbation
    LossName = str
else:
    AnyBuilder, AnyLoss, AnyModel = BUILDERS.union, LOSSES.union, MODELS.union
    AnyPerturbation, LossName = PERTURBATIONS.union, Literal[LOSSES.names]

Level = Annotated[int, Meta(ge=0, le=MOST_LEVELS)]


class JobInput(InputSource):
    """The rows to anonymize: `[input]`."""

    several_rows_per_person: Annotated[
        bool, param("whether rows with the same identifiers are taken, although promises count rows")
    ] = False
    where: Annotated[
        Query | None,
        param("which rows are taken: a condition in SQL on the cells of a row; all if not said"),
    ] = None

    @property
    def source(self) -> dict[str, Any]:
        """Where the rows come from."""
        return {each.name: getattr(self, each.name) for each in fields_of(InputSource)}


class ColumnSection(Parameters, kw_only=True):
    """What is done with one column: `[columns.NAME]`."""

    role: Annotated[Role, param("what the column is to an attacker; without one it is not released")] = (
        Role.UNSTATED
    )
    hierarchy: Annotated[
        Name | AnyBuilder | None,
        param(
            "how it generalizes: a hierarchy file, or a table with a builder; proposed if not said",
            kind="file",
            what="hierarchy builder",
            otherwise="auto",
        ),
    ] = None
    level: Annotated[Level | None, param("fixes the level of a quasi-identifier", unit="levels")] = None
    min_level: Annotated[Level | None, param("the least level that may be chosen", unit="levels")] = None
    max_level: Annotated[Level | None, param("the greatest level that may be chosen", unit="levels")] = None
    weight: Annotated[Number | None, param("how much the loss of the column counts; others count 1")] = None
    aggregate: Annotated[
        Aggregation | None, param("what the values of a class become instead of a label")
    ] = None
    suppressed: Annotated[bool, param("whether the column is suppressed altogether")] = False
    accept: Annotated[
        Annotated[Mapping[Name, Text], Meta(max_length=MOST_NAMES)] | None,
        param("which detectors of identifiers are wrong about the column, each with why"),
    ] = None
    replace: Annotated[
        Annotated[Mapping[Text, Text], Meta(max_length=MOST_NAMES)],
        param(
            "cells that are replaced before anything else, each by another; an empty text is a missing value"
        ),
    ] = field(default_factory=dict)
    type: Annotated[Short | None, param("what the cells are: text, number, code or date")] = None
    format: Annotated[Short | None, param("how dates are written, as strptime has it")] = None

    def rules(self) -> Iterator[Problem]:
        """Nothing is asked of a column that its role does not allow."""
        if self.format is not None and self.type not in (None, "date"):
            yield rule("job.format", "only dates have a format, not '{type}'", "format", type=self.type)
        yield from self.plan.problems()

    @property
    def plan(self) -> ColumnPlan:
        """The same without the type, which is the reader's business."""
        names = [each.name for each in dataclasses.fields(ColumnPlan)]
        return ColumnPlan(**{name: getattr(self, name) for name in names})

    @property
    def spelling(self) -> str | None:
        """How its cells are read, as `InputSource.types` says it."""
        if self.type is None and self.format is None:
            return None
        return self.type or "date" if self.format is None else f"date:{self.format}"


class SearchSection(AlgorithmSection, kw_only=True):
    """How a release is looked for: `[search]`. The parameters of the algorithm stand beside these."""

    loss: Annotated[
        LossName | AnyLoss | None,
        param(
            "what is minimized: a name, or a table with a name and parameters; entropy if not said",
            what="loss",
            otherwise="entropy",
        ),
    ] = None
    suppression_limit: Annotated[
        Share | None, param("the share of rows that may be suppressed; 0 if not said", kind="share")
    ] = None
    suppression: Annotated[Suppression, param("what becomes of suppressed rows")] = Suppression.RECORD
    local_recoding: Annotated[
        bool | Share,
        param("whether suppressed rows are searched again, or the share that a pass may leave to the next"),
    ] = False
    uniform: Annotated[bool, param("whether a column has one level in all rows")] = False
    weights: Annotated[
        Annotated[Mapping[Text, Number], Meta(max_length=MOST_NAMES)],
        param("how much the loss of each column counts"),
    ] = field(default_factory=dict)

    def rules(self) -> Iterator[Problem]:
        """The algorithm takes its parameters, and writes what is asked for."""
        if self.uniform and self.member.name not in SEARCHES:
            yield rule(
                "job.uniform",
                "it asks for one level in a column, which '{algorithm}' does not write: leave one out",
                "uniform",
                algorithm=self.member.name,
            )
        yield from super().rules()

    @property
    def chosen_loss(self) -> Loss:
        """The loss, with its parameters."""
        if isinstance(self.loss, Loss):
            return self.loss
        return LOSSES.create(self.loss or (DEFAULT_LOSS if self.uniform else "entropy"), {})

    @property
    def limit(self) -> float:
        """The share of rows that may be suppressed."""
        if self.suppression_limit is None:
            return UNIFORM_SUPPRESSION if self.uniform else 0.0
        return self.suppression_limit


SEARCH_SECTIONS = sections_of(SearchSection, (*SEARCHES, *METHODS, *BUCKETIZATIONS))
"""One for each search and method."""

if TYPE_CHECKING:
    AnySearch = SearchSection
else:
    AnySearch = Union[SEARCH_SECTIONS]  # noqa: UP007  as many as there are

Columns = Annotated[Mapping[Text, ColumnSection | Unnamed], Meta(max_length=MOST_NAMES)]


class JobSections(Parameters, kw_only=True):
    """What a job file and the document of a service have in common."""

    privacy: Annotated[
        tuple[AnyModel, ...],
        param("one [[privacy]] for each promise", what="privacy model", max_length=MOST_SECTIONS),
    ] = ()
    search: Annotated[AnySearch, param("how a release is looked for", what="algorithm", otherwise="auto")] = (
        SEARCH_SECTIONS[0]()
    )


class JobDocument(JobSections, kw_only=True):
    """A job file: all that one anonymization needs."""

    input: Annotated[JobInput, param("say what to anonymize")]
    population: Annotated[InputSource | None, param("everybody who could be in the table")] = None
    columns: Annotated[
        Columns,
        param("one [columns.NAME] for each column; `unnamed` says what becomes of the others"),
    ] = field(default_factory=dict)
    perturb: Annotated[
        tuple[AnyPerturbation, ...],
        param("one [[perturb]] for each perturbation", what="perturbation", max_length=MOST_SECTIONS),
    ] = ()
    further_sensitive: Annotated[
        FurtherSensitive | None, param("sensitive columns that the main one must not tell")
    ] = None
    history: Annotated[Memory | None, param("where the job remembers its releases")] = None
    output: Annotated[Output, param("where the release goes")] = Output()

    def rules(self) -> Iterator[Problem]:
        """Columns are sections, and what is weighed is a column."""
        yield from column_problems(self.columns, self.search.weights)


def column_problems(columns: Mapping[str, Any], weights: Mapping[str, float]) -> Iterator[Problem]:
    """What is wrong between the columns of a document."""
    for name, section in columns.items():
        if isinstance(section, Unnamed) and name != "unnamed":
            yield rule("job.column", "a column is a section with a role, not a text", "columns", name)
    for name, weight in weights.items():
        section = columns.get(name, UNSET)
        if not isinstance(section, ColumnSection):
            meant = near(name, list(columns))
            hint = f"did you mean '{meant[0]}'?" if meant else "name it under [columns], too"
            yield rule(
                "job.weighed-column", "there is no such column: {hint}", "search", "weights", name, hint=hint
            )
        elif section.weight not in (None, weight):
            yield rule(
                "job.weight-said-twice",
                "it has another weight under [columns]: leave one out",
                "search",
                "weights",
                name,
            )


def column_plans(columns: Mapping[str, ColumnSection | Unnamed]) -> dict[str, ColumnPlan]:
    """The columns of a document that are named."""
    return {name: each.plan for name, each in columns.items() if isinstance(each, ColumnSection)}
