"""The audit: a whole and sound log passes; anything else does not, and the audit says what is wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import GuaranteeError, VerificationError
from tarnkappe.gate.answer import Block, HistoryEntry
from tarnkappe.gate.audit import audit
from tarnkappe.gate.history_store import ANSWERS, HistoryStore
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.store import Store
from tests.gate.clinic import between, keeper, policy, write


@pytest.fixture
def answered(tmp_path: Path) -> tuple[GatePolicy, Store]:
    write(tmp_path / "t.parquet")
    told = policy(tmp_path, two=True)
    one = keeper(told)
    for low, high in ((20, 22), (21, 24), (20, 28), (25, 25)):
        one.answer("ann", between(low, high, ("disease", "pay")))
    one.close()
    return told, Store.open(told.store)


def logged(policy: GatePolicy, *entries: HistoryEntry) -> Store:
    store = Store.in_memory()
    for number, entry in enumerate(entries, start=1):
        HistoryStore(store).add("everyone", "disease", number, entry)
    return store


def test_a_sound_log_is_proven(answered: tuple[GatePolicy, Store]) -> None:
    told, store = answered
    seen: list[str] = []
    found = audit(told, store, AuditLog(store).head, seen.append)
    assert [(one.column, one.answers, one.people, one.k) for one in found] == [
        ("disease", 4, 9, 2),
        ("pay", 4, 9, 2),
    ]
    assert all(one.witnesses >= 2 and 0 < one.artificial < one.values for one in found)
    assert seen == ["disease, as seen by everyone", "pay, as seen by everyone"]


def test_it_needs_neither_the_table_nor_what_the_strategy_kept(answered: tuple[GatePolicy, Store]) -> None:
    told, store = answered
    Path(told.source).unlink()
    with store.writing() as connection:
        connection.execute(sa.text("DELETE FROM gate_states"))
    assert len(audit(told, store)) == 2


def test_a_changed_answer_is_noticed(answered: tuple[GatePolicy, Store]) -> None:
    told, store = answered
    with store.writing() as connection:
        connection.execute(sa.update(ANSWERS).where(ANSWERS.c.number == 2).values(entry=b"x"))
    with pytest.raises(VerificationError, match="2 were changed or are missing, 0 were put in"):
        audit(told, store)


def test_a_missing_answer_is_noticed(answered: tuple[GatePolicy, Store]) -> None:
    told, store = answered
    with store.writing() as connection:
        connection.execute(sa.delete(ANSWERS).where(ANSWERS.c.number == 4))
    with pytest.raises(VerificationError, match="2 were changed or are missing"):
        audit(told, store)
    with pytest.raises(VerificationError, match="its end was cut off"):
        audit(told, Store.in_memory(), AuditLog(store).head)


A, B = ("a", "Asthma"), ("b", "Cholera")


def test_a_disclosure_is_found_and_nobody_is_named(tmp_path: Path) -> None:
    naive = policy(tmp_path, accept_leak_through=["minimal-values"])
    store = logged(
        naive,
        HistoryEntry((A, B), (Block(("a", "b"), ("Asthma", "Cholera")),)),
        HistoryEntry((("c", "Flu"),), (Block(("b", "c"), ("Cholera", "Flu")),)),
    )
    with pytest.raises(GuaranteeError, match="not everybody keeps 2 possible values: 3 keep 1") as error:
        audit(naive, store)
    assert "Cholera" not in str(error.value)


def test_an_answer_that_the_policy_would_not_give_is_found(tmp_path: Path) -> None:
    closed = policy(tmp_path)
    bare = HistoryEntry((A, B), (Block(("a", "b"), ("Asthma", "Cholera")),))
    with pytest.raises(VerificationError, match="answer 1 has fewer artificial values"):
        audit(closed, logged(closed, bare))
    lacking = HistoryEntry((A, B), (Block(("a", "b"), ("Asthma", "Flu", "Flu", "Flu")),))
    with pytest.raises(VerificationError, match="answer 1 lacks values that its people have"):
        audit(closed, logged(closed, lacking))
    unknown = HistoryEntry((A,), (Block(("a", "b"), ("Asthma", "Flu", "Flu", "Flu")),))
    with pytest.raises(VerificationError, match="never noted"):
        audit(closed, logged(closed, unknown))
    with pytest.raises(VerificationError, match="does not protect the column 'disease'"):
        audit(
            dataclasses.replace(closed, sensitive=policy(tmp_path, two=True).sensitive[1:]),
            logged(closed, bare),
        )


def test_values_that_nobody_can_have_are_found(tmp_path: Path) -> None:
    closed = policy(tmp_path, surplus={"least": 1, "share": 0})
    first = HistoryEntry((A, B), (Block(("a", "b"), ("Asthma", "Cholera", "Cholera")),))
    second = HistoryEntry((), (Block(("a", "b"), ("Asthma", "Cholera", "Flu")),))
    with pytest.raises(VerificationError, match="answer 2 has values that nobody in it can have"):
        audit(closed, logged(closed, first, second))


def test_an_answer_that_should_have_been_refused_is_found(tmp_path: Path) -> None:
    refusing = policy(tmp_path, on_violation="refuse")
    people = tuple((f"p{i}", "ABCD"[i % 4]) for i in range(12))
    everybody = HistoryEntry(people, (Block(tuple(p for p, _ in people), tuple(v for _, v in people)),))
    small = HistoryEntry((), (Block(("p0", "p1"), ("A", "B")),))
    assert audit(refusing, logged(refusing, everybody))[0].answers == 1
    with pytest.raises(VerificationError, match="answer 2 should have been refused"):
        audit(refusing, logged(refusing, everybody, small))


def test_what_is_alike_and_what_is_far_is_looked_at(tmp_path: Path) -> None:
    closed = policy(tmp_path, surplus={"least": 0, "share": 0})
    entry = HistoryEntry((A, B), (Block(("a", "b"), ("Asthma", "Cholera")),))
    column = closed.sensitive[0]
    alike = dataclasses.replace(column, alike=(frozenset({"Asthma", "Cholera"}),))
    with pytest.raises(GuaranteeError, match="somebody keeps 1 values that are unlike"):
        audit(dataclasses.replace(closed, sensitive=(alike,)), logged(closed, entry))
    skewed = HistoryEntry(
        (A, B, ("c", "Asthma"), ("d", "Asthma")),
        (Block(("a", "b"), ("Asthma", "Cholera")), Block(("c", "d"), ("Asthma", "Asthma", "Cholera"))),
    )
    near = dataclasses.replace(column, closeness=0.2)
    with pytest.raises(GuaranteeError, match=r"0\.250 from those of all, more than 0\.2"):
        audit(dataclasses.replace(closed, sensitive=(near,)), logged(closed, skewed))
