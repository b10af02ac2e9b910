"""A crash at any statement loses no decision, releases nothing twice and leaves nothing half done."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError
from tarnkappe.exchange.desk import RequestState, RequestWorkflow
from tarnkappe.state import Store
from tests.exchange.scenes import request
from tests.exchange.test_desk import decide, desk


class PowerFailure(BaseException):
    """Nothing that code could handle."""


@contextmanager
def power_failing(at: RequestWorkflow, statement: int) -> Iterator[None]:
    """The power fails before one of the statements that the store runs."""
    seen = [0]

    def count(*_: object) -> None:
        seen[0] += 1
        if seen[0] == statement:
            raise PowerFailure

    sa.event.listen(at.store.engine, "before_cursor_execute", count)
    try:
        yield
    finally:
        sa.event.remove(at.store.engine, "before_cursor_execute", count)


def every_crash(
    prepared: Path,
    tmp_path: Path,
    act: Callable[[RequestWorkflow], object],
    verify: Callable[[RequestWorkflow], None],
) -> int:
    """Crash at every statement of an action, do it again after a restart, and verify; how often."""
    for statement in itertools.count(1):
        place = tmp_path / "crashing.db"
        shutil.copy(prepared, place)
        at = desk(Store.open(place))
        try:
            with power_failing(at, statement):
                act(at)
            crashed = False
        except PowerFailure:
            crashed = True
            at.store.close()
            at = desk(Store.open(place))
            with suppress(AccessError):  # it may have been done before the power failed
                act(at)
        verify(at)
        at.store.close()
        if not crashed:
            return statement - 1
    raise AssertionError


@pytest.fixture
def half_agreed(tmp_path: Path) -> Path:
    at, sent = desk(Store.open(tmp_path / "half.db")), request()
    at.receive(sent)
    at.check(sent.digest, "Stew")
    decide(at, sent.digest, "Ann")
    at.store.close()
    return tmp_path / "half.db"


def test_the_last_decision_releases_once_or_not_at_all(half_agreed: Path, tmp_path: Path) -> None:
    digest = request().digest

    def verify(at: RequestWorkflow) -> None:
        assert at.state(digest) is RequestState.ACCEPTED
        assert len(at.register.disclosures("P01")) == 1
        decided = [entry for entry in at.log.entries() if entry.event == "decided"]
        assert [entry.details["by"] for entry in decided] == ["Ann", "Cleo"]
        at.log.verify()
        assert at.answer(digest, "A").package is not None

    assert every_crash(half_agreed, tmp_path, lambda at: decide(at, digest, "Cleo"), verify) > 15


def test_a_confirmation_and_a_withdrawal_are_whole(half_agreed: Path, tmp_path: Path) -> None:
    digest = request().digest
    at = desk(Store.open(half_agreed))
    decide(at, digest, "Cleo")
    at.store.close()
    fetched = tmp_path / "fetched.db"
    shutil.copy(half_agreed, fetched)
    at = desk(Store.open(fetched))
    at.answer(digest, "A")
    at.store.close()

    def confirmed(after: RequestWorkflow) -> None:
        assert after.state(digest) is RequestState.DELIVERED
        assert [entry.event for entry in after.log.entries()].count("answer delivered") == 1

    def withdrawn(after: RequestWorkflow) -> None:
        assert after.state(digest) is RequestState.RECEIVED
        assert after.register.disclosures("P02") == []
        assert [entry.event for entry in after.log.entries()].count("a patient withdrew") == 1

    def sent(after: RequestWorkflow) -> None:
        assert after.state(digest) is RequestState.SENT
        told = [entry.details["again"] for entry in after.log.entries() if entry.event == "answer sent"]
        assert told[0] is False
        assert after.withdraw_patient("P01") == []

    assert every_crash(half_agreed, tmp_path, lambda at: at.answer(digest, "A"), sent) > 5
    assert every_crash(fetched, tmp_path, lambda at: at.confirm(digest, "A"), confirmed) > 3
    assert every_crash(half_agreed, tmp_path, lambda at: at.withdraw_patient("P01"), withdrawn) > 5
