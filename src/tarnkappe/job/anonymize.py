"""Anonymizing a table in memory: the same way as a job, without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_plan import plan_columns, published_too
from tarnkappe.job.further_sensitive import FurtherSensitive
from tarnkappe.job.identifier_guard import refuse_identifiers, untouched
from tarnkappe.job.pipeline import protect_table
from tarnkappe.job.proposal import LOSS, METHOD
from tarnkappe.job.propose import propose
from tarnkappe.job.result import Result
from tarnkappe.job.search_plan import Algorithm, create_algorithm
from tarnkappe.job.sections import create_loss, create_models
from tarnkappe.loss import Loss
from tarnkappe.privacy import KAnonymity, Model
from tarnkappe.schema.arguments import checked_call
from tarnkappe.schema.documents import parse
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress


@checked_call
def anonymize(
    table: Any,
    *,
    k: int | None = None,
    privacy: Model | Mapping[str, Any] | Sequence[Model | Mapping[str, Any]] | None = None,
    for_: str = "partner",
    identifiers: Sequence[str] = (),
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    hierarchies: Mapping[str, Hierarchy | str | Mapping[str, Any]] | None = None,
    levels: Mapping[str, int | tuple[int, int]] | None = None,
    weights: Mapping[str, float] | None = None,
    aggregates: Mapping[str, str] | None = None,
    suppressed_columns: Sequence[str] = (),
    publish: Sequence[str] = (),
    accept: Mapping[str, str | Sequence[str]] | None = None,
    loss: Loss | str | Mapping[str, Any] | None = None,
    suppression_limit: float | None = None,
    suppression: str = "record",
    local_recoding: bool | float = False,
    algorithm: Algorithm | str | None = None,
    population: Table | None = None,
    shuffle: bool = True,
    several_rows_per_person: bool = False,
    further_sensitive: Mapping[str, Any] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Find a release of a table that keeps all promises and loses least, and verify it.

    A `Table` with roles is taken as it is. Of anything else the columns are looked at, and whatever is not
    said here is as `propose` proposes it: `anonymize(frame, k=5)` is `propose(frame, k=5).anonymize()`.

    Args:
        table: the input: a `Table` with roles, a frame of pandas, polars or Arrow, or a path. Identifiers
            are removed, quasi-identifiers generalized. A column of a `Table` without a role is not released.
        k: how many rows share what others may know at least; short for a model of k-anonymity.
        privacy: the models that every class of the release must meet, as objects or as in a job file.
        for_: if neither is given, who gets the release: internal (k = 3), partner (k = 5) or public (k = 11).
        identifiers: columns that name a person, of what is no `Table` with roles.
        quasi_identifiers: columns that others may know, likewise.
        sensitive: columns that an attacker wants to learn, likewise.
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
        loss: what to minimize: entropy if nothing is said; loss where a job is proposed.
        suppression_limit: the share of rows that may be suppressed; none if nothing is said.
        suppression: what becomes of them: "record" leaves them out; "cell" releases them with '*' in all
            quasi-identifiers if they meet the models so, and leaves them out otherwise.
        local_recoding: whether suppressed rows are searched again as a table of their own, until none is
            left; a number is the share of its rows that a pass may leave to the next one.
        algorithm: the search, or a publishing method (`regions`, `mondrian`, ...): auto if nothing is said;
            regions where a job is proposed.
        population: everybody who could be in the table, for models about membership.
        shuffle: whether to release the rows in a random order.
        several_rows_per_person: whether rows with the same identifiers are allowed. Promises count rows;
            where a person has several, `multi-relational-k-anonymity` counts persons.
        further_sensitive: sensitive columns that another one must not tell, as in a job file:
            `{"main": "diagnosis", "columns": ["drug"], "l": 3}`.
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
    stated = isinstance(table, Table) and any(role is not Role.UNSTATED for role in table.roles.values())
    if stated:
        if identifiers or quasi_identifiers or sensitive:
            raise ParameterError(
                "job.table-roles-already-change",
                "the table has roles already: change them with its with_roles",
            )
        table = published_too(table, publish)
        models, proposed_hierarchies = _promised(privacy, k), {}
    else:
        if isinstance(privacy, Model | Mapping) or privacy:
            _promised(privacy, k)  # what contradicts itself is refused before anything is read
        proposal = propose(
            table,
            for_=for_,
            k=k,
            identifiers=identifiers,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            publish=publish,
            progress=progress,
        )
        table = proposal.table
        models = list(proposal.privacy) if privacy is None else _promised(privacy, k)
        several_rows_per_person = several_rows_per_person or proposal.several_rows_per_person
        proposed_hierarchies = proposal.hierarchies
    plans = plan_columns(
        table,
        {**proposed_hierarchies, **(hierarchies or {})},
        levels or {},
        weights=weights,
        aggregates=aggregates,
        suppressed_columns=suppressed_columns,
        accept=accept,
    )
    usual_loss, usual_algorithm = ("entropy", "auto") if stated else (LOSS, METHOD)
    loss = usual_loss if loss is None else loss
    algorithm = usual_algorithm if algorithm is None else algorithm
    accepted = {name: plan.accept for name, plan in plans.items() if plan.accept}
    refuse_identifiers(table, untouched(table, plans), accepted, progress)
    return protect_table(
        table,
        plans,
        models,
        loss if isinstance(loss, Loss) else create_loss(loss),
        create_algorithm(algorithm) if isinstance(algorithm, str) else algorithm,
        suppression_limit=0.0 if suppression_limit is None else suppression_limit,
        suppression=suppression,
        local_recoding=local_recoding,
        population=population,
        shuffle=shuffle,
        several_rows_per_person=several_rows_per_person,
        further=None if further_sensitive is None else parse(FurtherSensitive, further_sensitive),
        seed=seed,
        progress=progress,
    )


def _promised(
    privacy: Model | Mapping[str, Any] | Sequence[Model | Mapping[str, Any]] | None, k: int | None
) -> list[Model]:
    """The models that are asked for; k once only."""
    models = [] if privacy is None else create_models(privacy)
    if k is None:
        if not models and privacy is None:
            raise ParameterError(
                "job.say-what-release-promises",
                "say what the release promises: k=5, or privacy=[models.KAnonymity(5)]",
            )
        return models
    if any(isinstance(model, KAnonymity) for model in models):
        raise ParameterError(
            "job.k-given-twice-k", "k is given twice, by k and by a model of k-anonymity: leave one out"
        )
    return [KAnonymity(k), *models]
