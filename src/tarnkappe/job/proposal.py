"""A whole job for a table that nobody has described yet: what each column is, what is promised, and how.

`propose` decides what a person would have to decide, says why, and marks what is only a guess. Everything can
be corrected in one place: what is stated wins over what is found. The promise is never lowered by itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Builder, Hierarchy
from tarnkappe.job.column_plan import ColumnPlan, plan_columns
from tarnkappe.job.identifier_guard import refuse_identifiers, untouched
from tarnkappe.job.pipeline import protect_table
from tarnkappe.job.proposal_text import (
    fate,
    promise_text,
    proposal_html,
    proposal_text,
    write_job_file,
)
from tarnkappe.job.result import Result
from tarnkappe.job.search_plan import create_algorithm
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import KAnonymity, Model, MultiRelationalKAnonymity
from tarnkappe.report.verdict import LEAST_ALIKE
from tarnkappe.risk.identifiers import Certainty
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress

METHOD = "regions"
UNIFORM_SUPPRESSION = 0.05
"""One level for a whole column makes single rows expensive: so many of them may be left out then."""
LOSS = "loss"


class Audience(StrEnum):
    """Who gets a release."""

    INTERNAL = "internal"
    """Colleagues whose access is logged."""
    PARTNER = "partner"
    """A partner with an agreement."""
    PUBLIC = "public"
    """Everybody."""

    @classmethod
    def parse(cls, text: object) -> Audience:
        """The audience with this name."""
        try:
            return cls(text)  # type: ignore[arg-type]
        except (ValueError, TypeError, RecursionError):
            raise ParameterError(
                "job.release-choose", "a release is for {what}: choose one of them", what=", ".join(cls)
            ) from None

    @property
    def k(self) -> int:
        """How many rows look alike at least."""
        return LEAST_ALIKE[self]

    @property
    def values(self) -> int:
        """How many values of a sensitive column every group shows at least, if it has enough of them."""
        return 3 if self is Audience.PUBLIC else 2


COUNTING = (KAnonymity, MultiRelationalKAnonymity)
"""Models of k rows or persons."""


@dataclasses.dataclass(frozen=True)
class ColumnProposal:
    """What a column is to be.

    Attributes:
        name: the column.
        role: what it is to an attacker.
        reason: why, in words that quote no cell.
        certainty: how well founded that is; None where a person said it.
        builder: how a quasi-identifier is generalized.
    """

    name: str
    role: Role
    reason: str
    certainty: Certainty | None = None
    builder: Builder | None = None

    @property
    def is_guess(self) -> bool:
        """Whether somebody should look at it."""
        return self.certainty is Certainty.GUESS

    @property
    def is_left_out(self) -> bool:
        """Whether the release does not have it."""
        return self.role in (Role.IDENTIFIER, Role.UNSTATED)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "role": str(self.role),
            "reason": self.reason,
            "certainty": "stated" if self.certainty is None else str(self.certainty),
            **({} if self.builder is None else {"hierarchy": {**self.builder_plan}}),
        }

    @property
    def builder_plan(self) -> dict[str, Any]:
        """The hierarchy as a job file asks for it."""
        assert self.builder is not None
        return {"builder": self.builder.name, **self.builder.parameters}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ReleaseProposal:
    """A job for a table, decided column by column.

    Attributes:
        table: the rows, with the proposed roles.
        columns: what each column is to be, and why.
        audience: who gets the release.
        privacy: what is promised.
        method: how rows are written: a method or search.
        several_rows_per_person: whether a person has several rows.
        notes: what a reader should know beside the columns.
        said: what was stated, as arguments of `propose`.
        source: the file that the rows are from, if they are from one.
    """

    table: Table
    columns: tuple[ColumnProposal, ...]
    audience: Audience
    privacy: tuple[Model, ...]
    method: str
    several_rows_per_person: bool
    notes: tuple[str, ...]
    said: Mapping[str, Any]
    source: str | None = None

    @property
    def guesses(self) -> tuple[str, ...]:
        """The columns that somebody should look at."""
        return tuple(column.name for column in self.columns if column.is_guess)

    @property
    def k(self) -> int:
        """How many rows, or persons, share what others may know at least."""
        return min(model.k for model in self.privacy if isinstance(model, COUNTING))

    @property
    def suppression_limit(self) -> float:
        """The share of the rows that may be left out."""
        return 0.0 if self.method == METHOD else UNIFORM_SUPPRESSION

    def with_(self, **said: Any) -> ReleaseProposal:
        """The proposal with other statements, beside those that were made; see `propose`."""
        from tarnkappe.job.propose import STATEMENTS, propose  # which makes proposals

        unknown = [name for name in said if name not in STATEMENTS]
        if unknown:
            raise ParameterError(
                "job.proposal-no-takes",
                "a proposal has no '{unknown}': it takes {statements}",
                unknown=unknown[0],
                statements=", ".join(STATEMENTS),
            )
        told = {name: value for name, value in self.said.items() if name in STATEMENTS}
        table = Table(self.table.data, self.said["roles"], self.table.reading, self.table.frame)
        again = propose(table, **{**told, **said})
        return dataclasses.replace(
            again, source=self.source, said={**again.said, "reading": self.said["reading"]}
        )

    def anonymize(
        self, *, seconds: float | None = None, seed: int | None = None, progress: Progress | None = None
    ) -> Result:
        """A verified release, as it is proposed.

        Args:
            seconds: when to stop with the classes made so far; without it, never.
            seed: for tests: makes the order of the rows reproducible.
            progress: told about the progress of long work.
        """
        plans = self.plans
        accepted = {name: plan.accept for name, plan in plans.items() if plan.accept}
        refuse_identifiers(self.table, untouched(self.table, plans), accepted, progress)
        return protect_table(
            self.table,
            plans,
            self.privacy,
            LOSSES.create(LOSS, {}),
            create_algorithm(self.method, {} if seconds is None else {"seconds": seconds}),
            suppression_limit=self.suppression_limit,
            several_rows_per_person=self.several_rows_per_person,
            seed=seed,
            progress=progress,
        )

    @property
    def hierarchies(self) -> dict[str, Hierarchy | str | Mapping[str, Any]]:
        """How each quasi-identifier is generalized: as stated, or as proposed."""
        built = {column.name: column.builder_plan for column in self.columns if column.builder is not None}
        return {**built, **(self.said.get("hierarchies") or {})}

    @property
    def plans(self) -> dict[str, ColumnPlan]:
        """What is done with each column."""
        built = {column.name: column.builder_plan for column in self.columns if column.builder is not None}
        given: Mapping[str, Hierarchy | str | Mapping[str, Any]] = self.said.get("hierarchies") or {}
        plans = plan_columns(
            self.table,
            {**built, **given},
            {},
            weights=self.said.get("weights"),
            accept=self.said.get("accept"),
        )
        return {name: plans.get(name, ColumnPlan(role)) for name, role in self.table.roles.items()}

    def to_content(self) -> dict[str, Any]:
        """The job as the content of a job file, without where it reads and writes."""
        columns: dict[str, Any] = {}
        weights, accept = self.said.get("weights") or {}, self.said.get("accept") or {}
        given = self.said.get("hierarchies") or {}
        for column in self.columns:
            plan: dict[str, Any] = {"role": str(column.role)}
            if column.builder is not None:
                plan["hierarchy"] = given.get(column.name, column.builder_plan)
            if column.name in weights:
                plan["weight"] = weights[column.name]
            if column.name in accept:
                kinds = accept[column.name]
                named = (kinds,) if isinstance(kinds, str) else kinds
                plan["accept"] = dict.fromkeys(named, "accepted when it was proposed")
            columns[column.name] = plan
        return {
            "columns": columns,
            "privacy": [{"model": model.name, **model.parameters} for model in self.privacy],
            "search": {
                "algorithm": self.method,
                "loss": LOSS,
                **({"suppression_limit": self.suppression_limit} if self.suppression_limit else {}),
            },
        }

    def to_job(self, path: str | Path) -> Path:
        """Write the job file that makes this release: every decision with its reason, to be changed by hand.

        Raises:
            ParameterError: if the rows are not from a file, or the job file would replace a file that is not
                such a job file.
        """
        return write_job_file(self, Path(path))

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON; no cell is in it."""
        reading = self.table.reading
        return {
            "rows": self.table.num_rows,
            "reading": None if reading is None else reading.to_dict(),
            "for": str(self.audience),
            "columns": {
                column.name: {**column.to_dict(), "becomes": fate(self, column)} for column in self.columns
            },
            "privacy": [{"model": model.name, **model.parameters} for model in self.privacy],
            "promise": promise_text(self),
            "method": self.method,
            "several_rows_per_person": self.several_rows_per_person,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return proposal_text(self)

    def __repr__(self) -> str:
        lines = str(self).splitlines()
        return "\n".join(lines if len(lines) <= 12 else [*lines[:11], f"... {len(lines) - 11} more lines"])

    def _repr_html_(self) -> str:
        return proposal_html(self)
