"""What a release writes in place of values names nobody: periods, intervals, what is joined, `*` and `other`."""

from __future__ import annotations

import datetime
import random

import pyarrow as pa
import pytest

from tarnkappe.errors import TarnkappeError
from tarnkappe.hierarchy import BUILDERS, Builder, Masking
from tarnkappe.risk.identifiers import find_alarms, propose_roles
from tarnkappe.table import Role, Table

DRAW = random.Random(1)
FIRST = datetime.date(1940, 1, 1)
VALUES = {
    "ages": [DRAW.randint(0, 99) for _ in range(200)],
    "amounts": [DRAW.randint(1000, 900_000) for _ in range(200)],
    "decimals": [round(DRAW.gauss(50, 20), 2) for _ in range(200)],
    "births": [FIRST + datetime.timedelta(days=DRAW.randint(0, 25_000)) for _ in range(200)],
    "days": [datetime.date(2023, 5, 1) + datetime.timedelta(days=n % 30) for n in range(200)],
    "times": [datetime.datetime(2023, 5, 1) + datetime.timedelta(minutes=7 * n) for n in range(200)],
    "days as text": [f"2023-05-{1 + n % 28:02}" for n in range(200)],
    "words": [DRAW.choice(["flu", "asthma", "gout", "stroke", "pain", "stress"]) for _ in range(200)],
    "postcodes": [f"{DRAW.randint(1000, 99_999):05}" for _ in range(200)],
    "diagnoses": [
        f"{DRAW.choice('CEFIJKM')}{DRAW.randrange(10, 99)}.{DRAW.randrange(10)}" for _ in range(200)
    ],
    "countries": [DRAW.choice(["Austria", "Germany", "France", "Kenya", "Japan"]) for _ in range(200)],
    "ranges": [DRAW.choice(["18-29", "30-44", "45-60", "> 60"]) for _ in range(200)],
    "answers": [DRAW.choice(["never", "rarely", "sometimes", "often", "always"]) for _ in range(200)],
}
WRITTEN = [each for kind in BUILDERS for each in kind.examples() if not isinstance(each, Masking)]


@pytest.mark.parametrize("builder", WRITTEN, ids=str)
@pytest.mark.parametrize("kind", VALUES)
def test_labels_of_hierarchies_are_no_identifiers(kind: str, builder: Builder) -> None:
    try:
        hierarchy = builder.build(pa.array(VALUES[kind]))
    except TarnkappeError:
        return  # the builder is not made for such values
    values = set(hierarchy.values)
    for level in range(1, hierarchy.height + 1):
        written = [hierarchy.label(value, level) for value in hierarchy.values]
        labels = [label for label in written if label not in values]  # values that were kept are no labels
        for header in ("x", "when", "date"):
            [column] = propose_roles(Table(pa.table({header: pa.array(labels * 5, pa.string())})))
            shown = [each for each in column.findings if each.role is Role.IDENTIFIER]
            assert shown == [], (level, labels[:3])


JOINED = {
    "days": lambda a, b: f"[2023-05-{a:02}, 2023-05-{b:02}]",
    "months": lambda a, b: f"[2023-{1 + a % 12:02}, 2024-{1 + b % 12:02}]",
    "quarters": lambda a, b: f"[20{a:02}-Q1, 20{b:02}-Q3]",
    "times": lambda a, b: f"[2023-05-{a:02} 10:33, 2023-05-{b:02} 11:10]",
    "hours": lambda a, b: f"2023-05-{a:02} {b % 24:02}h",
    "days to days": lambda a, b: f"2023-05-{a:02} to 2023-05-{b:02}",
    "German days": lambda a, b: f"[{a:02}.05.2023, {b:02}.05.2023]",
    "sets of days": lambda a, b: f"{{2023-05-{a:02}, 2023-05-{b:02}}}",
    "numbers": lambda a, b: f"[{5 * a}, {5 * b})",
    "runs": lambda a, b: f"{5 * a}-{5 * b + 4}",
}


@pytest.mark.parametrize("others", [[], ["*"] * 40, ["other"] * 9], ids=["alone", "stars", "other"])
@pytest.mark.parametrize("header", ["when", "x", "door", "visit"])
@pytest.mark.parametrize("kind", JOINED)
def test_joined_labels_are_no_identifiers(kind: str, header: str, others: list[str]) -> None:
    draw = random.Random(2)
    labels = [JOINED[kind](a, a + draw.randint(1, 3)) for a in (draw.randint(1, 25) for _ in range(120))]
    table = Table(pa.table({header: [*labels, *others]}))
    assert [column.role for column in propose_roles(table)] == [Role.QUASI_IDENTIFIER]
    for role in (Role.QUASI_IDENTIFIER, Role.INSENSITIVE):
        assert find_alarms(table.with_roles({header: role}), [header]) == ()


def test_codes_of_two_numbers_and_days_in_texts_are_no_labels() -> None:
    draw = random.Random(3)
    codes = [f"{draw.randint(1000, 4999)}-{draw.randint(5000, 9999)}" for _ in range(100)]
    cases = [f"{n:04}-2023" for n in range(100, 200)]
    texts = [f"from 2023-05-{1 + n % 28:02} on" for n in range(100)]
    for cells in (codes, cases, texts):
        assert [each.role for each in propose_roles(Table(pa.table({"x": cells})))] == [Role.IDENTIFIER]
