"""No sequence of events gets a package out without the decisions that the policy asks for (checklist 38)."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tarnkappe.errors import AccessError
from tarnkappe.exchange.desk import State
from tarnkappe.exchange.desk.states import TRANSITIONS, Event, after
from tests.exchange.scenes import FIXTURE, request
from tests.exchange.test_desk import KEYS, decide, desk


def test_every_event_that_is_not_listed_is_refused() -> None:
    for state in State:
        for event in Event:
            try:
                assert after(state, event) is TRANSITIONS[state, event]
            except AccessError:
                assert (state, event) not in TRANSITIONS
    final = {state for state in State if not any(state is start for start, _ in TRANSITIONS)}
    assert final == {State.DELIVERED, State.WITHDRAWN, State.EXPIRED}
    ways = {start for (start, _), end in TRANSITIONS.items() if end is State.ACCEPTED}
    assert ways == {State.CHECKED, State.HALF_AGREED}


class Exchange(RuleBasedStateMachine):
    """Everybody does what he can at any time; a plain model knows what each request has."""

    def __init__(self) -> None:
        super().__init__()
        policy = {"thresholds": {**FIXTURE["policy"]["thresholds"], "base": 6}}
        self.desk = desk(four_eyes=["research"], **policy)
        self.sent = request()
        self.digest = self.sent.digest
        self.agreed: set[str] = set()
        self.withdrawn: set[str] = set()
        self.answered: bytes | None = None

    @initialize()
    def begin(self) -> None:
        self.receive()

    @rule()
    def receive(self) -> None:
        self.desk.receive(self.sent)

    @rule()
    def check_and_agree(self) -> None:
        self.check()
        for person in ("Ann", "Cleo"):
            self.decide(person, accepts=True)

    @rule()
    def check(self) -> None:
        try:
            self.desk.check(self.digest, "Stew")
        except AccessError:
            return
        self.agreed = set()

    @rule(person=st.sampled_from([*KEYS]), accepts=st.booleans())
    def decide(self, person: str, accepts: bool) -> None:
        try:
            decide(self.desk, self.digest, person, accepts)
        except AccessError:
            return
        self.agreed = self.agreed | {person} if accepts else set()

    @rule(patient=st.sampled_from(["P01", "P07"]))
    def withdraw_patient(self, patient: str) -> None:
        if self.digest in self.desk.withdraw_patient(patient):
            self.agreed = set()
        self.withdrawn.add(patient)

    @rule()
    def withdraw_request(self) -> None:
        with contextlib.suppress(AccessError):
            self.desk.withdraw_request(self.digest, "A")

    @rule()
    def expire(self) -> None:
        self.desk.expire(datetime.now(UTC) + timedelta(days=1))

    @rule(who=st.sampled_from(["A", "A", "C"]))
    def fetch(self, who: str) -> None:
        try:
            answer = self.desk.answer(self.digest, who)
        except AccessError:
            return
        assert who == "A"
        if answer.package is not None:
            assert len(self.agreed) == 2, "a package left without two people's decisions"
            assert self.agreed & {"Ann", "Bea"}, "and without a physician's"
            told = {p for p in ("P01", "P07") if self.desk.register.disclosures(p)}
            assert not told & self.withdrawn, "somebody who withdrew before is in it"

    @rule()
    def confirm(self) -> None:
        with contextlib.suppress(AccessError):
            self.desk.confirm(self.digest, "A")

    @invariant()
    def the_log_is_whole(self) -> None:
        self.desk.log.verify()


Exchange.TestCase.settings = settings(max_examples=4, stateful_step_count=12)
TestExchange = Exchange.TestCase
