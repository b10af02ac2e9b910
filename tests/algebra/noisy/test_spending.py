"""What a query costs: everything that is drawn is paid for, and what no epsilon describes is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tarnkappe.algebra.calibration import calibrated
from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.algebra.noisy.spending import spending
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.state import Budgets, Store

TABLES = {"t": ("plz", "hiv", "c"), "s": ("plz", "hiv", "c"), "u": ("x", "y")}
COIN = Static({"yes": Fraction(1, 2), "no": Fraction(1, 2)})
NOISE = {"hiv": COIN, "c": COIN, "plz": Dynamic({"1": {"1": Fraction(1)}})}
LN3 = 1.0986122886681098
"""The epsilon of two coins."""


def costs(text: str) -> dict[str, float]:
    plan = read_sql(text, TABLES, probability_of=calibrated(NOISE)).plan
    return {table: round(float(epsilon), 6) for table, epsilon in spending(plan, NOISE).items()}


HALF = "randomize({}, probability => {{hiv: 0.5}})"
ONE = round(LN3, 6)
TWO = round(2 * LN3, 6)
T = HALF.format("t")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM t", {}),
        (f"SELECT hiv FROM {T}", {"t": ONE}),
        (f"SELECT hiv FROM {T} UNION ALL SELECT hiv FROM {T}", {"t": TWO}),
        (f"SELECT hiv, again FROM {T} NATURAL JOIN (SELECT plz, hiv AS again FROM {T})", {"t": TWO}),
        ("SELECT hiv FROM randomize(t, probability => {hiv: 0.5, c: 0.5})", {"t": TWO}),
        (
            f"SELECT hiv FROM {HALF.format('(SELECT * FROM t UNION ALL SELECT * FROM s)')}",
            {"t": ONE, "s": ONE},
        ),
        (f"SELECT hiv FROM {HALF.format('(SELECT * FROM t UNION ALL SELECT * FROM t)')}", {"t": TWO}),
        (f"SELECT hiv FROM {HALF.format('(SELECT * FROM t WHERE plz > 1)')}", {"t": ONE}),
        (f"SELECT hiv FROM {T} WHERE hiv = 'yes'", {"t": ONE}),
        ("SELECT hiv FROM randomize(t, probability => {hiv: 0})", {}),
        ("SELECT hiv FROM randomize(t, probability => {hiv: 1})", {"t": 0.0}),
        ("SELECT noisy_count(*, epsilon => 1/2) AS n FROM t", {"t": 0.5}),
        (
            "SELECT noisy_count(*, epsilon => 1/2) AS n, noisy_count(hiv, epsilon => 1) AS m FROM t",
            {"t": 1.5},
        ),
        ("SELECT plz, noisy_count(*, epsilon => 1) AS n FROM t GROUP BY plz", {"t": 1.0}),
        (
            "SELECT noisy_count(*, epsilon => 1) AS n FROM (SELECT * FROM t UNION ALL SELECT * FROM s)",
            {"t": 1, "s": 1},
        ),
        (
            "SELECT noisy_count(*, epsilon => 1) AS n FROM (SELECT hiv FROM t EXCEPT ALL SELECT hiv FROM s)",
            {"t": 1, "s": 1},
        ),
        (f"SELECT noisy_count(*, epsilon => 1) AS n FROM {T}", {"t": round(1 + LN3, 6)}),
    ],
)
def test_everything_that_is_drawn_is_paid_for(text: str, expected: dict[str, float]) -> None:
    assert costs(text) == expected


def test_an_epsilon_that_was_asked_for_is_never_exceeded() -> None:
    for epsilon in ("0.1", "1", "2", "7.3"):
        found = costs(f"SELECT hiv FROM randomize(t, epsilon => {{hiv: {epsilon}}})")["t"]
        assert float(epsilon) - 1e-5 < found <= float(epsilon)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("randomize(t, probability => {plz: 0.5})", "depends on the old value"),
        (HALF.format("(SELECT * FROM t WHERE hiv = 'yes')"), "Rows are chosen by 'hiv' before the noise"),
        (HALF.format("(SELECT plz, c AS hiv FROM t WHERE c = 'yes')"), "Rows are chosen by 'c'"),
        (HALF.format("(SELECT DISTINCT hiv FROM t)"), "Projection"),
        (HALF.format("(SELECT hiv FROM t INTERSECT ALL SELECT hiv FROM s)"), "Intersection"),
        (HALF.format("(SELECT hiv, x FROM t CROSS JOIN u)"), "multiply others"),
        (HALF.format("generalize(t, k => 2, by => [hiv])"), "Generalization"),
        (HALF.format("slice(t, groups => [[hiv], [c, plz]])"), "Slicing"),
    ],
)
def test_what_no_epsilon_describes_is_refused(source: str, reason: str) -> None:
    """The attacker puts a question below the noise that tells what the noise is to hide."""
    with pytest.raises(ParameterError, match=reason):
        costs(f"SELECT * FROM {source}")


def test_the_averaging_attacker_is_stopped_by_his_budget() -> None:
    """He asks the same randomized question until the noise averages out; three answers are all he gets."""
    budgets = Budgets(Store.in_memory())
    budgets.grant("eve", "t", Fraction(4))
    plan = read_sql(f"SELECT hiv FROM {T}", TABLES).plan
    answers = 0

    def ask_for_ever() -> None:
        nonlocal answers
        while True:
            budgets.spend_all("eve", spending(plan, NOISE))
            answers += 1

    with pytest.raises(AccessError, match="does not suffice"):
        ask_for_ever()
    assert answers == 3
