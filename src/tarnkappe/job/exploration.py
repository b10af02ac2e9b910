"""Exploring: what every node does to a table, and a verified release of any node that keeps the promises."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_plan import plan_columns, published_too
from tarnkappe.job.job import Job
from tarnkappe.job.preparation import prepare
from tarnkappe.job.result import Prepared, Result
from tarnkappe.job.sections import create_loss, create_models
from tarnkappe.lattice import Evaluation, LatticeView, choose
from tarnkappe.lattice import explore as explore_lattice
from tarnkappe.lattice.explore import LevelsOf
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model
from tarnkappe.schema.arguments import checked_call
from tarnkappe.table import Table
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True, eq=False)
class Exploration:
    """A whole lattice of releases.

    Attributes:
        lattice: what every node does to the table.
        prepared: the table, ready for releases.
    """

    lattice: LatticeView
    prepared: Prepared

    def __len__(self) -> int:
        return len(self.lattice)

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self.lattice)

    def apply(self, levels: LevelsOf) -> Result:
        """A verified release of one node.

        Raises:
            NoSolutionError: if the node does not keep the promises; the error says why.
        """
        best = self.lattice.best
        solution = choose(self.prepared.problem, levels, None if best is None else best.loss)
        return self.prepared.release(solution)

    def __repr__(self) -> str:
        return repr(self.lattice)

    def _repr_html_(self) -> str:
        return self.lattice._repr_html_()


@checked_call
def explore(
    table: Table,
    *,
    privacy: Model | Mapping[str, Any] | Sequence[Model | Mapping[str, Any]],
    hierarchies: Mapping[str, Hierarchy | str | Mapping[str, Any]] | None = None,
    levels: Mapping[str, int | tuple[int, int]] | None = None,
    publish: Sequence[str] = (),
    loss: Loss | str | Mapping[str, Any] = "entropy",
    suppression_limit: float = 0.0,
    population: Table | None = None,
    shuffle: bool = True,
    several_rows_per_person: bool = False,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Exploration:
    """Classify every combination of levels; the arguments are those of `anonymize`.

    >>> import pyarrow as pa
    >>> people = Table(pa.table({"age": [30, 31, 38, 39], "illness": ["flu", "cold", "flu", "flu"]}))
    >>> people = people.with_roles(quasi_identifiers=["age"], sensitive=["illness"])
    >>> by_two = {"builder": "intervals", "width": [2, 10]}
    >>> found = explore(people, privacy=[{"model": "k-anonymity", "k": 2}], hierarchies={"age": by_two})
    >>> [(node.node, node.satisfied, node.suppressed) for node in found]
    [((0,), False, 4), ((1,), True, 0), ((2,), True, 0), ((3,), True, 0)]
    >>> found.apply({"age": 2}).release.data.column("age").unique().to_pylist()
    ['30-39']
    """
    table = published_too(table, publish)
    prepared = prepare(
        table,
        plan_columns(table, hierarchies or {}, levels or {}),
        create_models(privacy),
        loss if isinstance(loss, Loss) else create_loss(loss),
        suppression_limit=suppression_limit,
        population=population,
        shuffle=shuffle,
        several_rows_per_person=several_rows_per_person,
        seed=seed,
        progress=progress,
    )
    return Exploration(explore_lattice(prepared.problem, progress), prepared)


def explore_job(job: Job, progress: Progress | None = None) -> Exploration:
    """Classify every combination of levels of a job."""
    prepared = prepare(
        job.read_input(progress),
        job.columns,
        job.privacy,
        job.loss,
        suppression_limit=job.suppression_limit,
        suppression=job.suppression,
        population=job.population.read(progress) if job.population else None,
        shuffle=job.output.shuffle,
        several_rows_per_person=job.several_rows_per_person,
        progress=progress,
    )
    return Exploration(explore_lattice(prepared.problem, progress), prepared)
