"""Anonymizing a table in memory: the same way as a job, without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_plan import plan_columns, published_too
from tarnkappe.job.identifier_guard import refuse_identifiers, untouched
from tarnkappe.job.job import create_loss, create_models
from tarnkappe.job.pipeline import protect_table
from tarnkappe.job.result import Result
from tarnkappe.job.search_plan import Algorithm, create_algorithm
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model
from tarnkappe.schema.arguments import checked_call
from tarnkappe.table import Table
from tarnkappe.table.encoding import Progress


@checked_call
def anonymize(
    table: Table,
    *,
    privacy: Model | Mapping[str, Any] | Sequence[Model | Mapping[str, Any]],
    hierarchies: Mapping[str, Hierarchy | str | Mapping[str, Any]] | None = None,
    levels: Mapping[str, int | tuple[int, int]] | None = None,
    weights: Mapping[str, float] | None = None,
    aggregates: Mapping[str, str] | None = None,
    suppressed_columns: Sequence[str] = (),
    publish: Sequence[str] = (),
    accept: Mapping[str, str | Sequence[str]] | None = None,
    loss: Loss | str | Mapping[str, Any] = "entropy",
    suppression_limit: float = 0.0,
    suppression: str = "record",
    local_recoding: bool | float = False,
    algorithm: Algorithm | str = "auto",
    population: Table | None = None,
    shuffle: bool = True,
    several_rows_per_person: bool = False,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Find the least-loss release of a table that keeps all promises, and verify it.

    Args:
        table: the input, with roles; identifiers are removed, quasi-identifiers generalized.
            A column without a role is not released.
        privacy: the models that every class of the release must meet, as objects or as in a job file.
        hierarchies: how columns generalize: hierarchies, files or builders; a quasi-identifier without
            one gets a proposal.
        levels: for some quasi-identifiers, the level, or the least and the greatest level, to choose.
        weights: how much the loss of some quasi-identifiers counts; others count 1.
        aggregates: quasi-identifiers whose values become an aggregate of their class instead of a label:
            mean, geometric-mean, median, mode, interval or set.
        suppressed_columns: quasi-identifiers that are suppressed altogether.
        publish: columns without a role that are released as they are; others without a role are not released.
        accept: for some columns, the detectors of identifiers that are wrong about them, as
            `{"shop": "e-mail"}`.
        loss: what to minimize.
        suppression_limit: the share of rows that may be suppressed.
        suppression: what becomes of them: "record" leaves them out; "cell" releases them with '*' in all
            quasi-identifiers if they meet the models so, and leaves them out otherwise.
        local_recoding: whether suppressed rows are searched again as a table of their own, until none is
            left; a number is the share of its rows that a pass may leave to the next one.
        algorithm: the search, or a publishing method (`regions`, `mondrian`, ...).
        population: everybody who could be in the table, for models about membership.
        shuffle: whether to release the rows in a random order.
        several_rows_per_person: whether rows with the same identifiers are allowed. Promises count rows;
            where a person has several, `multi-relational-k-anonymity` counts persons.
        seed: for tests: makes the order reproducible. Without it, randomness comes from the system.
        progress: told about the progress of long work.

    Raises:
        NoSolutionError: if nothing that the search or method tries keeps the promises within the limit.

    >>> import pyarrow as pa
    >>> people = Table(pa.table({"age": [30, 31, 38, 39], "illness": ["flu", "cold", "flu", "flu"]}))
    >>> people = people.with_roles(quasi_identifiers=["age"], sensitive=["illness"])
    >>> by_two = {"builder": "intervals", "width": 2}
    >>> result = anonymize(people, privacy=[{"model": "k-anonymity", "k": 2}], hierarchies={"age": by_two})
    >>> result.levels, result.verified[0].value
    ({'age': 1}, 2.0)
    """
    table = published_too(table, publish)
    plans = plan_columns(
        table,
        hierarchies or {},
        levels or {},
        weights=weights,
        aggregates=aggregates,
        suppressed_columns=suppressed_columns,
        accept=accept,
    )
    accepted = {name: plan.accept for name, plan in plans.items() if plan.accept}
    refuse_identifiers(table, untouched(table, plans), accepted, progress)
    return protect_table(
        table,
        plans,
        create_models(privacy),
        loss if isinstance(loss, Loss) else create_loss(loss),
        create_algorithm(algorithm) if isinstance(algorithm, str) else algorithm,
        suppression_limit=suppression_limit,
        suppression=suppression,
        local_recoding=local_recoding,
        population=population,
        shuffle=shuffle,
        several_rows_per_person=several_rows_per_person,
        seed=seed,
        progress=progress,
    )
