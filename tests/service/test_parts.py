"""Gates, the exchange and federations through the house: each role sees its own, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from tarnkappe.errors import AccessError, NotFoundError, ParameterError
from tarnkappe.exchange import Anchor, DataRequest, Purpose, Wanted
from tarnkappe.exchange.example import make
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.gate.monitor import QueryMonitor
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import GateQuery
from tarnkappe.service.exchange import ExchangeSites
from tarnkappe.service.federations import Federations
from tarnkappe.service.gates import Gates
from tarnkappe.service.people import Account, ServiceRole
from tarnkappe.service.work import KINDS, JobContext

GATE = """
[table]
source = "patients.csv"
name = "patients"
key = "id"
quasi_identifiers = ["age", "sex"]
[sensitive.disease]
values = ["asthma", "cholera", "flu"]
[protection]
k = 3
[answer]
min_rows = 2
"""
PATIENTS = "id,age,sex,disease\n1,20,f,asthma\n2,21,m,asthma\n3,21,m,flu\n4,22,f,cholera\n5,23,f,flu\n"


def somebody(name: str, role: ServiceRole) -> Account:
    return Account(name, frozenset({role}))


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate")
    (folder / "patients.csv").write_text(PATIENTS)
    (folder / "gate.toml").write_text(GATE)
    keeper = QueryMonitor.open(GatePolicy.load(folder / "gate.toml"))
    keeper.answer("ann", GateQuery(("age", "disease"), '"age" < ?', (22,)))
    keeper.answer("bob", GateQuery(("disease",), '"age" >= ?', (22,)))
    keeper.answer("eve", GateQuery(("disease",), '"age" = ?', (99,)))
    keeper.close()
    return folder / "gate.toml"


def test_an_owner_watches_a_gate(gate: Path, tmp_path: Path) -> None:
    gates, owner = Gates({"clinic": gate}), somebody("olga", ServiceRole.OWNER)
    assert gates.names(owner) == ["clinic"]
    status = gates.status("clinic", owner)
    assert (status["table"], status["k"]) == ("patients", {"disease": 3})
    assert status["left_out"] == 0
    [history] = status["histories"]
    assert history["answers"] == 2 == len(history["timeline"])
    assert history["people"] == 5
    assert history["artificial"] == sum(step["artificial"] for step in history["timeline"]) > 0
    assert gates.log("clinic", owner)["number"] == 6  # with one entry of who is in the table
    assert [(asked["user"], asked["where"]) for asked in status["asked"]] == [
        ("ann", '"age" < ?'),
        ("bob", '"age" >= ?'),
        ("eve", '"age" = ?'),
    ]
    assert [asked["refused"] for asked in status["asked"]] == [
        None,
        None,
        "fewer than 2 people: ask for more",
    ]
    assert all(asked["least_degrees"]["disease"] >= 3 for asked in status["asked"])
    asked = [{**each, "time": ""} for each in status["asked"]]
    assert "99" not in json.dumps(asked), "what was asked for may be somebody's own"
    proof = KINDS["gate-proof"].run({"gate": str(gate)}, JobContext(tmp_path, lambda *_: None))
    assert proof.figures["proven"][0]["k"] == 3
    assert "everybody keeps at least 3" in proof.text


def test_others_do_not(gate: Path) -> None:
    gates = Gates({"clinic": gate})
    for role in (ServiceRole.STEWARD, ServiceRole.PHYSICIAN, ServiceRole.ADMIN):
        for look in (gates.status, gates.log):
            with pytest.raises(AccessError):
                look("clinic", somebody("x", role))
    with pytest.raises(NotFoundError):
        gates.status("../clinic", somebody("olga", ServiceRole.OWNER))


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Institution B, which was asked by A."""
    folder = tmp_path_factory.mktemp("exchange") / "example"
    make(folder, people=600)
    request = DataRequest(
        id=uuid4().hex,
        requester="Doc",
        institution="A",
        purpose=Purpose.RESEARCH,
        question="how old are they?",
        anchor=Anchor("sex", ("female",)),
        wanted=(Wanted("age"), Wanted("sex"), Wanted("diagnosis")),
    )
    desk = ExchangeSite.load(folder / "B.toml").desk()
    desk.receive(request)
    desk.store.close()
    return folder


def test_a_request_is_checked_by_the_steward_and_decided_by_the_physician(
    sites: Path, tmp_path: Path
) -> None:
    exchange = ExchangeSites({"north": sites / "B.toml"})
    stew, ann = somebody("Stew", ServiceRole.STEWARD), somebody("Ann", ServiceRole.PHYSICIAN)
    assert exchange.names(ann) == ["north"]
    [request] = exchange.requests("north", ann)
    digest = request["digest"]
    assert exchange.request("north", digest[:12], ann)["recommendation"] is None
    document = {"site": str(sites / "B.toml"), "request": digest, "by": stew.name}
    checked = KINDS["request-check"].run(document, JobContext(tmp_path, lambda *_: None))
    assert checked.figures["verdict"]
    assert exchange.request("north", digest, ann)["recommendation"]["verdict"] == checked.figures["verdict"]
    key = (sites / "keys" / "Ann.key").read_text()
    with pytest.raises(AccessError):
        exchange.to_decide("north", digest, stew, accepts=True, reason="x")
    with pytest.raises(ParameterError, match="no key"):
        exchange.decide_with_key("north", digest, ann, accepts=False, reason="too few", key="x")
    content = exchange.to_decide("north", digest, ann, accepts=True, reason="x")
    with pytest.raises(AccessError, match="signed by who decides"):
        exchange.decide("north", content, "forged", somebody("Eve", ServiceRole.PHYSICIAN))
    with pytest.raises(AccessError):
        exchange.decide("north", content, "forged", ann)
    state = exchange.decide_with_key("north", digest, ann, accepts=False, reason="too few", key=key)
    assert state == "rejected"
    log = exchange.log("north", somebody("Aud", ServiceRole.AUDITOR))
    assert {"request received", "request checked", "decided", "refused"} <= {
        e["event"] for e in log["entries"]
    }
    assert key.strip() not in str(log)
    with pytest.raises(AccessError):
        exchange.log("north", ann)
    with pytest.raises(AccessError):
        exchange.requests("north", somebody("olga", ServiceRole.OWNER))


def test_only_who_federates_sees_federations(tmp_path: Path) -> None:
    federations = Federations({"registry": tmp_path / "job.toml"})
    steward = somebody("Stew", ServiceRole.STEWARD)
    assert federations.names(steward) == ["registry"]
    for role in (ServiceRole.AUDITOR, ServiceRole.PHYSICIAN, ServiceRole.ADMIN):
        with pytest.raises(AccessError):
            federations.contract("registry", somebody("x", role))
    with pytest.raises(NotFoundError):
        federations.contract("other", steward)
