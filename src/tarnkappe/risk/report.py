"""What a check found: plain data that people and machines can read."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from tarnkappe.drawing import html_table
from tarnkappe.privacy import Direction, Model
from tarnkappe.risk.attacks import AttackResult
from tarnkappe.risk.identifiers import Alarm, ColumnScan, IdentifierScan
from tarnkappe.risk.measures import MeasureResult
from tarnkappe.risk.sizes import ClassSizes


@dataclasses.dataclass(frozen=True)
class MeasuredGuarantee:
    """The strongest promise of one kind that a table keeps.

    Attributes:
        key: its name in JSON.
        title: its name for a reader.
        meaning: what the value says, in a line for a lay reader.
        direction: how a value compares with a bound it keeps: `at least` means that more is safer.
        value: the worst over all classes; infinite if no bound is kept.
        worst_class: what the members of the class with that value have in common.
    """

    key: str
    title: str
    meaning: str
    direction: Direction
    value: float
    worst_class: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class SensitiveColumn:
    """What classes give away of one sensitive column.

    Attributes:
        column: its name.
        values: how many different values it has, suppressed cells not counted.
        measured: the promises that the table keeps, by key; empty if every cell is suppressed.
        recursive_c: for each l from 2, the c of recursive (c,l)-diversity: it holds for every greater c.
        given_others: the same promises when the other sensitive columns are known to the attacker too;
            empty if there are none.
    """

    column: str
    values: int
    measured: Mapping[str, MeasuredGuarantee]
    recursive_c: Mapping[int, float]
    given_others: Mapping[str, MeasuredGuarantee]

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "values": self.values,
            **{key: finite(measured.value) for key, measured in self.measured.items()},
            "recursive_c": {str(rank): finite(c) for rank, c in self.recursive_c.items()},
            "worst_class": {key: dict(measured.worst_class) for key, measured in self.measured.items()},
            "given_others": {key: finite(measured.value) for key, measured in self.given_others.items()},
        }


@dataclasses.dataclass(frozen=True)
class Presence:
    """How probable it is that a person of the population is in the table, over all classes."""

    delta_min: float
    delta_max: float


@dataclasses.dataclass(frozen=True)
class WorstClass:
    """A class whose members are badly protected.

    Attributes:
        labels: what its members have in common.
        size: how many they are.
        risk: the chance that an attacker is right about a member: about the row or a sensitive value.
        values: the most frequent values of each sensitive column, with how often they occur.
        others: how many further values of each sensitive column occur.
    """

    labels: Mapping[str, str]
    size: int
    risk: float
    values: Mapping[str, Mapping[str, int]]
    others: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class ModelVerdict:
    """Whether the table meets a model that was asked for.

    Attributes:
        model: the model.
        value: the measured value of the whole table.
        holds: whether the table as it is meets the model.
        violating_classes: the classes that would have to be suppressed.
        violating_rows: the rows in them.
    """

    model: Model
    value: float
    holds: bool
    violating_classes: int
    violating_rows: int

    def to_dict(self) -> dict[str, Any]:
        """The verdict, for JSON."""
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in self.model.parameters.items()}
        return {
            "model": self.model.name,
            **plain,
            "promise": self.model.promise,
            "value": finite(self.value),
            "holds": self.holds,
            "violating_classes": self.violating_classes,
            "violating_rows": self.violating_rows,
        }


@dataclasses.dataclass(frozen=True)
class Report:
    """Which guarantees a table has, which attacks succeed on it, and who is worst off.

    Attributes:
        quasi_identifiers: the columns that the attacker is assumed to know.
        rows: how many rows the table has.
        classes: how many different combinations of quasi-identifiers occur.
        sizes: how large the classes are; the smallest is k.
        sensitive: what is given away of each sensitive column.
        presence: what is given away of who is in the table; only if a population is known.
        attacks: what each attack achieves.
        worst: the classes whose members are worst off, the worst first.
        verdicts: whether the table meets each model that was asked for.
        measures: what each risk measure found, by its name.
        safe_harbor: the identifiers in the table, if they were looked for.
        alarms: what names people in columns that are released as they are, if it was looked for.
        proposed: the roles of the columns with their reasons, if nobody stated them.
    """

    quasi_identifiers: tuple[str, ...]
    rows: int
    classes: int
    sizes: ClassSizes
    sensitive: Mapping[str, SensitiveColumn]
    presence: Presence | None
    attacks: tuple[AttackResult, ...]
    worst: tuple[WorstClass, ...]
    verdicts: tuple[ModelVerdict, ...]
    measures: Mapping[str, MeasureResult] = dataclasses.field(default_factory=dict)
    safe_harbor: IdentifierScan | None = None
    alarms: tuple[Alarm, ...] = ()
    proposed: tuple[ColumnScan, ...] = ()

    @property
    def k(self) -> int:
        """The size of the smallest class."""
        return self.sizes.smallest

    @property
    def holds(self) -> bool:
        """Whether the table meets all models and the safe harbor rule, if asked for, and names nobody."""
        harbored = self.safe_harbor is None or self.safe_harbor.holds
        return harbored and not self.alarms and all(verdict.holds for verdict in self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON; a value that is not finite becomes null."""
        sizes = dataclasses.asdict(self.sizes)
        risk = {name: sizes.pop(name) for name in ("prosecutor_max", "prosecutor_mean")}
        sizes["quantiles"] = {str(share): size for share, size in sizes["quantiles"].items()}
        return {
            "alarms": [dataclasses.asdict(alarm) for alarm in self.alarms],
            "quasi_identifiers": list(self.quasi_identifiers),
            "rows": self.rows,
            "classes": self.classes,
            "k": self.k,
            "uniques": sizes.pop("uniques"),
            "sizes": sizes,
            "risk": risk,
            "measures": {name: found.to_dict() for name, found in self.measures.items()},
            "sensitive": {name: column.to_dict() for name, column in self.sensitive.items()},
            "presence": dataclasses.asdict(self.presence) if self.presence else None,
            "attacks": [attack.to_dict() for attack in self.attacks],
            "worst": [dataclasses.asdict(worst) for worst in self.worst],
            "models": [verdict.to_dict() for verdict in self.verdicts],
            "safe_harbor": self.safe_harbor.to_dict() if self.safe_harbor else None,
            "proposed": {column.column: column.to_dict() for column in self.proposed},
            "holds": self.holds,
        }

    def __str__(self) -> str:
        lines = [f"names people: {alarm}" for alarm in self.alarms]
        lines += [
            f"{self.rows:,} rows in {self.classes:,} classes, k = {self.k},"
            f" {self.sizes.uniques:,} rows are unique"
        ]
        for column in self.sensitive.values():
            values = ", ".join(f"{m.title} {m.value:.4g}" for m in column.measured.values())
            lines.append(f"{column.column}: {values}")
        lines += [f"{attack.title}: {attack.explanation}" for attack in self.attacks]
        lines += [f"{v.model}: {'holds' if v.holds else 'fails'} ({v.value:.4g})" for v in self.verdicts]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = [
            *(("names people", f"{alarm.column}: {alarm.reason}") for alarm in self.alarms),
            ("rows", f"{self.rows:,} in {self.classes:,} classes"),
            ("k", f"{self.k:,}"),
            ("rows that are alone with what others know", f"{self.sizes.uniques:,}"),
        ]
        facts += [
            (column.column, ", ".join(f"{m.title} {m.value:.4g}" for m in column.measured.values()))
            for column in self.sensitive.values()
        ]
        attacks = [(attack.title, attack.explanation) for attack in self.attacks]
        verdicts = [(str(v.model), "✓ holds" if v.holds else "✗ fails") for v in self.verdicts]
        return html_table(("check", ""), [*facts, *verdicts]) + html_table(("attack", ""), attacks)


def finite(number: float) -> float | None:
    """The number, or None for what JSON cannot say."""
    return number if math.isfinite(number) else None
