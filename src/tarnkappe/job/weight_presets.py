"""What weights do to a release whose classes have words of their own: presets to choose from, and a preview.

A method has no other levels to offer. What it keeps is decided by the weights of the columns, so the choices
are weights: equal ones, more for numbers and dates, more for categories, more for the column that lost most;
and one level in a column. Each is run and judged by the same equal weights, so that losses can be compared.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.job.column_plan import ColumnPlan
from tarnkappe.job.default_coding import DEFAULT_LOSS, GLOBAL, LOCAL, UNIFORM_SUPPRESSION
from tarnkappe.job.identifier_guard import refuse_identifiers, untouched
from tarnkappe.job.job import Job
from tarnkappe.job.pipeline import protect_table
from tarnkappe.job.result import Result
from tarnkappe.job.search_plan import create_algorithm
from tarnkappe.loss import LOSSES, ColumnLoss
from tarnkappe.privacy import Model
from tarnkappe.table import Table
from tarnkappe.table.encoding import Progress, encode
from tarnkappe.utility.columns import ColumnOutcome

WEIGHTS = {"not needed": 0.0, "less": 0.5, "normal": 1.0, "more": 2.0, "most": 4.0}
"""The places of a slider, and what each counts."""
PREVIEW_ROWS = 20_000
"""A preview looks at so many rows at most."""
EQUAL = "equal weights"
HARDEST_HIT = "more of what lost most"
ONE_LEVEL = "one level in a column"


@dataclasses.dataclass(frozen=True)
class WeightPreset:
    """A choice of weights, and what it leaves of the table.

    Attributes:
        name: what it prefers, in words.
        weights: the columns that do not count 1.
        loss: what is lost, all columns counting the same.
        suppressed: how many rows are left out.
        cells: what is left of each column.
    """

    name: str
    weights: Mapping[str, float]
    loss: float
    suppressed: int
    cells: Mapping[str, ColumnOutcome]

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        left = ", ".join(f"{name} {own.exact:.0%} exact" for name, own in self.cells.items())
        return f"{self.name}: {left}   {self.suppressed:,} rows left out   loss {self.loss:.3g}"


def presets_of_job(job: Job, progress: Progress | None = None) -> list[WeightPreset]:
    """What a job with local recoding could release; nothing of its output is written."""
    if job.population is not None or job.input.engine != "memory":
        raise ParameterError(
            "job.weights-compared-memory-without-population",
            "weights are compared in memory and without a population: leave both out",
        )
    table = job.read_input(progress)
    refuse_identifiers(table, untouched(table, job.columns), job.accepted, progress)
    several = job.several_rows_per_person
    return weight_presets(table, job.columns, job.privacy, several_rows_per_person=several, progress=progress)


def with_preset(job: Job, found: Sequence[WeightPreset], index: int) -> Job:
    """The job as one of the presets has it, to be run as any other."""
    if not 0 <= index < len(found):
        raise ParameterError(
            "job.weight-presets-alternatives-1-choose",
            "there are the alternatives 1 to {found}: choose one of them",
            found=len(found),
        )
    chosen = found[index]
    columns = {
        name: dataclasses.replace(plan, weight=chosen.weights.get(name)) for name, plan in job.columns.items()
    }
    loss = LOSSES.create(DEFAULT_LOSS, {})
    if chosen.name == ONE_LEVEL:
        search, limit = create_algorithm(GLOBAL), max(job.suppression_limit, UNIFORM_SUPPRESSION)
        return dataclasses.replace(job, columns=columns, search=search, suppression_limit=limit, loss=loss)
    return dataclasses.replace(job, columns=columns, loss=loss)


def weight_presets(
    table: Table,
    plans: Mapping[str, ColumnPlan],
    models: Sequence[Model],
    *,
    several_rows_per_person: bool = False,
    progress: Progress | None = None,
) -> list[WeightPreset]:
    """The presets in their order, without those that do what an earlier one does."""
    run = _Run(table, plans, models, several_rows_per_person, progress)
    equal = run.regions(EQUAL, {})
    numbers = [
        name
        for name, column in encode(table, table.quasi_identifiers).items()
        if column.numbers is not None or pa.types.is_temporal(column.values.type)
    ]
    others = [name for name in table.quasi_identifiers if name not in numbers]
    found = [equal]
    if numbers and others:
        found.append(run.regions("more of numbers and dates", dict.fromkeys(numbers, WEIGHTS["most"])))
        found.append(run.regions("more of categories", dict.fromkeys(others, WEIGHTS["most"])))
    if len(table.quasi_identifiers) > 1:
        hardest = max(equal.cells, key=lambda name: equal.cells[name].loss or 0.0)
        found.append(run.regions(HARDEST_HIT, {hardest: WEIGHTS["most"]}))
    one_level = run.one_level()
    different: dict[tuple[tuple[str, float], ...], WeightPreset] = {}
    for each in found:
        different.setdefault(tuple(sorted(each.weights.items())), each)
    return [*different.values(), *([one_level] if one_level is not None else [])]


def preview_weights(
    table: Table,
    plans: Mapping[str, ColumnPlan],
    models: Sequence[Model],
    weights: Mapping[str, float],
    *,
    several_rows_per_person: bool = False,
    progress: Progress | None = None,
) -> WeightPreset:
    """What some weights would leave of each column; of many rows, some are drawn with a fixed seed."""
    for name, weight in weights.items():
        if name not in table.quasi_identifiers or not 0 <= weight < float("inf"):
            raise ParameterError(
                "job.no-quasi-identifier-weight",
                "'{name}' is no quasi-identifier, or its weight is no number of at least 0",
                name=name,
            )
    if table.num_rows > PREVIEW_ROWS:
        drawn = np.sort(np.random.default_rng(0).choice(table.num_rows, PREVIEW_ROWS, replace=False))
        table = table.with_data(table.data.take(pa.array(drawn)))
    return _Run(table, plans, models, several_rows_per_person, progress).regions("preview", weights)


class _Run:
    def __init__(
        self,
        table: Table,
        plans: Mapping[str, ColumnPlan],
        models: Sequence[Model],
        several_rows_per_person: bool,
        progress: Progress | None,
    ) -> None:
        self._table, self._models, self._progress = table, models, progress
        self._several = several_rows_per_person
        self._plans = {name: dataclasses.replace(plan, weight=None) for name, plan in plans.items()}
        self._equal = LOSSES.create(DEFAULT_LOSS, {})

    def regions(self, name: str, weights: Mapping[str, float]) -> WeightPreset:
        """A release with some weights."""
        return self._described(name, weights, self._release(LOCAL, weights, 0.0))

    def one_level(self) -> WeightPreset | None:
        """The best release with one level in a column, if there is one."""
        try:
            return self._described(ONE_LEVEL, {}, self._release(GLOBAL, {}, UNIFORM_SUPPRESSION))
        except NoSolutionError:
            return None

    def _release(self, algorithm: str, weights: Mapping[str, float], limit: float) -> Result:
        loss = LOSSES.create(DEFAULT_LOSS, {"weights": dict(weights)} if weights else {})
        return protect_table(
            self._table,
            self._plans,
            self._models,
            loss,
            create_algorithm(algorithm),
            suppression_limit=limit,
            several_rows_per_person=self._several,
            progress=self._progress,
        )

    def _described(self, name: str, weights: Mapping[str, float], result: Result) -> WeightPreset:
        assert isinstance(self._equal, ColumnLoss)
        own = self._equal.by_column(result.state)
        columns = (column.name for column in result.state.classes.quasi_identifiers)
        losses = dict(zip(columns, own, strict=True))
        cells = {
            each: dataclasses.replace(outcome, loss=losses[each]) for each, outcome in result.cells.items()
        }
        return WeightPreset(name, dict(weights), self._equal(result.state), result.suppressed, cells)
