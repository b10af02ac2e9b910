"""Who gets in: passwords, links, sessions, tokens; the attacker guesses, steals and replays."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, LoginError, NotFoundError, ParameterError
from tarnkappe.service.people import Account, Accounts, Right, ServiceRole
from tarnkappe.service.people import people as people_module
from tarnkappe.service.people.login_throttle import (
    FIRST_WAIT,
    FREE_TRIES,
    FREE_TRIES_OF_AN_ADDRESS,
    LONGEST_WAIT,
)
from tarnkappe.service.people.people import LINK_SECONDS, csrf_of
from tarnkappe.service.people.roles import RIGHTS
from tarnkappe.service.tables import METADATA
from tarnkappe.state import AuditLog, Store

PASSWORD = "correct horse battery"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store.open(tmp_path / "people.db")
    yield made
    made.close()


@pytest.fixture
def people(store: Store, clock: Clock) -> Accounts:
    made = Accounts(store, clock=clock)
    made.add("ann", ["steward"], PASSWORD)
    return made


def test_a_password_begins_a_session_that_ends_by_itself(people: Accounts, clock: Clock) -> None:
    session = people.log_in("ann", PASSWORD)
    assert people.by_session(session.secret) == people.get("ann") == session.person
    clock.now = session.expires + 1
    assert people.by_session(session.secret) is None


def test_a_wrong_name_and_a_wrong_password_look_the_same(people: Accounts) -> None:
    with pytest.raises(LoginError) as wrong_password:
        people.log_in("ann", "wrong")
    with pytest.raises(LoginError) as wrong_name:
        people.log_in("nobody", PASSWORD)
    assert str(wrong_password.value) == str(wrong_name.value)


def test_guessing_a_password_locks_the_account_longer_each_time(people: Accounts, clock: Clock) -> None:
    for _ in range(FREE_TRIES):
        with pytest.raises(LoginError, match="is wrong"):
            people.log_in("ann", "guess")
    with pytest.raises(LoginError, match="wait 30 seconds"):
        people.log_in("ann", PASSWORD)  # even the right one is not looked at
    clock.now += FIRST_WAIT + 1
    with pytest.raises(LoginError, match="is wrong"):
        people.log_in("ann", "guess")
    with pytest.raises(LoginError, match="wait 60 seconds"):
        people.log_in("ann", PASSWORD)
    clock.now += LONGEST_WAIT
    assert people.log_in("ann", PASSWORD).person.name == "ann"
    with pytest.raises(LoginError, match="is wrong"):
        people.log_in("ann", "guess")  # a right password forgives what was before


def test_a_restart_forgives_no_guess(people: Accounts, store: Store, clock: Clock) -> None:
    for _ in range(FREE_TRIES):
        with pytest.raises(LoginError):
            people.log_in("ann", "guess")
    with pytest.raises(LoginError, match="wait"):
        Accounts(store, clock=clock).log_in("ann", PASSWORD)


def test_guesses_at_the_same_moment_all_count(people: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred tries at once are five tries, not a hundred: they count before the password is looked at."""
    looked_at = []
    monkeypatch.setattr(people, "_fits", lambda *_: looked_at.append(1) and False)

    def guess() -> None:
        with pytest.raises(LoginError):
            people.log_in("ann", "guess")

    _ = people._nobody
    threads = [threading.Thread(target=guess) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(looked_at) <= FREE_TRIES


def test_one_address_does_not_try_one_password_on_everybody(
    people: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "_fits", lambda *_: False)
    for number in range(FREE_TRIES_OF_AN_ADDRESS):
        with pytest.raises(LoginError, match="is wrong"):
            people.log_in(f"user{number}", "123456", "10.0.0.1")
    with pytest.raises(LoginError, match="wait"):
        people.log_in("somebody", "123456", "10.0.0.1")
    with pytest.raises(LoginError, match="is wrong"):
        people.log_in("somebody", "123456", "10.0.0.2")


def test_a_link_works_once_and_soon(people: Accounts, clock: Clock) -> None:
    secret = people.make_link("ann")
    assert people.use_link(secret).person.name == "ann"
    with pytest.raises(LoginError):
        people.use_link(secret)
    late = people.make_link("ann")
    clock.now += LINK_SECONDS + 1
    with pytest.raises(LoginError):
        people.use_link(late)


def test_who_steals_the_store_has_no_password_no_session_and_no_token(people: Accounts, store: Store) -> None:
    session, link = people.log_in("ann", PASSWORD), people.make_link("ann")
    _, token = people.tokens.make(session.person, "nightly")
    with store.reading() as connection:
        tables = [connection.execute(sa.select(table)).all() for table in METADATA.tables.values()]
    stolen = repr(tables)
    assert not any(secret in stolen for secret in (PASSWORD, session.secret, link, token, session.csrf))


def test_a_session_that_is_shown_does_not_show_its_secret(people: Accounts) -> None:
    session = people.log_in("ann", PASSWORD)
    assert session.secret not in repr(session)
    assert csrf_of(session.secret) == session.csrf != session.secret


def test_logging_out_and_other_roles_end_sessions(people: Accounts) -> None:
    first, second = people.log_in("ann", PASSWORD), people.log_in("ann", PASSWORD)
    people.log_out(first.secret)
    assert people.by_session(first.secret) is None
    assert people.by_session(second.secret) is not None
    people.change("ann", roles=["auditor"])
    assert people.by_session(second.secret) is None


def test_a_token_has_roles_of_its_person_and_loses_them_with_her(people: Accounts, clock: Clock) -> None:
    ann = people.change("ann", roles=["steward", "auditor"])
    token, secret = people.tokens.make(ann, "nightly", ["steward"], days=1.0)
    assert people.by_token(secret) == dataclasses.replace(ann, roles=frozenset({ServiceRole.STEWARD}))
    with pytest.raises(AccessError):
        people.tokens.make(ann, "more", ["admin"])
    people.change("ann", roles=["auditor"])
    assert people.by_token(secret) == dataclasses.replace(ann, roles=frozenset())
    people.revoke(ann, token.id)
    assert people.by_token(secret) is None
    _, other = people.tokens.make(ann, "another", days=1.0)
    clock.now += 2 * 24 * 3600
    assert people.by_token(other) is None


def test_nobody_revokes_the_token_of_another(people: Accounts) -> None:
    token, _ = people.tokens.make(people.get("ann"), "nightly")
    bob = people.add("bob", ["admin"])
    with pytest.raises(NotFoundError):
        people.revoke(bob, token.id)


def test_somebody_who_is_removed_is_gone_everywhere(people: Accounts) -> None:
    session = people.log_in("ann", PASSWORD)
    _, secret = people.tokens.make(session.person, "nightly")
    people.remove("ann")
    assert people.by_session(session.secret) is None
    assert people.by_token(secret) is None
    with pytest.raises(NotFoundError):
        people.make_link("ann")


OTHER = "staple of another stable"


def at_the_same_time(
    monkeypatch: pytest.MonkeyPatch, where: Any, name: str, does: Callable[[], object]
) -> None:
    """Somebody else does something as soon as a function has returned, before its caller goes on; once."""
    waiting = [does]
    real = getattr(where, name)

    def interrupted(*given: Any) -> Any:
        found = real(*given)
        if waiting:
            waiting.pop()()
        return found

    monkeypatch.setattr(where, name, interrupted)


TAKEN_AWAY: list[Callable[[Accounts], object]] = [
    lambda people: people.change("ann", password=OTHER),
    lambda people: people.reset("ann"),
    lambda people: people.remove("ann"),
]


@pytest.mark.parametrize("take", TAKEN_AWAY)
def test_a_password_that_is_changed_while_it_is_compared_begins_no_session(
    people: Accounts, monkeypatch: pytest.MonkeyPatch, take: Callable[[Accounts], object]
) -> None:
    ann = people.get("ann")
    at_the_same_time(monkeypatch, people, "_fits", lambda: take(people))
    with pytest.raises(LoginError, match="is wrong"):
        people.log_in("ann", PASSWORD)
    assert people.sessions_of(ann) == 0


@pytest.mark.parametrize("take", TAKEN_AWAY)
def test_what_ended_while_it_was_looked_up_is_not_remembered(
    people: Accounts, monkeypatch: pytest.MonkeyPatch, take: Callable[[Accounts], object]
) -> None:
    session = people.log_in("ann", PASSWORD)
    token = people.tokens.make(session.person, "nightly")[1]
    at_the_same_time(monkeypatch, people_module, "LoginSession", lambda: take(people))
    people.by_session(session.secret)
    assert people.by_session(session.secret) is None
    assert people.by_token(token) is None


@pytest.mark.parametrize("take", TAKEN_AWAY)
def test_a_token_that_ended_while_it_was_looked_up_is_not_remembered(
    people: Accounts, monkeypatch: pytest.MonkeyPatch, take: Callable[[Accounts], object]
) -> None:
    token = people.tokens.make(people.get("ann"), "nightly")[1]
    at_the_same_time(monkeypatch, people.tokens, "find", lambda: take(people))
    people.by_token(token)
    assert people.by_token(token) is None


@pytest.mark.parametrize("take", TAKEN_AWAY)
def test_a_session_that_has_ended_makes_no_token_and_no_password(
    people: Accounts, monkeypatch: pytest.MonkeyPatch, take: Callable[[Accounts], object]
) -> None:
    session = people.log_in("ann", PASSWORD)
    at_the_same_time(monkeypatch, people, "_hash", lambda: take(people))
    with pytest.raises(LoginError, match="the session has ended"):
        people.change_own_password(session.secret, PASSWORD, "a third password")
    with pytest.raises((LoginError, AccessError)):
        people.tokens.make(session.person, "late", session=session.secret)
    with pytest.raises(LoginError):
        people.log_in("ann", "a third password")


@pytest.mark.parametrize("name", ["", "a b", "../x", "a\n", "x" * 65, "<script>"])
def test_names_are_plain(people: Accounts, name: str) -> None:
    with pytest.raises(ParameterError):
        people.add(name, ["steward"])


def test_short_passwords_and_unknown_roles_are_refused(people: Accounts) -> None:
    with pytest.raises(ParameterError, match="10 to 1000"):
        people.add("bob", ["steward"], "short")
    with pytest.raises(ParameterError, match="the roles are steward"):
        people.add("bob", ["king"])


def test_every_change_of_people_is_in_the_audit_log(people: Accounts, store: Store) -> None:
    people.add("bob", ["auditor"], by="ann")
    people.change("bob", roles=["admin"], by="ann")
    people.remove("bob", by="ann")
    log = AuditLog(store)
    log.verify()
    assert [e.event for e in log.entries()][-3:] == ["person added", "person changed", "person removed"]
    assert PASSWORD not in repr(list(log.entries()))


def test_every_right_belongs_to_some_role_and_the_error_names_it() -> None:
    for right in Right:
        assert any(right in rights for rights in RIGHTS.values())
        with pytest.raises(AccessError, match="this needs the role"):
            Account("x", frozenset()).require(right)
    admin = Account("root", frozenset({ServiceRole.ADMIN}))
    assert not admin.may(Right.PUBLISH), "who manages people does not see data"
