"""Which guarantees does a table have? Nothing is assumed about how it was made."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tarnkappe.errors import ColumnError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.privacy import Model, needed_distributions
from tarnkappe.privacy.exact import Exact
from tarnkappe.privacy.model import entries_of
from tarnkappe.privacy.shares import largest_share
from tarnkappe.risk.attacks import NOTHING, Background, attack_all
from tarnkappe.risk.guarantees import measure_guarantees, recursive_thresholds
from tarnkappe.risk.identifiers import find_identifiers, propose_roles
from tarnkappe.risk.levels import with_levels
from tarnkappe.risk.measures import RiskMeasure, with_usual
from tarnkappe.risk.ranking import first_classes
from tarnkappe.risk.report import (
    MeasuredGuarantee,
    ModelVerdict,
    Presence,
    Report,
    SensitiveColumn,
    WorstClass,
)
from tarnkappe.risk.sizes import class_sizes
from tarnkappe.table import Classes, Table, read
from tarnkappe.table.classes import release_everything
from tarnkappe.table.encoding import Progress
from tarnkappe.table.row_tuples import row_tuples
from tarnkappe.table.spelling.alike import one_way_each

SHOWN_VALUES = 5
"""How many values of a sensitive column are shown of each of the worst classes."""


def check(
    table: Any,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    population: Table | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    models: Sequence[Model] = (),
    measures: Sequence[RiskMeasure] = (),
    sampling_fraction: Exact | None = None,
    safe_harbor: bool = False,
    background: Background = NOTHING,
    worst: int = 5,
    progress: Progress | None = None,
) -> Report:
    """Measure which guarantees a table has and which attacks succeed on it.

    The table is judged as it is read by people: sensitive values that differ in case or blanks alone are one.
    A missing value is a value like any other; a suppressed cell of a sensitive column adds nothing to the
    diversity of its class.

    Args:
        table: the table; its roles tell the columns, unless they are named below. Of a frame or a path the
            columns are looked at, and roles are proposed where none is named.
        hierarchies: hierarchies of sensitive columns, for distances and categories. Those of
            quasi-identifiers are not used.
        population: everybody who could be in the table, for the risk of membership.
        quasi_identifiers: the columns that an attacker may know.
        sensitive: the columns that an attacker wants to learn.
        models: the models that the table should meet; the report has a verdict for each.
        measures: risk measures beside the usual ones, which take next to no time.
        sampling_fraction: the share of the population that is in the table, if no population is given but
            this is known: the risk in the population is then estimated.
        safe_harbor: whether to look for the 18 identifiers of HIPAA's safe harbor rule in every column.
        background: what an attacker has beside the table: people, earlier releases, rules, answers.
        worst: how many of the worst classes to name.
        progress: told about the progress of long work.

    >>> import pyarrow as pa
    >>> people = Table(pa.table({"age": [30, 30, 40, 40], "illness": ["flu", "cold", "flu", "flu"]}))
    >>> report = check(people, quasi_identifiers=["age"], sensitive=["illness"])
    >>> report.k, report.sensitive["illness"].measured["distinct_l"].value
    (2, 1.0)
    >>> [attack.explanation for attack in report.attacks if attack.attack == "homogeneity"]
    ["'illness' is the same for all who share their known values, for the people of 2 rows (50.0 %)."]
    """
    if not isinstance(table, Table):
        table = read(table, progress=progress)
        if quasi_identifiers is None:
            table = table.with_roles(
                {each.column: each.role for each in propose_roles(table, progress=progress)}
            )
    known = _columns(table, table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    wanted = _columns(table, table.sensitive if sensitive is None else sensitive, _judged(models))
    _refuse_bad_roles(known, wanted)
    needed = needed_distributions(models)
    counted = tuple(names for measure in measures for names in measure.distributions)
    others = [
        name
        for names in ((*wanted,), *needed, *counted)
        for name in names
        if table.require(name) not in known
    ]
    table, _ = one_way_each(table, wanted)
    tuples = row_tuples(table, known, others, population=population, progress=progress)
    tuples = with_levels(tuples, {n: h for n, h in (hierarchies or {}).items() if n in others})
    for model in models:
        model.check(tuples, known)
    classes = tuples.classes(known, None, [*((name,) for name in wanted), *needed])
    chosen = with_usual(measures, sampling_fraction)
    attacker = _with_rows(background, table.with_roles(quasi_identifiers=known, sensitive=wanted))
    return Report(
        quasi_identifiers=known,
        rows=classes.num_rows,
        classes=int(np.count_nonzero(classes.released)),
        sizes=class_sizes(classes.sizes[classes.released]),
        sensitive={name: _sensitive_column(classes, name, wanted) for name in _told(wanted, progress)},
        presence=_presence(classes),
        attacks=tuple(attack_all(release_everything(classes), background=attacker)),
        worst=_worst_classes(classes, wanted, worst),
        verdicts=tuple(_verdict(classes, part) for model in models for part in model.parts),
        measures={
            # What only a measure counts is nothing that anybody attacks: it gets classes of its own.
            each.name: each.measure(
                tuples.classes(known, None, each.distributions) if each.distributions else classes, progress
            )
            for each in chosen
        },
        safe_harbor=find_identifiers(table, progress=progress) if safe_harbor else None,
    )


def _with_rows(background: Background, table: Table) -> Background:
    """What an attacker has; if that is anything, the rows of the table in their order with it."""
    return background if background is NOTHING else dataclasses.replace(background, rows=table)


def _columns(table: Table, *names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(table.require(name) for some in names for name in some))


def _judged(models: Sequence[Model]) -> tuple[str, ...]:
    """The columns whose values the models protect: they are sensitive even if nobody said so."""
    return tuple(names[0] for names in needed_distributions(models))


def _refuse_bad_roles(known: Sequence[str], wanted: Sequence[str]) -> None:
    if not known:
        raise ColumnError(
            "risk.no-quasi-identifier-given",
            "no quasi-identifier is given: name the columns that an attacker may know",
        )
    for name in wanted:
        if name in known:
            raise ColumnError(
                "risk.column-both-quasi-identifier",
                "the column '{name}' is both a quasi-identifier and sensitive: an attacker who knows it has"
                " nothing to learn, so name it only once",
                name=name,
            )


def _told(names: Sequence[str], progress: Progress | None) -> Iterator[str]:
    for done, name in enumerate(names):
        if progress:
            progress("measuring", done, len(names))
        yield name


def _sensitive_column(classes: Classes, name: str, sensitive: Sequence[str]) -> SensitiveColumn:
    distribution = classes.distributions[name,]
    others = [other for other in sensitive if other != name]
    given_others: dict[str, MeasuredGuarantee] = {}
    if others:
        # What an attacker who knows the other sensitive values learns: they are quasi-identifiers to him.
        known = [column.name for column in classes.quasi_identifiers]
        divided = classes.tuples.classes([*known, *others], None, [(name,)])
        given_others = measure_guarantees(divided, name)
    return SensitiveColumn(
        column=name,
        values=int(np.count_nonzero(distribution.totals)),
        measured=measure_guarantees(classes, name),
        recursive_c=recursive_thresholds(distribution, classes.released),
        given_others=given_others,
    )


def _presence(classes: Classes) -> Presence | None:
    if classes.population is None:
        return None
    there = classes.population > 0
    shares = classes.sizes[there] / classes.population[there]
    return Presence(float(shares.min()), float(shares.max()))


def _worst_classes(classes: Classes, sensitive: Sequence[str], number: int) -> tuple[WorstClass, ...]:
    """The classes about whose members an attacker is right most often, the smallest first among equals."""
    risks = 1 / np.maximum(classes.sizes, 1)
    for name in sensitive:
        risks = np.maximum(risks, largest_share(classes.distributions[name,]))
    chosen = first_classes(classes, classes.released, [-risks, classes.sizes], number)
    return tuple(_worst_class(classes, sensitive, index, float(risks[index])) for index in chosen.tolist())


def _worst_class(classes: Classes, sensitive: Sequence[str], index: int, risk: float) -> WorstClass:
    values: dict[str, dict[str, int]] = {}
    others: dict[str, int] = {}
    for name in sensitive:
        distribution = classes.distributions[name,]
        entries = sorted(entries_of(distribution, index), key=lambda entry: (-entry[1], entry[0]))
        labels = distribution.column.labels
        values[name] = {labels[code]: count for code, count in entries[:SHOWN_VALUES]}
        others[name] = max(len(entries) - SHOWN_VALUES, 0)
    return WorstClass(classes.labels(index), int(classes.sizes[index]), risk, values, others)


def _verdict(classes: Classes, part: Model) -> ModelVerdict:
    """Whether a table meets one part of a model without any suppression."""
    kept, before = part.keep(classes, classes.released), classes.released
    while not np.array_equal(kept, before):  # a model on the whole table looks again at what is left
        kept, before = part.keep(classes, kept), kept
    violating = classes.released & ~kept
    return ModelVerdict(
        model=part,
        value=part.value(classes, classes.released),
        holds=not violating.any() and not part.irreparable(classes),
        violating_classes=int(np.count_nonzero(violating)),
        violating_rows=int(classes.sizes[violating].sum()),
    )
