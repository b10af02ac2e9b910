"""The running example of the field: blood donations, with its hierarchies and noise distributions."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from tarnkappe.algebra.distribution import Rows
from tarnkappe.algebra.nodes import Relation
from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.algebra.world import World
from tarnkappe.hierarchy import Hierarchy
from tests.conftest import FIXTURES

EXAMPLES: dict[str, dict[str, Any]] = json.loads(
    (FIXTURES / "algebra" / "worked-examples.json").read_text(encoding="utf-8")
)
MONTHS = ["Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"]
LEAP_YEAR = [datetime.date(2024, 1, 1) + datetime.timedelta(days) for days in range(366)]
DAYS = [f"{day:%d.%m.}" for day in LEAP_YEAR]

DAY = Hierarchy.from_rows(
    [
        [
            f"{day:%d.%m.}",
            MONTHS[day.month - 1],
            f"Q{(day.month + 2) // 3}",
            f"S{(day.month + 5) // 6}",
            "anytime",
        ]
        for day in LEAP_YEAR
    ]
)
RHESUS = Hierarchy.from_rows([["+", "±"], ["-", "±"]])
HIERARCHIES = {"A": DAY, "C": RHESUS}

EVERY_DAY = Static({day: Fraction(1 if day == "29.02." else 4, 1461) for day in DAYS})
SHIFTS = {
    0: "0.05",
    **dict.fromkeys((1, -1), "0.20"),
    **dict.fromkeys((2, -2), "0.15"),
    **dict.fromkeys((3, -3), "0.05"),
    **dict.fromkeys((4, -4, 5, -5, 6, -6), "0.025"),
}
NEAR_DAYS = Dynamic(
    {
        day: {DAYS[(i + shift) % len(DAYS)]: Fraction(p) for shift, p in SHIFTS.items()}
        for i, day in enumerate(DAYS)
    }
)
GENOTYPES = Static(
    {
        group: Fraction(p)
        for group, p in {
            "00": "0.410",
            "A0": "0.358",
            "AA": "0.078",
            "B0": "0.102",
            "AB": "0.045",
            "BB": "0.007",
        }.items()
    }
)
RHESUS_NOISE = Static({"+": Fraction("0.85"), "-": Fraction("0.15")})
NOISE = {"A": NEAR_DAYS, "B": GENOTYPES, "C": RHESUS_NOISE}


def rows(table: Iterable[Sequence[str]]) -> Rows:
    return tuple(tuple(row) for row in table)


def base(name: str, columns: Sequence[str] | None = None) -> tuple[Relation, Rows]:
    """A base relation of the example (on some of its columns, as a figure shows it)."""
    schema = EXAMPLES[name]["schema"]
    kept = list(columns or schema)
    positions = [schema.index(column) for column in kept]
    table = tuple(tuple(row[i] for i in positions) for row in EXAMPLES[name]["rows"])
    return Relation("r", tuple(kept)), table


def world(bucket: int = 3, **relations: Rows) -> World:
    return World(relations, HIERARCHIES, NOISE, bucket)
