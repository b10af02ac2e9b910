"""What an anonymization returns: the release and everything that is known about it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_outcomes import ColumnOutcomes, column_outcomes
from tarnkappe.job.column_plan import ColumnPlan
from tarnkappe.job.default_coding import OVERLAPPING
from tarnkappe.job.further_sensitive import FurtherSensitive
from tarnkappe.job.release import Rows
from tarnkappe.job.search_plan import Algorithm
from tarnkappe.lattice import LatticeView, SearchProblem, Solution, choose, explore
from tarnkappe.lattice.explore import LevelsOf
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model
from tarnkappe.privacy.verify import Verification
from tarnkappe.recoding import Aggregates, CellTreatment, Pass, Recoding
from tarnkappe.recoding.perturbation import Perturbed
from tarnkappe.recoding.written import LEFT_OUT, Parts
from tarnkappe.risk import AttackResult, Continuation
from tarnkappe.table import ClassState, Table, write
from tarnkappe.table.encoding import Progress
from tarnkappe.table.frames import (
    Library,
    as_arrow,
    as_frame,
    as_pandas,
    as_polars,
    ordered_labels,
    text_columns,
)
from tarnkappe.utility import UtilityOptions, UtilityReport, Workload
from tarnkappe.utility.columns import ColumnOutcome


@dataclasses.dataclass(frozen=True, eq=False)
class ProtectionRequest:
    """What was asked for: enough to protect other rows of the same columns in the same way.

    Attributes:
        plans: what is done with each column.
        models: what is promised.
        loss: what is minimized.
        search: the search or the method.
        settings: everything else that `protect_table` takes.
    """

    plans: Mapping[str, ColumnPlan]
    models: Sequence[Model]
    loss: Loss
    search: Algorithm
    settings: Mapping[str, Any]


class Prepared(Protocol):
    """A table made ready for releases of any node."""

    @property
    def problem(self) -> SearchProblem:
        """What is to be solved."""

    def release(self, solution: Solution) -> Result:
        """A verified release of the best node of a solution."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A verified release.

    Attributes:
        input: the table as it was read.
        release: the rows that may leave the house.
        problem: what was solved.
        solution: what the search found.
        state: the classes of the release.
        hierarchies: how each column was generalized.
        population: the population, generalized as the release, if there is one.
        withheld: columns that models judge but that are not released (who a row is about), row by row.
        seconds: how long each stage took.
        passes: what was done to which rows; more than one pass only in a local recoding, none where a method
            wrote each row in its own way.
        recoding: what a publishing method found, if one was asked for.
        source_rows: the row of the input that each row of the release was made from. It never leaves the
            house: it undoes the random order.
        pass_of_row: the pass that kept each row of the release; rows with '*' were kept by none.
        treatment: what was done to quasi-identifiers beside generalizing them.
        aggregates: what became of aggregated columns.
        verified: what the independent path found for each model.
        attacks: the attacks that were tried on the release, and what they got.
        continuation: what all releases that are remembered leave everybody, if the job remembers.
        output: where the release was written.
        further: the sensitive columns of which cells are suppressed, if there are any.
        perturbed: what was done to values before anything was promised.
        respelled: the sensitive columns in which values were written in several ways, and how many are gone.
        prepared: what it was made from, and other releases can be.
        request: what was asked for, if the whole table was protected in memory.
    """

    input: Table
    release: Table
    problem: SearchProblem
    solution: Solution
    state: ClassState
    hierarchies: Mapping[str, Hierarchy]
    population: Table | None
    withheld: pa.Table
    seconds: Mapping[str, float]
    passes: tuple[Pass, ...] = ()
    recoding: Recoding | None = None
    source_rows: Rows = dataclasses.field(default_factory=lambda: np.zeros(0, np.int64))
    pass_of_row: Parts = dataclasses.field(default_factory=lambda: np.zeros(0, np.int32))
    treatment: CellTreatment = dataclasses.field(default_factory=CellTreatment)
    aggregates: Mapping[str, Aggregates] = dataclasses.field(default_factory=dict)
    verified: tuple[Verification, ...] = ()
    attacks: tuple[AttackResult, ...] = ()
    continuation: Continuation | None = None
    output: str | None = None
    perturbed: tuple[Perturbed, ...] = ()
    further: FurtherSensitive | None = None
    respelled: Mapping[str, int] = dataclasses.field(default_factory=dict)
    prepared: Prepared | None = dataclasses.field(default=None, repr=False)
    request: ProtectionRequest | None = dataclasses.field(default=None, repr=False)

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier; in a local recoding, that of the first pass.

        Empty where a method wrote each row in its own way.
        """
        assert self.solution.best is not None
        if not self.solution.best.node:
            return {}
        return dict(zip(self.problem.quasi_identifiers, self.solution.best.node, strict=True))

    @property
    def loss(self) -> float:
        """The loss of the release."""
        assert self.solution.best is not None
        return self.solution.best.loss

    @property
    def generalizes(self) -> bool:
        """Whether quasi-identifiers are changed at all."""
        return True

    @property
    def columns(self) -> ColumnOutcomes:
        """What became of every column: withheld, changed, or released as it is."""
        return column_outcomes(self)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The files of the release."""
        return () if self.output is None else (self.output,)

    @property
    def suppressed(self) -> int:
        """How many rows were suppressed: left out, or released with '*' in all quasi-identifiers."""
        return self.state.suppressed_rows + self.starred

    @property
    def starred(self) -> int:
        """How many suppressed rows are in the release, with '*' in all quasi-identifiers."""
        return int(np.count_nonzero(self.pass_of_row == LEFT_OUT))

    @property
    def frame(self) -> Any:
        """The release as what came in: a frame of pandas, polars or Arrow with its types, or a `Table`.

        What was generalized becomes an ordered categorical of the labels that occur.
        """
        kind = self.input.frame
        return self.release if kind is None else as_frame(self.release.data, kind, self._categories)

    def to_pandas(self) -> Any:
        """The release as a pandas data frame."""
        return as_pandas(self.release.data, self._categories, self._types(Library.PANDAS))

    def to_polars(self) -> Any:
        """The release as a polars data frame."""
        return as_polars(self.release.data, self._categories, self._types(Library.POLARS))

    def to_arrow(self) -> pa.Table:
        """The release as an Arrow table."""
        return as_arrow(self.release.data, self._categories, self._types(Library.ARROW))

    def write(self, target: str | os.PathLike[str], **options: Any) -> None:
        """Write the release as its input is written; the options are those of `tarnkappe.write`."""
        write(self.release, target, **{"reading": self.input.reading, **options})

    def _types(self, library: Library) -> Mapping[str, Any]:
        kind = self.input.frame
        return kind.types if kind is not None and kind.library is library else {}

    @property
    def _categories(self) -> dict[str, list[str]]:
        """The labels of the columns that were generalized."""
        changed = [name for name in self.columns.changed if name in self.release.column_names]
        data = self.release.data
        return {name: ordered_labels(data.column(name)) for name in text_columns(data, changed)}

    @cached_property
    def cells(self) -> dict[str, ColumnOutcome]:
        """What is left of each quasi-identifier, in shares of cells; empty with buckets and engines."""
        from tarnkappe.job.utility import cell_outcomes  # loads what only reports need

        return cell_outcomes(self) if self.generalizes and self.release.data.num_rows else {}

    def apply(self, levels: LevelsOf) -> Result:
        """A verified release of another node of the same lattice, by names or in the order of the columns.

        Raises:
            NoSolutionError: if the node does not keep the promises; the error says why.
        """
        if self.prepared is None:
            raise ParameterError(
                "job.result-not-keep-input",
                "this result does not keep its input: no other node can be applied",
            )
        released = self.prepared.release(choose(self.problem, levels, self.solution.bound))
        return dataclasses.replace(released, perturbed=self.perturbed)

    def utility(
        self,
        *,
        targets: Sequence[str] = (),
        classifiers: Sequence[str] = (),
        folds: int = 10,
        protocol: str = "release-to-people",
        workload: Workload | None = None,
        share_errors: bool = False,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> UtilityReport:
        """What the release is still good for, in a public, a shared and an internal part.

        Args:
            targets: columns that classifiers predict; each takes a while.
            classifiers: which of logistic-regression, random-forest, naive-bayes; all if none is named.
            folds: into how many parts the rows are divided, from 2 to 20.
            protocol: "release-to-people" anonymizes each training part anew and predicts original rows;
                "release-to-release" predicts rows of the release.
            workload: the queries to ask.
            share_errors: whether rounded errors may leave with the release.
            seed: of folds, queries and forests.
            progress: told about the progress of long work.
        """
        from tarnkappe.job.utility import result_utility  # loads what only reports need

        return result_utility(
            self,
            UtilityOptions(tuple(targets), tuple(classifiers), folds, protocol, workload, share_errors, seed),
            progress,
        )

    def lattice(self, progress: Progress | None = None) -> LatticeView:
        """What every node of the lattice does to the input."""
        return explore(self.problem, progress)

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "columns": self.columns.to_dict(),
            "cells": {
                name: {
                    "exact": told.exact,
                    "coarse": told.coarse,
                    "hidden": told.hidden,
                    "mean_width": told.mean_width,
                }
                for name, told in self.cells.items()
            },
            "levels": self.levels or None,
            "loss": self.loss,
            "loss_measure": self.problem.loss.name,
            "suppressed": self.suppressed,
            "suppression_limit": self.problem.suppression_limit,
            "suppression": str(self.treatment.suppression),
            "starred": self.starred,
            "suppressed_columns": sorted(self.treatment.suppressed),
            "passes": [
                {"levels": dict(p.levels), "rows": p.rows, "classes": p.classes, "loss": p.loss}
                for p in self.passes
            ],
            "aggregates": {
                name: {"function": str(a.function), "error": a.error, "measure": a.measure}
                for name, a in self.aggregates.items()
            },
            **({"perturbed": [each.to_dict() for each in self.perturbed]} if self.perturbed else {}),
            "weights": dict(self.problem.loss.parameters.get("weights", {})),
            "rows": self.input.num_rows,
            "released_rows": self.release.num_rows,
            "classes": self.state.num_kept,
            "nodes": self.solution.nodes,
            "checked": self.solution.checked,
            "rolled_up": self.solution.rolled_up,
            "seconds": {stage: round(seconds, 6) for stage, seconds in self.seconds.items()},
            "verified": [
                {
                    "model": v.model.name,
                    **{key: _plain(value) for key, value in v.model.parameters.items()},
                    "value": v.value,
                    "holds": v.holds,
                }
                for v in self.verified
            ],
            "attacks": [
                {"attack": a.attack, **a.parameters, "victims": a.victims, "share": a.share}
                for a in self.attacks
            ],
            "algorithm": self.solution.algorithm,
            "optimal": self.solution.optimal,
            "optimal_levels": self.solution.optimal_levels,
            "bound": self.solution.bound,
            "gap": self.solution.gap,
            "proof": self.solution.proof,
            "stopped": self.solution.stopped,
            "history": None if self.continuation is None else self.continuation.to_dict(),
            "steps": [] if self.recoding is None else list(self.recoding.steps),
            "output": self.output,
        }

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from tarnkappe.job.notebook import result_html  # drawn only when looked at

        return result_html(self)

    def __str__(self) -> str:
        levels = [
            f"pass {number}: {p.rows:,} rows in {p.classes:,} classes, levels {_listed(p.levels)}"
            for number, p in enumerate(self.passes, 1)
        ]
        aggregates = [
            f"{name}: {a.function} of each class, {a.measure} {a.error:.3g}"
            for name, a in self.aggregates.items()
        ]
        checks = "; ".join(f"{v.model}: {v.value:g}" for v in self.verified if v.value is not None)
        rows = f"{self.release.num_rows:,} of {self.input.num_rows:,} rows"
        found = self.solution
        one_node = [f"levels: {_listed(self.levels)}"] if self.levels else self._cell_lines()
        how = f"{found.checked:,} of {found.nodes:,} nodes checked by {found.algorithm}"
        return "\n".join(
            [
                f"{rows} in {self.state.num_kept:,} classes",
                *self.columns.lines,
                *(
                    f"written in one way: values of {name} that differ in case or blanks ({ways:,} ways less)"
                    for name, ways in self.respelled.items()
                ),
                *(levels if len(levels) > 1 else one_node),
                *aggregates,
                *(() if self.recoding is None else self.recoding.steps),
                f"{self.problem.loss.name}: {self.loss:,.6g} ({found.proof}, "
                f"{how if self.recoding is None else f'recoded by {found.algorithm}'})",
                f"verified: {checks}",
                *([] if self.continuation is None else [str(self.continuation)]),
            ]
        )

    def _cell_lines(self) -> list[str]:
        """What is left of each column, where classes have words of their own."""
        if self.recoding is None or not self.generalizes:
            return []
        found = self.cells
        width = max(map(len, found), default=0)
        return [*(f"{name:<{width}}  {told}" for name, told in found.items()), OVERLAPPING]


def _listed(levels: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
