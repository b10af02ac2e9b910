"""What a job does with one column."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from tarnkappe.errors import ColumnError, ParameterError, Reason
from tarnkappe.hierarchy import Hierarchy, Ordered
from tarnkappe.hierarchy.plan import HierarchyPlan, planned_hierarchy
from tarnkappe.loss import LOSSES, ColumnLoss, Loss
from tarnkappe.recoding import Aggregation
from tarnkappe.risk.identifiers import DETECTOR_NAMES
from tarnkappe.schema import Problem, hint_of, replace, rule, shown
from tarnkappe.schema.arguments import checked
from tarnkappe.table import Column, Role, Table

LEVEL_KEYS = ("level", "min_level", "max_level")


class Unnamed(StrEnum):
    """What becomes of the columns that have no role."""

    WITHHOLD = "withhold"
    """They are in no release, which says so."""
    PUBLISH = "publish"
    """They are released as they are."""
    REFUSE = "refuse"
    """A table that has such a column is refused."""

    def apply(self, table: Table) -> Table:
        """The table with the roles that its other columns get."""
        others = table.columns_with(Role.UNSTATED)
        if not others or self is Unnamed.WITHHOLD:
            return table
        if self is Unnamed.REFUSE:
            raise ColumnError(
                "job.no-role-given-columns",
                "{others}: no role was given, and [columns] says that every column needs one: write "
                '[columns.NAME] with role = "identifier" to leave one out',
                others=", ".join(others),
            )
        return Table(
            table.data, {**table.roles, **dict.fromkeys(others, Role.INSENSITIVE)}, table.reading, table.frame
        )


@checked
@dataclasses.dataclass(frozen=True)
class ColumnPlan:
    """The role of one column and what is done with it.

    Attributes:
        role: what it is to an attacker; without one the column is in no release.
        hierarchy: how it generalizes: a hierarchy file, a builder, or a proposal.
        level: fixes the level of a quasi-identifier.
        min_level: the least level that may be chosen.
        max_level: the greatest.
        weight: how much the loss of the column counts; others count 1.
        aggregate: what the values of a class become instead of a label. Such a column does not form classes,
            unless it has level limits: then it forms them at a level within these.
        suppressed: whether the column is suppressed altogether.
        accept: which detectors of identifiers are wrong about the column, each with why.
    """

    role: Role = Role.UNSTATED
    hierarchy: HierarchyPlan | None = dataclasses.field(default=None, hash=False)
    level: int | None = None
    min_level: int | None = None
    max_level: int | None = None
    weight: float | None = None
    aggregate: Aggregation | None = None
    suppressed: bool = False
    accept: Mapping[str, str] | None = dataclasses.field(default=None, hash=False)

    def level_limits(self, height: int) -> tuple[int, int]:
        """The least and the greatest level that may be chosen."""
        if self.suppressed or (self.aggregate is not None and not self._names_levels):
            return height, height
        if self.level is not None:
            return self.level, self.level
        return self.min_level or 0, height if self.max_level is None else self.max_level

    @property
    def shows_cells(self) -> bool:
        """Whether cells of a quasi-identifier may be released as they are: at level 0, or as an aggregate."""
        if self.aggregate in (Aggregation.MEDIAN, Aggregation.MODE, Aggregation.INTERVAL, Aggregation.SET):
            return True
        return self.level_limits(height=1)[0] == 0

    @property
    def has_level_limits(self) -> bool:
        """Whether not every level may be chosen."""
        return self.suppressed or self.aggregate is not None or self._names_levels

    @property
    def _names_levels(self) -> bool:
        return (self.level, self.min_level, self.max_level) != (None, None, None)

    def hierarchy_for(self, column: Column) -> Hierarchy | None:
        """The hierarchy of an encoded column, read or built now."""
        return None if self.hierarchy is None else planned_hierarchy(self.hierarchy, column)

    @property
    def order(self) -> tuple[str, ...] | None:
        """The values in their order, where the builder of the hierarchy lists them."""
        if isinstance(self.hierarchy, Ordered):
            return tuple(self.hierarchy.order or ()) or None
        if not isinstance(self.hierarchy, Mapping) or self.hierarchy.get("builder") != Ordered.name:
            return None
        return tuple(map(str, self.hierarchy.get("order") or ())) or None

    def check(self, name: str) -> None:
        """Refuse what contradicts itself."""
        for problem in self.problems():
            raise ParameterError(
                "job.name-sentence", "'{name}': {sentence}", name=name, sentence=problem.sentence
            )

    def problems(self) -> Iterator[Problem]:
        """What contradicts itself."""
        asked = {"weight": self.weight is not None, "aggregate": self.aggregate is not None}
        for key, is_asked in {**asked, "suppressed": self.suppressed}.items():
            if is_asked and self.role is not Role.QUASI_IDENTIFIER:
                yield rule(
                    "job.no-quasi-identifier",
                    "it is no quasi-identifier: {key} has no meaning for it",
                    key,
                    key=key,
                )
        yield from self._wrongly_accepted()
        if self.suppressed and (self.aggregate is not None or self._names_levels):
            yield rule("job.suppressed", "it is suppressed: it can have no level and no aggregate")

    def _wrongly_accepted(self) -> Iterator[Problem]:
        for kind, why in (self.accept or {}).items():
            if kind not in DETECTOR_NAMES:
                hint = hint_of(kind, DETECTOR_NAMES, Reason("job.there-are", "there are"))
                yield rule(
                    "job.detector",
                    "no detector of identifiers is called '{kind}': {hint}",
                    "accept",
                    kind=shown(kind)[1:-1],
                    hint=hint,
                )
            if not why.strip():
                yield rule("job.accept", "accept says why the column names nobody, in words", "accept")


def plan_columns(
    table: Table,
    hierarchies: Mapping[str, Hierarchy | str | Mapping[str, Any]],
    levels: Mapping[str, int | tuple[int, int]],
    *,
    weights: Mapping[str, float] | None = None,
    aggregates: Mapping[str, str] | None = None,
    suppressed_columns: Iterable[str] = (),
    accept: Mapping[str, str | Sequence[str]] | None = None,
) -> dict[str, ColumnPlan]:
    """What is done with the columns of a table; the arguments are those of `anonymize`."""
    weights, aggregates, suppressed = weights or {}, aggregates or {}, tuple(suppressed_columns)
    accepted = {name: (kinds,) if isinstance(kinds, str) else kinds for name, kinds in (accept or {}).items()}
    plans = {}
    for name in dict.fromkeys([*hierarchies, *levels, *weights, *aggregates, *suppressed, *accepted]):
        limits = levels.get(name, (None, None))
        least, greatest = (limits, limits) if isinstance(limits, int) else limits
        plans[name] = ColumnPlan(
            table.roles[table.require(name)],
            hierarchies.get(name),
            min_level=least,
            max_level=greatest,
            weight=weights.get(name),
            aggregate=Aggregation.parse(aggregates[name]) if name in aggregates else None,
            suppressed=name in suppressed,
            accept=dict.fromkeys(accepted[name], "accepted in Python") if name in accepted else None,
        )
        for problem in plans[name]._wrongly_accepted():
            raise ParameterError(
                "job.name-sentence", "'{name}': {sentence}", name=name, sentence=problem.sentence
            )
    return plans


def published_too(table: Table, names: Iterable[str]) -> Table:
    """The table with columns that had no role, and are to be released as they are."""
    if isinstance(names, str):
        raise ParameterError(
            "job.publish-list-columns-write", "publish is a list of columns: write [{names!r}]", names=names
        )
    chosen = dict.fromkeys(table.require(name) for name in names)
    for name in chosen:
        if table.roles[name] not in (Role.UNSTATED, Role.INSENSITIVE):
            raise ColumnError(
                "job.column-given-two-roles",
                "the column '{name}' is given two roles: {roles} and insensitive",
                name=name,
                roles=table.roles[name],
            )
    return Table(
        table.data, {**table.roles, **dict.fromkeys(chosen, Role.INSENSITIVE)}, table.reading, table.frame
    )


def weigh(loss: Loss, plans: Mapping[str, ColumnPlan]) -> Loss:
    """The loss with the weights of the columns."""
    weights = {name: plan.weight for name, plan in plans.items() if plan.weight is not None}
    if not weights:
        return loss
    if not isinstance(loss, ColumnLoss):
        able = ", ".join(each.name for each in LOSSES if issubclass(each, ColumnLoss))
        raise ParameterError(
            "job.not-measured-column-column",
            "{loss} is not measured column by column, so columns cannot be weighed: use {able}",
            loss=loss.name,
            able=able,
        )
    for name, weight in weights.items():
        if loss.weights.get(name, weight) != weight:
            raise ParameterError(
                "job.two-weights",
                "'{name}' has two weights, {weights:g} and {weight:g}",
                name=name,
                weights=loss.weights[name],
                weight=weight,
            )
    return replace(loss, weights={**loss.weights, **weights})
