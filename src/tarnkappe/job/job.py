"""Job files: everything that one anonymization needs, in TOML.

A job is checked whole before any work: unknown sections and keys, unknown models and losses, columns
without a hierarchy. Paths are relative to the job file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.job.cleansing import cleansed
from tarnkappe.job.column_plan import ColumnPlan, Unnamed
from tarnkappe.job.document import ColumnSection, JobDocument, column_plans
from tarnkappe.job.further_sensitive import FurtherSensitive
from tarnkappe.job.search_plan import Algorithm
from tarnkappe.job.sources import InputSource, Memory, Output
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model
from tarnkappe.recoding import Suppression
from tarnkappe.recoding.perturbation import Perturbation
from tarnkappe.schema.arguments import checked
from tarnkappe.schema.documents import parse
from tarnkappe.schema.written import read_toml
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.address import local_file


@checked
@dataclasses.dataclass(frozen=True)
class Job:
    """One anonymization: what to read, what to promise, what to minimize, where to write."""

    input: InputSource
    columns: Mapping[str, ColumnPlan] = dataclasses.field(hash=False)
    privacy: tuple[Model, ...]
    loss: Loss
    search: Algorithm
    suppression_limit: float = 0.0
    suppression: Suppression = Suppression.RECORD
    local_recoding: bool | float = False
    population: InputSource | None = None
    several_rows_per_person: bool = False
    history: Memory | None = None
    output: Output = dataclasses.field(default_factory=Output)
    unnamed: Unnamed = Unnamed.WITHHOLD
    perturb: tuple[Perturbation, ...] = ()
    further_sensitive: FurtherSensitive | None = None
    where: str | None = None
    replacements: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict, hash=False)
    file: str | None = None

    @classmethod
    def load(cls, path: str | Path) -> Job:
        """Read a job file."""
        return cls.from_dict(read_job_file(path), Path(path).parent, name=str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path = Path(), *, name: str | None = None) -> Job:
        """A job from the content of a job file; relative paths start at the folder.

        They are shown, and written into manifests that are delivered, as people wrote them: a relative folder
        leaves them relative.
        """
        return cls.of(parse(JobDocument, content, folder, name=name or ""), name=name)

    @classmethod
    def of(cls, said: JobDocument, *, name: str | None = None) -> Job:
        """The job that a document asks for."""
        plans = column_plans(said.columns)
        for column, weight in said.search.weights.items():
            plans[column] = dataclasses.replace(plans[column], weight=weight)
        spelled = {
            column: section.spelling
            for column, section in said.columns.items()
            if isinstance(section, ColumnSection) and section.spelling is not None
        }
        unnamed = said.columns.get("unnamed")
        return cls(
            input=InputSource(**said.input.source | ({"types": spelled} if spelled else {})),
            population=said.population,
            columns=plans,
            unnamed=unnamed if isinstance(unnamed, Unnamed) else Unnamed.WITHHOLD,
            privacy=tuple(said.privacy),
            loss=said.search.chosen_loss,
            search=said.search.algorithm,
            suppression_limit=said.search.limit,
            suppression=said.search.suppression,
            local_recoding=said.search.local_recoding,
            several_rows_per_person=said.input.several_rows_per_person,
            history=said.history,
            perturb=tuple(said.perturb),
            further_sensitive=said.further_sensitive,
            where=said.input.where,
            replacements={
                column: section.replace
                for column, section in said.columns.items()
                if isinstance(section, ColumnSection) and section.replace
            },
            output=said.output,
            file=name,
        )

    def read_input(self, progress: Progress | None = None) -> Table:
        """The rows to anonymize, with the roles of their columns."""
        return self.with_roles(self.cleansed(self.input.read(progress), progress))

    def cleansed(self, table: Table, progress: Progress | None = None) -> Table:
        """The rows of a table that this job takes, with the cells that it replaces."""
        return cleansed(table, self.replacements, self.where, progress)

    def with_roles(self, table: Table) -> Table:
        """A table with the roles of this job."""
        return self.unnamed.apply(table.with_roles({n: plan.role for n, plan in self.columns.items()}))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files that a run reads or keeps: none of them may be an output."""
        named = [self.file, *self.input.files, *(self.population.files if self.population else ())]
        named += [plan.hierarchy for plan in self.columns.values() if isinstance(plan.hierarchy, str)]
        if self.history is not None:
            named += [self.history.store, self.history.key]
        return tuple(path for name in named if name and (path := local_file(name)))

    @property
    def accepted(self) -> dict[str, dict[str, str]]:
        """The columns that are released although detectors take them for identifiers: which, and why."""
        return {name: dict(plan.accept) for name, plan in self.columns.items() if plan.accept}

    @property
    def needs_rows(self) -> bool:
        """Whether it asks for more than one node for all rows."""
        treated = any(plan.aggregate is not None or plan.suppressed for plan in self.columns.values())
        return bool(treated or self.local_recoding or self.suppression is not Suppression.RECORD)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns to generalize."""
        return tuple(n for n, plan in self.columns.items() if plan.role is Role.QUASI_IDENTIFIER)


def read_job_file(path: str | Path) -> dict[str, Any]:
    """The content of a job file, not yet understood."""
    return read_toml(path, "job file")
