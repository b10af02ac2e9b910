"""Several methods on the same table under the same promises: what each loses, what it is still good for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tarnkappe.errors import ParameterError, TarnkappeError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.bucketized import Bucketized
from tarnkappe.job.column_plan import ColumnPlan, plan_columns
from tarnkappe.job.job import Job
from tarnkappe.job.pipeline import protect_table
from tarnkappe.job.result import Result
from tarnkappe.job.search_plan import Algorithm, create_algorithm
from tarnkappe.job.sections import create_loss, create_model
from tarnkappe.lattice import SEARCHES
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import Model
from tarnkappe.recoding import BUCKETIZATIONS, METHODS, Suppression
from tarnkappe.report.comparison import Comparison, MethodOutcome
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress, encode
from tarnkappe.utility import (
    Accuracy,
    AnsweredWorkload,
    ColumnDomain,
    ReleaseReader,
    Workload,
    WorkloadErrors,
    bucketized_view,
    classifier_accuracy,
    exact_view,
    written_view,
)

LOCAL = "local-recoding"
"""The optimal search, repeated over the rows that it suppressed."""

USUAL = ("auto", "regions", LOCAL, "datafly", "mu-argus", "mondrian", "anatomy", "slicing")
"""What is compared when nothing is named; methods for small tables or long nights must be asked for."""

SUMMARIES = {
    "search": "Writes each column at one level in all rows, with the least loss of all such releases. Right "
    "where readers need the same categories everywhere and the release has to be explained.",
    LOCAL: "Repeats the optimal search over the rows that it suppressed. Right where hierarchies are given, "
    "few rows may be suppressed, and several levels in one column do no harm.",
}

HELD_OUT = 1 / 3
"""The share of rows that no classifier learns from."""


def compare(
    table: Table,
    *,
    privacy: Sequence[Model | Mapping[str, Any]],
    methods: Sequence[str | Algorithm] = (),
    hierarchies: Mapping[str, Hierarchy | str | Mapping[str, Any]] | None = None,
    loss: Loss | str | Mapping[str, Any] = "loss",
    suppression_limit: float = 0.0,
    workload: Workload | None = None,
    target: str | None = None,
    several_rows_per_person: bool = False,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Publish a table in several ways and compare what the releases are good for.

    Args:
        table: the input, with roles.
        privacy: what every release must promise.
        methods: names of searches, methods and bucketizations, or such objects; without them, the usual ones.
        hierarchies: as for `anonymize`.
        loss: how loss is measured.
        suppression_limit: the share of rows that may be suppressed.
        workload: the queries to ask.
        target: a column that a classifier predicts, from releases of two thirds of the rows, for the others.
        several_rows_per_person: as for `anonymize`.
        seed: for tests: makes releases and the rows that are held out reproducible.
        progress: told about the progress of long work.

    >>> from tarnkappe.table.examples import hospital
    >>> patients = hospital(rows=300, seed=1).table.with_roles(
    ...     quasi_identifiers=["age", "sex"], sensitive=["diagnosis"])
    >>> found = compare(patients, privacy=[{"model": "k-anonymity", "k": 5}], methods=["auto", "anatomy"],
    ...                 workload=Workload(queries=50), seed=1)
    >>> [(each.method, each.suppressed, each.loss is None) for each in found.outcomes]
    [('auto', 0, False), ('anatomy', 0, True)]
    """
    chosen = [(_name(each), _algorithm(each)) for each in methods or usual_methods()]
    return _Run(
        table,
        plan_columns(table, hierarchies or {}, {}),
        [model if isinstance(model, Model) else create_model(model) for model in privacy],
        loss if isinstance(loss, Loss) else create_loss(loss),
        {
            "suppression_limit": suppression_limit,
            "several_rows_per_person": several_rows_per_person,
            "seed": seed,
        },
        workload or Workload(),
        target,
        progress,
    ).compare(chosen)


def compare_job(
    job: Job,
    *,
    methods: Sequence[str] = (),
    workload: Workload | None = None,
    target: str | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare methods on the table of a job; the job's own algorithm runs with the parameters of the job."""
    if job.input.engine != "memory" or job.population is not None:
        raise ParameterError(
            "job.methods-compared-memory-without-population",
            "methods are compared in memory and without a population: leave both out",
        )
    named = methods or dict.fromkeys([job.search.name, *usual_methods()])
    chosen = [(name, _algorithm(job.search if name == job.search.name else name)) for name in named]
    return _Run(
        job.read_input(progress),
        job.columns,
        job.privacy,
        job.loss,
        {
            "suppression_limit": job.suppression_limit,
            "several_rows_per_person": job.several_rows_per_person,
            "seed": seed,
        },
        workload or Workload(),
        target,
        progress,
    ).compare(chosen)


def usual_methods() -> tuple[str, ...]:
    """The methods that are compared when none is named."""
    known = (*SEARCHES.names, LOCAL, *METHODS.names, *BUCKETIZATIONS.names)
    return tuple(name for name in USUAL if name in known)


def _name(method: str | Algorithm) -> str:
    return method if isinstance(method, str) else method.name


def _algorithm(method: str | Algorithm) -> Algorithm:
    if not isinstance(method, str):
        return method
    return create_algorithm("auto" if method == LOCAL else method)


class _Run:
    def __init__(
        self,
        table: Table,
        plans: Mapping[str, ColumnPlan],
        models: Sequence[Model],
        loss: Loss,
        settings: Mapping[str, Any],
        workload: Workload,
        target: str | None,
        progress: Progress | None,
    ) -> None:
        self._table, self._plans, self._models = table, plans, models
        self._settings, self._workload, self._progress = settings, workload, progress
        self._remark = ""
        if not loss.measures_cells:
            self._remark = f"'{loss.name}' cannot measure rows at several levels: loss is measured by 'loss'"
            loss = LOSSES.create("loss", {})
        self._loss = loss
        self._target = None if target is None else self._require_target(target)
        self._answered: AnsweredWorkload | None = None

    def compare(self, algorithms: Sequence[tuple[str, Algorithm]]) -> Comparison:
        """Run one method after the other."""
        outcomes = []
        for number, (name, algorithm) in enumerate(algorithms):
            if self._progress:
                self._progress("comparing", number, len(algorithms), name)
            outcomes.append(self._outcome(name, algorithm))
        return Comparison(
            tuple(outcomes),
            self._table.num_rows,
            tuple(map(str, self._models)),
            self._loss.name,
            self._workload,
            self._target,
            self._remark,
        )

    def _outcome(self, name: str, algorithm: Algorithm) -> MethodOutcome:
        summary = SUMMARIES.get(name, str(getattr(algorithm, "summary", SUMMARIES["search"])))
        try:
            result = self._protect(self._table, name, algorithm)
        except TarnkappeError as error:  # the others may do better
            return MethodOutcome(name, summary, failure=str(error))
        accuracy, remark = self._accuracy(name, algorithm, result)
        return MethodOutcome(
            method=name,
            summary=summary,
            loss=None if isinstance(result, Bucketized) else result.loss,
            proof="" if isinstance(result, Bucketized) else result.solution.proof,
            suppressed=result.suppressed,
            groups=result.state.num_kept,
            seconds=sum(result.seconds.get(stage, 0.0) for stage in ("search", "transform")),
            query_error=self._query_error(result),
            accuracy=accuracy,
            remark=remark,
        )

    def _protect(self, table: Table, name: str, algorithm: Algorithm) -> Result:
        return protect_table(
            table,
            self._plans,
            self._models,
            self._loss,
            algorithm,
            suppression=Suppression.RECORD,
            local_recoding=name == LOCAL,
            progress=self._progress,
            **self._settings,
        )

    def _query_error(self, result: Result) -> WorkloadErrors:
        domains = _domains(self._table, result.hierarchies)
        if self._answered is None:
            original = exact_view(domains, self._table.data)
            counts = {
                name: np.bincount(cells.words, minlength=domains[name].size).astype(np.float64)
                for name, cells in original.cells.items()
            }
            queries = self._workload.draw(
                domains, counts, self._table.quasi_identifiers, self._table.sensitive
            )
            self._answered = AnsweredWorkload.of(original, queries)
        return self._answered.error(_view(result, domains))

    def _accuracy(self, name: str, algorithm: Algorithm, result: Result) -> tuple[Accuracy | None, str]:
        """Learn from a release of two thirds of the rows, made anew: the others must be in no release."""
        if self._target is None:
            return None, ""
        random = np.random.default_rng(self._settings["seed"] or 0)
        order = random.permutation(self._table.num_rows)
        held_out = order[: round(HELD_OUT * len(order))]
        parts = [
            self._table.with_data(self._table.data.take(np.sort(rows)))
            for rows in (order[len(held_out) :], held_out)
        ]
        try:
            learned = self._protect(parts[0], name, algorithm)
            domains = _domains(self._table, result.hierarchies)
            return (
                classifier_accuracy(
                    exact_view(domains, parts[0].data),
                    _view(learned, domains),
                    exact_view(domains, parts[1].data),
                    self._target,
                    self._table.quasi_identifiers,
                ),
                "",
            )
        except TarnkappeError as error:
            return None, f"no classifier: {error}"

    def _require_target(self, target: str) -> str:
        if self._table.roles[self._table.require(target)] not in (Role.SENSITIVE, Role.INSENSITIVE):
            raise ParameterError(
                "job.generalized-left-out-classifier",
                "'{target}' is generalized or left out: a classifier predicts a sensitive or insensitive "
                "column",
                target=target,
            )
        return target


def _domains(table: Table, hierarchies: Mapping[str, Hierarchy]) -> dict[str, ColumnDomain]:
    names = table.published
    return {
        name: ColumnDomain.of(column, hierarchies.get(name)) for name, column in encode(table, names).items()
    }


def _view(result: Result, domains: Mapping[str, ColumnDomain]) -> ReleaseReader:
    if isinstance(result, Bucketized):
        return bucketized_view(domains, result.method, result.tables)
    return written_view(domains, result.release.data)
