"""What a job does with one column."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from tarnkappe.errors import ColumnError, JobError, ParameterError
from tarnkappe.hierarchy import Hierarchy, Ordered
from tarnkappe.hierarchy.plan import HierarchyPlan, planned_hierarchy
from tarnkappe.loss import LOSSES, ColumnLoss, Loss
from tarnkappe.recoding import Aggregation
from tarnkappe.risk.identifiers import DETECTOR_NAMES
from tarnkappe.schema import hint_of, near, replace, shown
from tarnkappe.schema.arguments import checked, fits
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

    @classmethod
    def parse(cls, text: object) -> Unnamed:
        """The choice with this name."""
        try:
            return cls(text)  # type: ignore[arg-type]
        except (ValueError, RecursionError):  # what is nested deeply cannot even be told
            raise JobError(
                f"[columns]: unnamed is one of {', '.join(cls)}; a column of that name is written "
                '[columns."unnamed"] with a role'
            ) from None

    def apply(self, table: Table) -> Table:
        """The table with the roles that its other columns get."""
        others = table.columns_with(Role.UNSTATED)
        if not others or self is Unnamed.WITHHOLD:
            return table
        if self is Unnamed.REFUSE:
            raise ColumnError(
                f"{', '.join(others)}: no role was given, and [columns] says that every column needs one: "
                'write [columns.NAME] with role = "identifier" to leave one out'
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
        if not isinstance(self.hierarchy, Mapping) or self.hierarchy.get("builder") != Ordered.name:
            return None
        return tuple(map(str, self.hierarchy.get("order") or ())) or None

    def check(self, name: str) -> None:
        """Refuse what contradicts itself."""
        asked = {"weight": self.weight is not None, "aggregate": self.aggregate is not None}
        for key, is_asked in {**asked, "suppressed": self.suppressed}.items():
            if is_asked and self.role is not Role.QUASI_IDENTIFIER:
                raise ParameterError(f"'{name}' is no quasi-identifier: {key} has no meaning for it")
        self._check_accepted(name)
        if self.suppressed and (self.aggregate is not None or self._names_levels):
            raise ParameterError(f"'{name}' is suppressed: it can have no level and no aggregate")

    def _check_accepted(self, name: str) -> None:
        for kind, why in (self.accept or {}).items():
            if kind not in DETECTOR_NAMES:
                hint = hint_of(kind, DETECTOR_NAMES, "there are")
                raise ParameterError(f"'{name}': no detector of identifiers is called '{kind}': {hint}")
            if not why.strip():
                raise ParameterError(f"'{name}': accept says why the column names nobody, in words")


def read_column(name: str, plan: Mapping[str, Any], hierarchy: str | Mapping[str, Any] | None) -> ColumnPlan:
    """The plan of a column as a job file describes it, its hierarchy being read already."""
    limits = {key: _level(name, key, plan[key]) for key in LEVEL_KEYS if key in plan}
    suppressed = plan.get("suppressed", False)
    if not isinstance(suppressed, bool):
        raise JobError(f"[columns.{name}]: suppressed is true or false, not {suppressed!r}")
    accept = plan.get("accept")
    if accept is not None and not fits(accept, Mapping[str, str]):
        raise JobError(
            f"[columns.{name}]: accept names the detector that is wrong, and why: "
            'accept = {"e-mail" = "addresses of shops"}'
        )
    found = ColumnPlan(
        Role.parse(plan.get("role", Role.UNSTATED)),
        hierarchy,
        **limits,
        aggregate=Aggregation.parse(plan["aggregate"]) if "aggregate" in plan else None,
        suppressed=suppressed,
        accept=accept,
    )
    return found if plan.get("weight") is None else with_weight(name, found, plan["weight"])


def with_weight(name: str, plan: ColumnPlan, weight: Any) -> ColumnPlan:
    """The plan of a column whose loss counts so much."""
    if not fits(weight, float):
        raise JobError(f"[columns.{name}]: weight is a number, not {shown(weight)}")
    return dataclasses.replace(plan, weight=weight)


def weighted_plans(columns: dict[str, ColumnPlan], weights: Any) -> dict[str, ColumnPlan]:
    """The columns with the weights of [search.weights]."""
    if not isinstance(weights, Mapping):
        raise JobError("[search.weights] has a number for each column, as in age = 2")
    for name, weight in weights.items():
        if name not in columns:
            meant = near(name, list(columns))
            hint = f"did you mean '{meant[0]}'?" if meant else "name it under [columns], too"
            raise JobError(f"[search.weights]: there is no column '{name}': {hint}")
        if columns[name].weight not in (None, weight):
            raise JobError(f"[search.weights]: '{name}' has another weight under [columns]: leave one out")
        columns[name] = with_weight(name, columns[name], weight)
    return columns


def _level(column: str, key: str, level: Any) -> int:
    if not isinstance(level, int) or isinstance(level, bool) or level < 0:
        raise JobError(f"[columns.{column}]: {key} is a whole number of at least 0, not {level!r}")
    return level


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
        plans[name]._check_accepted(name)
    return plans


def published_too(table: Table, names: Iterable[str]) -> Table:
    """The table with columns that had no role, and are to be released as they are."""
    if isinstance(names, str):
        raise ParameterError(f"publish is a list of columns: write [{names!r}]")
    chosen = dict.fromkeys(table.require(name) for name in names)
    for name in chosen:
        if table.roles[name] not in (Role.UNSTATED, Role.INSENSITIVE):
            raise ColumnError(f"the column '{name}' is given two roles: {table.roles[name]} and insensitive")
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
            f"{loss.name} is not measured column by column, so columns cannot be weighed: use {able}"
        )
    for name, weight in weights.items():
        if loss.weights.get(name, weight) != weight:
            raise ParameterError(f"'{name}' has two weights, {loss.weights[name]:g} and {weight:g}")
    return replace(loss, weights={**loss.weights, **weights})
