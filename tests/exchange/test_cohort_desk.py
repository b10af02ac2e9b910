"""A desk whose packages are made from cohorts: the same question is answered again, whoever comes or goes."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, VerificationError
from tarnkappe.exchange import Anchor, AttributeCatalogue, CheckVerdict, Institution
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.tables import COHORT_BOOK
from tarnkappe.exchange.statistics.example import CATALOGUE, patients
from tarnkappe.state import Store
from tarnkappe.table import SUPPRESSED
from tests.exchange.scenes import request, surroundings
from tests.exchange.test_desk import OWN, STAFF, accepted

HOSPITAL = patients(600, 5)


def desk(store: Store, table: pa.Table = HOSPITAL, **limits: Any) -> RequestWorkflow:
    thresholds = {"k": 5, "l": 2, "base": 20, "method": "cohorts", "wave_days": 0, **limits}
    around = surroundings(
        policy={"thresholds": thresholds},
        institution=Institution("B", table, "patient"),
        catalogue=AttributeCatalogue.from_dict(CATALOGUE),
    )
    return RequestWorkflow(store, OWN, around, STAFF)


def asked(at: RequestWorkflow, number: int, attribute: str, value: str, *wanted: str) -> Any:
    """What is recommended; what is recommended leaves."""
    sent = request(*wanted, id=str(number), anchor=Anchor(attribute, (value,)))
    at.receive(sent)
    found = at.check(sent.digest, "Stew")
    if found.package is not None:
        accepted(at, sent)
        at.answer(sent.digest, "A")
    return found


def rows(found: Any) -> Counter[Any]:
    data = found.package.release.data
    return Counter(zip(*(data.column(name).to_pylist() for name in data.column_names), strict=True))


def newcomers(number: int) -> pa.Table:
    more = patients(number, 77)
    return pa.concat_tables(
        [HOSPITAL, more.set_column(0, "patient", pa.array([f"N{n}" for n in range(number)]))]
    )


def test_overlapping_questions_all_leave_and_the_same_one_gets_the_same_rows_again() -> None:
    store = Store.in_memory()
    first = asked(desk(store), 1, "diagnosis", "back pain", "age", "sex")
    others = [
        asked(desk(store), 2, "medication", "ibuprofen", "age", "diagnosis"),
        asked(desk(store), 3, "diagnosis", "migraine", "weight", "sex"),
    ]
    assert all(found.package is not None for found in (first, *others))
    again = asked(desk(store), 4, "diagnosis", "back pain", "age", "sex")
    assert rows(again) == rows(first)


def test_after_newcomers_and_a_withdrawal_the_same_question_leaves_and_only_those_rows_differ() -> None:
    store = Store.in_memory()
    first = asked(desk(store), 1, "diagnosis", "back pain", "age", "medication")
    assert first.package is not None
    plan = desk(store).cohorts.plan()
    assert plan is not None
    ill = [
        who
        for who, own in zip(plan.who, plan.within(("diagnosis", "back pain")).tolist(), strict=True)
        if own >= 0
    ]
    desk(store).withdraw_patient(ill[0])
    second = asked(desk(store, newcomers(60)), 2, "diagnosis", "back pain", "age", "medication")
    assert second.package is not None
    after = desk(store).cohorts.plan()
    assert after is not None
    assert after.size > plan.size, "the newcomers have cohorts of their own"
    assert ill[0] not in second.patients
    gone = set(first.patients) - set(second.patients)
    cohorts = dict(zip(plan.who, plan.cohort.tolist(), strict=True))
    assert {cohorts[who] for who in gone} == {cohorts[ill[0]]}
    assert {who[0] for who in set(second.patients) - set(first.patients)} <= {"N"}
    kept = rows(first) - rows(second)
    assert kept.total() <= len(ill)
    if "medication" in second.package.release.column_names:
        assert SUPPRESSED in second.package.release.data.column("medication").to_pylist()


def test_what_may_not_be_asked_for_is_refused_without_a_number() -> None:
    store = Store.in_memory()
    hidden = asked(desk(store), 1, "diagnosis", "alcoholism", "age")
    unknown = asked(desk(store), 2, "diagnosis", "gout", "age")
    assert [found.verdict for found in (hidden, unknown)] == [CheckVerdict.REFUSE] * 2
    assert unknown.steps[-1].reply == "Too few have it to be asked for alone."
    few = desk(Store.in_memory(), HOSPITAL.slice(0, 8))
    assert asked(few, 3, "diagnosis", "back pain", "age").steps[-1].reply.startswith("Too few")


def test_cohorts_that_were_changed_or_put_back_in_the_database_are_noticed() -> None:
    store = Store.in_memory()
    asked(desk(store), 1, "diagnosis", "back pain", "age")
    with store.reading() as connection:
        old = connection.execute(sa.select(COHORT_BOOK).where(COHORT_BOOK.c.part == "plan")).one()
    assert b"back pain" not in bytes(old.content)
    asked(desk(store), 2, "diagnosis", "migraine", "age")
    with store.writing() as connection:
        here = COHORT_BOOK.c.part == "plan"
        connection.execute(sa.update(COHORT_BOOK).where(here).values(content=bytes(old.content)))
    with pytest.raises(VerificationError, match="cohorts"):
        asked(desk(store), 3, "diagnosis", "back pain", "age")


def test_cohorts_are_renewed_by_two_people_and_not_before_their_time() -> None:
    store = Store.in_memory()
    at = desk(store)
    first = asked(at, 1, "diagnosis", "back pain", "age")
    with pytest.raises(AccessError, match="two people"):
        at.cohorts.renew(["Stew"])
    with pytest.raises(AccessError, match="not before"):
        at.cohorts.renew(["Stew", "Ann"])
    later = datetime.now(UTC) + timedelta(days=800)
    assert at.cohorts.renew(["Stew", "Ann"], later) > 0
    plan = at.cohorts.plan()
    assert plan is not None
    assert (plan.epoch, plan.groups) == (2, {})
    assert first.package is not None
    assert asked(at, 2, "diagnosis", "back pain", "age").package is not None
