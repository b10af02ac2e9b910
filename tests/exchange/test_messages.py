"""Whatever a member sends is answered or refused; nothing breaks, and the desk goes on."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import TarnkappeError
from tarnkappe.exchange import DataRequest, Network, NetworkMember, Purpose
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.peer import ExchangeService
from tarnkappe.exchange.peer.witnesses import Witnesses
from tarnkappe.federation.certificates import Authority
from tarnkappe.state import AuditLog, HeadFile, Key, Seals, Signer, Store, guard
from tests.exchange.scenes import request, surroundings
from tests.exchange.test_desk import OWN, STAFF, accepted

MEMBER = Key(bytes([9]) * 32)
NETWORK = Network(
    [
        NetworkMember(name, frozenset(Purpose), bound_to_secrecy=True, public_key=Signer(key).public)
        for name, key in {"A": MEMBER, "B": OWN}.items()
    ]
)
MESSAGE = {key: value for key, value in request().to_dict().items() if key != "received"}
HONEST = request(id="honest")


class Listening:
    """A desk as a member reaches it, without the network between; it has answered one request of his."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(folder / "b.db")
        guard(self.store, Seals(OWN), HeadFile(folder / "b.head", "B", Signer(OWN)))
        self.desk = RequestWorkflow(self.store, OWN, surroundings(network=NETWORK), STAFF)
        self.answered = accepted(self.desk)
        witnesses = Witnesses(self.store, NETWORK, Signer(OWN), "B")
        credentials = Authority(folder / "certificates").issue("B")
        self.service = ExchangeService(self.desk, credentials, ("127.0.0.1", 0), None, witnesses)
        self.head = self._head(folder)

    def _head(self, folder: Path) -> dict[str, Any]:
        """What an honest member shows of his log."""
        with Store.open(folder / "a.db") as store:
            guard(store, Seals(MEMBER), HeadFile(folder / "a.head", "A", Signer(MEMBER)))
            AuditLog(store).append("something", {})
            return {**Witnesses(store, NETWORK, Signer(MEMBER), "A").shown("B", None), "cosigned": None}

    def call(self, path: str, body: bytes) -> Any:
        """The answer; nothing if it is refused. Anything else that is raised would be a failure inside."""
        with contextlib.suppress(TarnkappeError):
            return json.loads(json.dumps(self.service._serve(path, body, b"", "A")[1]))


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    found = Listening(tmp_path_factory.mktemp("desk"))
    yield found
    found.service.close()
    found.store.close()


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(["", "\x00", "\u202e", "x" * 5000, "2026-01-01", "1e999", "-1", "A", "B", "sha256"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def spoilt(draw: st.DrawFn, message: Any) -> Any:
    """A message with some of its parts gone, doubled, of another kind, or one more."""
    if draw(st.integers(0, 5)) == 0:
        return draw(PLAIN)
    if isinstance(message, dict):
        found = {key: draw(spoilt(inner)) for key, inner in message.items() if draw(st.integers(0, 11))}
        return found | (draw(st.dictionaries(st.text(max_size=5), PLAIN, max_size=1)))
    if isinstance(message, list):
        found = [draw(spoilt(inner)) for inner in message]
        return found + found[: draw(st.integers(0, 1))]
    return message


def paths(at: Listening) -> st.SearchStrategy[str]:
    actions = ["request", "state", "answer", "part", "confirm", "withdraw", "reidentify", "reidentified"]
    actions += ["statistics", "log", "", "nothing"]
    whats = ["", "head", "witness", "0", at.answered, f"{at.answered}/0", f"{at.answered}/-1", "%00"]
    return st.builds(
        lambda action, what: f"/{action}/{what}", st.sampled_from(actions), st.sampled_from(whats) | st.text()
    )


@given(st.data())
@settings(max_examples=60)
def test_no_message_of_a_member_breaks_anything(listening: Listening, data: st.DataObject) -> None:
    reidentify = {
        "request": listening.answered,
        "pseudonyms": ["x"],
        "reason": "therapy",
        "person": "Dr. Ask",
    }
    message = data.draw(st.sampled_from([MESSAGE, reidentify, listening.head]))
    body = data.draw(spoilt(message).map(lambda said: json.dumps(said).encode()) | st.binary(max_size=40))
    listening.call(data.draw(paths(listening) | st.sampled_from(["/log/head", "/log/witness"])), body)


@given(st.data())
@settings(max_examples=40)
def test_what_is_taken_of_a_spoilt_request_is_what_was_sent(
    listening: Listening, data: st.DataObject
) -> None:
    sent = data.draw(spoilt(MESSAGE))
    answer = listening.call("/request", json.dumps(sent).encode())
    if answer is None:
        return
    taken = listening.desk.request(answer["digest"])
    assert taken.digest == answer["digest"] == DataRequest.from_message(sent).digest
    assert taken.institution == "A", "in his own name only"
    listening.desk.withdraw_request(answer["digest"], "A")


def test_after_all_that_an_honest_request_is_checked(listening: Listening) -> None:
    listening.call("/log/head", json.dumps({"held": None}).encode())
    listening.call("/log/witness", json.dumps(listening.head).encode())
    for number in range(30):
        listening.call("/request", json.dumps(MESSAGE | {"id": f"n{number}", "wanted": number}).encode())
    assert listening.call("/request", json.dumps(MESSAGE | {"id": HONEST.id}).encode())["state"] == "received"
    assert listening.desk.check(HONEST.digest, "Stew").steps
    assert listening.desk.audit() == []
