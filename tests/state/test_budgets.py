"""Budgets on both databases: they add up exactly, and neither a crash nor a crowd spends more than there is."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.state import AuditLog, Budgets, Store


def test_what_is_spent_adds_up_without_rounding(store: Store) -> None:
    budgets = Budgets(store)
    budgets.grant("ann", "patients", Fraction(1))
    for _ in range(10):
        budgets.spend("ann", "patients", Fraction(1, 10))
    assert budgets.spend("ann", "patients", Fraction(0)).left == 0
    with pytest.raises(AccessError, match=r"0 is left, and the query costs 1e-09"):
        budgets.spend("ann", "patients", Fraction(1, 10**12))


def test_a_budget_is_one_user_s_for_one_table(store: Store) -> None:
    budgets = Budgets(store)
    budgets.grant("ann", "patients", Fraction(1))
    for user, table in (("bob", "patients"), ("ann", "visits")):
        with pytest.raises(AccessError, match="no privacy budget"):
            budgets.spend(user, table, Fraction(1, 2))
    assert budgets.spend("ann", "patients", Fraction(1)).left == 0
    assert budgets.of("bob", "patients") is None


def test_a_query_over_several_tables_pays_on_all_or_on_none(store: Store) -> None:
    budgets = Budgets(store)
    budgets.grant("ann", "a", Fraction(2))
    budgets.grant("ann", "b", Fraction(1))
    with pytest.raises(AccessError, match="'b'"):
        budgets.spend_all("ann", {"a": Fraction(1), "b": Fraction(3, 2)})
    assert [(b.table, b.spent) for b in budgets.all()] == [("a", 0), ("b", 0)]
    assert AuditLog(store).verify() == 2
    left = budgets.spend_all("ann", {"a": Fraction(1), "b": Fraction(1)})
    assert {table: budget.left for table, budget in left.items()} == {"a": 1, "b": 0}


def test_a_new_grant_does_not_forget_what_is_spent(store: Store) -> None:
    budgets = Budgets(store)
    budgets.grant("ann", "a", Fraction(1))
    budgets.spend("ann", "a", Fraction(1))
    budgets.grant("ann", "a", Fraction(1))
    with pytest.raises(AccessError):
        budgets.spend("ann", "a", Fraction(1, 2))
    budgets.grant("ann", "a", Fraction(3, 2))
    assert budgets.spend("ann", "a", Fraction(1, 2)).left == 0
    assert [entry.event for entry in AuditLog(store).entries()] == [
        "budget granted",
        "budget spent",
        "budget granted",
        "budget granted",
        "budget spent",
    ]


@pytest.mark.parametrize("amount", [Fraction(-1), Fraction(10**7)])
def test_amounts_that_give_something_back_or_overflow_are_refused(amount: Fraction) -> None:
    budgets = Budgets(Store.in_memory())
    budgets.grant("ann", "a", Fraction(1))
    with pytest.raises(ParameterError):
        budgets.spend("ann", "a", amount)
    with pytest.raises(ParameterError):
        budgets.grant("ann", "a", amount)
    budget = budgets.of("ann", "a")
    assert budget is not None
    assert (budget.granted, budget.spent) == (1, 0)


def test_a_crowd_spends_no_more_than_there_is(place: str | Path) -> None:
    """An attacker asks from many connections at once, so that each sees the budget of before."""
    store = Store.open(place)
    Budgets(store).grant("eve", "a", Fraction(1))
    store.close()
    served: list[Fraction] = []
    start = threading.Barrier(8)

    def ask() -> None:
        own = Store.open(place)
        start.wait()
        for _ in range(3):
            with suppress(AccessError):
                served.append(Budgets(own).spend("eve", "a", Fraction(1, 5)).left)
        own.close()

    crowd = [threading.Thread(target=ask) for _ in range(8)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert sorted(served) == [Fraction(n, 5) for n in range(5)]


def _spend_until_killed(place: Path, answers: str) -> None:
    budgets = Budgets(Store.open(place))
    with Path(answers).open("a", buffering=1) as out:
        while True:
            budgets.spend("eve", "a", Fraction(1, 1000))
            out.write("answer\n")  # only now the answer leaves


def test_who_is_killed_has_paid_for_every_answer(tmp_path: Path) -> None:
    place, answers = tmp_path / "state.db", tmp_path / "answers"
    Budgets(Store.open(place)).grant("eve", "a", Fraction(1000))
    answers.touch()
    for _ in range(3):
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=_spend_until_killed, args=(place, str(answers)))
        process.start()
        before = answers.stat().st_size
        while answers.stat().st_size <= before + 20:
            process.join(0.01)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    store = Store.open(place)
    budget = Budgets(store).of("eve", "a")
    assert budget is not None
    paid, seen = budget.spent * 1000, len(answers.read_text().splitlines())
    assert seen <= paid <= seen + 3
    assert AuditLog(store).verify() == paid + 1
