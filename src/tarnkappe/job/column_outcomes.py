"""What becomes of every column of the input: withheld, changed or released as it is. By names only."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tarnkappe.privacy import Model, needed_distributions
from tarnkappe.table import Role, Table

if TYPE_CHECKING:
    from tarnkappe.job.result import Result

NO_ROLE = "no role was given"
NAMES_PEOPLE = "identifier"


@dataclasses.dataclass(frozen=True)
class ColumnOutcomes:
    """What becomes of the columns, each with the reason or the promise that covers it.

    Attributes:
        withheld: those that are not in the release, and why.
        changed: those whose values are generalized, aggregated or suppressed, and how.
        unchanged: those that are released as they are, with their role and what protects them.
        unprotected: sensitive columns that no model names.
    """

    withheld: Mapping[str, str]
    changed: Mapping[str, str]
    unchanged: Mapping[str, str]
    unprotected: tuple[str, ...]

    @property
    def unstated(self) -> tuple[str, ...]:
        """The columns that are withheld because nobody said what they are."""
        return tuple(name for name, why in self.withheld.items() if why == NO_ROLE)

    @property
    def lines(self) -> list[str]:
        """The outcomes in words, one line each, without those of no column."""
        told = (
            ("withheld", self.withheld),
            ("changed", self.changed),
            ("released as they are", self.unchanged),
        )
        lines = [f"{what}: {_listed(columns)}" for what, columns in told if columns]
        return [*lines, *([self.warning] if self.warning else [])]

    @property
    def warning(self) -> str:
        """What a reader must not overlook, or nothing."""
        if not self.unprotected:
            return ""
        return f"NOT PROTECTED: {', '.join(self.unprotected)} (sensitive, no promise)"

    @property
    def advice(self) -> str:
        """What to do if a column should not have been withheld, or nothing."""
        if not self.unstated:
            return ""
        return (
            f"withheld: {', '.join(self.unstated)} ({NO_ROLE}). To publish one as it is: --publish COLUMN, "
            'or [columns.COLUMN] with role = "insensitive"'
        )

    def to_dict(self) -> dict[str, Any]:
        """The outcomes, for JSON."""
        return {
            "withheld": dict(self.withheld),
            "changed": dict(self.changed),
            "released_as_they_are": dict(self.unchanged),
            "not_protected": list(self.unprotected),
        }


def column_outcomes(result: Result) -> ColumnOutcomes:
    """What became of the columns of a result."""
    table, models = result.input, result.problem.models
    changed = {name: how for name in table.quasi_identifiers if (how := _changed(result, name))}
    for each in result.perturbed:
        for name in each.perturbation.columns:
            if name in table.published:
                told = [changed[name]] if name in changed else []
                changed[name] = ", ".join([*told, f"perturbed by {each.perturbation.name}"])
    further = () if result.further is None else result.further.columns
    for name in further:
        assert result.further is not None
        changed[name] = result.further.outcome(result.release, name)
    covered = _promises(models)
    unchanged = {}
    for name in table.published:
        if name not in changed:
            unchanged[name] = _kept(table.roles[name], covered.get(name, ()))
    withheld = {
        name: NO_ROLE if table.roles[name] is Role.UNSTATED else NAMES_PEOPLE
        for name in table.column_names
        if name not in table.published
    }
    return ColumnOutcomes(withheld, changed, unchanged, unprotected(table, models, further))


def unprotected(table: Table, models: Sequence[Model], further: Sequence[str] = ()) -> tuple[str, ...]:
    """The sensitive columns of a table that no model names, and that are not partly suppressed."""
    return unprotected_plans(table.roles.items(), models, further)


def unprotected_plans(
    roles: Iterable[tuple[str, Role]], models: Sequence[Model], further: Sequence[str] = ()
) -> tuple[str, ...]:
    """The sensitive columns of a plan that no model names, and that are not partly suppressed."""
    covered = {*_promises(models), *further}
    return tuple(name for name, role in roles if role is Role.SENSITIVE and name not in covered)


def _promises(models: Sequence[Model]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for model in models:
        for name in dict.fromkeys(name for names in needed_distributions([model]) for name in names):
            found.setdefault(name, []).append(str(model))
    return found


def _kept(role: Role, promises: Sequence[str]) -> str:
    if role is Role.SENSITIVE:
        return f"sensitive: {', '.join(promises) or 'no promise'}"
    return "quasi-identifier, unchanged" if role is Role.QUASI_IDENTIFIER else "insensitive, as the job says"


def _changed(result: Result, name: str) -> str:
    """How the values of a quasi-identifier were changed; nothing if they were not."""
    if not result.generalizes:
        return ""
    if name in result.treatment.suppressed:
        return "suppressed"
    if name in result.aggregates:
        return str(result.aggregates[name].function)
    if not result.passes:
        return f"recoded by {result.solution.algorithm}"
    levels = sorted({each.levels[name] for each in result.passes})
    if levels == [0]:
        return "'*' in suppressed rows" if result.starred else ""
    return f"level {' and '.join(map(str, levels))}"


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({why})" for name, why in columns.items())
