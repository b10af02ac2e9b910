"""Two institutions over mutual TLS: certificates, forgeries, restarts, whoever is offline (checklist 31)."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, ProtocolError
from tarnkappe.exchange import Member, Network, Purpose
from tarnkappe.exchange.desk import Desk, State
from tarnkappe.exchange.desk.packages import opened
from tarnkappe.exchange.peer import ExchangeService, Outbox
from tarnkappe.exchange.signing import Signer
from tarnkappe.federation.certificates import Authority, Credentials
from tarnkappe.federation.transport import Caller, UnreachableError
from tarnkappe.state import AuditLog, Key, Store
from tests.exchange.scenes import FIXTURE, patients, request, surroundings
from tests.exchange.test_desk import DUTIES, KEYS, OWN, STAFF, decide

MEMBERS = [
    Member("A", frozenset(Purpose), public_key=Signer(Key(b"a" * 32)).public),
    Member("B", frozenset(Purpose), public_key=Signer(OWN).public),
    Member("R", frozenset(Purpose), revoked=True),
]
NETWORK = Network(MEMBERS)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


class House:
    """Institution B, which can be shut down and opened again."""

    def __init__(self, credentials: Credentials, place: Path) -> None:
        self._credentials, self._place, self._port = credentials, place, 0
        self.open()

    def open(self) -> None:
        self.desk = Desk(Store.open(self._place), OWN, surroundings(network=NETWORK), STAFF)
        self.service = ExchangeService(self.desk, self._credentials, ("127.0.0.1", self._port))
        self._port = self.service.address[1]
        self.service.start()

    def close(self) -> None:
        self.service.close()
        self.desk.store.close()

    def caller(self, credentials: Credentials, name: str = "B") -> Caller:
        return Caller(credentials, {name: ("127.0.0.1", self._port)}, 10.0)


@pytest.fixture
def house(authority: Authority, tmp_path: Path) -> Iterator[House]:
    opened_house = House(authority.issue("B"), tmp_path / "b.db")
    yield opened_house
    opened_house.close()


def accept(desk: Desk, digest: str) -> None:
    desk.check(digest, "Stew")
    decide(desk, digest, "Ann")
    decide(desk, digest, "Cleo")


def test_a_package_travels_from_one_institution_to_another(
    house: House, authority: Authority, tmp_path: Path
) -> None:
    outbox = Outbox(Store.open(tmp_path / "a.db"), NETWORK, house.caller(authority.issue("A")))
    digest = outbox.add(request(), "B")
    assert outbox.work() == 1
    assert outbox.work() == 0  # nothing is decided yet
    accept(house.desk, digest)
    assert outbox.work() == 1
    assert outbox.work() == 1
    [sent] = outbox.all()
    assert sent.state == "closed"
    assert opened(sent.package).num_rows == 12
    assert house.desk.state(digest) is State.DELIVERED
    assert outbox.work() == 0
    events = [entry.event for entry in AuditLog(outbox.store).entries()]
    assert events == ["request made", "request sent", "answer received", "request closed"]


def test_who_is_offline_gets_it_later_and_restarts_lose_nothing(
    house: House, authority: Authority, tmp_path: Path
) -> None:
    credentials = authority.issue("A")
    caller = house.caller(credentials)
    caller_of_now = {"caller": caller}
    original = caller.call
    caller.call = lambda *a, **k: original(*a, **{**k, "pauses": ()})  # no waiting in a test

    def outbox() -> Outbox:  # as after a restart
        return Outbox(Store.open(tmp_path / "a.db"), NETWORK, caller_of_now["caller"])

    house.close()
    digest = outbox().add(request(), "B")
    assert outbox().work() == 0
    house.open()
    assert outbox().work() == 1
    house.close()
    house.open()
    accept(house.desk, digest)
    house.close()
    assert outbox().work() == 0
    house.open()
    assert outbox().work() == 1
    house.close()
    assert [each.state for each in outbox().all()] == ["answered"]
    house.open()
    assert outbox().work() == 1
    assert house.desk.state(digest) is State.DELIVERED
    assert [entry.event for entry in house.desk.log.entries()].count("answer delivered") == 1


def test_a_forged_certificate_gets_nowhere(house: House, tmp_path: Path, authority: Authority) -> None:
    forged = Authority(tmp_path / "other").issue("A")
    mixed = Credentials(forged.certificate, forged.key, authority.certificate)
    with pytest.raises(UnreachableError):
        house.caller(mixed).call("B", "/request", b"{}", pauses=())
    assert house.desk.requests() == []


def test_another_institution_cannot_pose_as_the_one_that_is_called(
    house: House, authority: Authority
) -> None:
    with pytest.raises(ProtocolError, match="instead of"):
        house.caller(authority.issue("A"), "C").call("C", "/request", b"{}", pauses=())


@pytest.mark.parametrize("name", ["R", "Z"])
def test_a_revoked_or_unknown_institution_is_refused_and_logged(
    house: House, authority: Authority, name: str
) -> None:
    body = json.dumps(request(institution=name).to_dict()).encode()
    with pytest.raises(ProtocolError, match="not a member"):
        house.caller(authority.issue(name)).call("B", "/request", body)
    assert [entry.event for entry in house.desk.log.entries()] == ["refused"]


def test_nobody_asks_in_anothers_name_or_sees_anothers_answer(house: House, authority: Authority) -> None:
    other = Network([*MEMBERS, Member("C", frozenset(Purpose))])
    house.desk.around = surroundings(network=other)
    third = house.caller(authority.issue("C"))
    with pytest.raises(ProtocolError, match="another institution's name"):
        third.call("B", "/request", json.dumps(request().to_dict()).encode())
    sent = request()
    house.desk.receive(sent)
    for path in ("state", "answer", "confirm", "withdraw"):
        with pytest.raises(ProtocolError, match="another institution"):
            third.call("B", f"/{path}/{sent.digest}")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"id": 1}', b"\xff", b"x" * (2**20 + 1)])
def test_what_is_no_request_is_refused(house: House, authority: Authority, body: bytes) -> None:
    with pytest.raises(ProtocolError):
        house.caller(authority.issue("A")).call("B", "/request", body)
    with pytest.raises(ProtocolError):
        house.caller(authority.issue("A")).call("B", "/secrets")


def test_an_answer_that_was_changed_on_the_way_is_not_taken(
    house: House, authority: Authority, tmp_path: Path
) -> None:
    caller = house.caller(authority.issue("A"))
    outbox = Outbox(Store.open(tmp_path / "a.db"), NETWORK, caller)
    digest = outbox.add(request(), "B")
    outbox.work()
    accept(house.desk, digest)
    true = caller.call("B", f"/answer/{digest}")
    other = base64.b64encode(b"another package").decode()
    changed = [
        {**true, "package": other},
        {**true, "package": None},
        {**true, "content": {**true["content"], "verdict": "refused"}},
        {**true, "content": {**true["content"], "package": None}, "package": None},
        {**true, "signature": "00" * 64},
        {"content": {}, "package": None},
    ]
    really = caller.call
    for answer in changed:
        caller.call = lambda party, path, *a, said=answer, **k: (
            said if "answer" in path else really(party, path, *a, **k)
        )
        with pytest.raises((AccessError, Exception), match=r"signature|package|answer"):
            outbox.work()
        assert [each.state for each in outbox.all()] == ["sent"]
    caller.call = really
    assert outbox.work() == 1


TARN = [sys.executable, "-c", "from tarnkappe.cli import main; main()"]
SITE = """
name = "{name}"
store = "{name}.db"
key = "{name}.key"
network = "network.toml"
{more}
[certificates]
certificate = "certificates/{name}.pem"
key = "certificates/{name}.key"
authority = "certificates/authority.pem"
"""


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two institutions as files: A asks, B has the patients of F-REQ-1 in SQLite."""
    authority = Authority(tmp_path / "certificates")
    for name in "AB":
        authority.issue(name)
        key = Key.load(tmp_path / f"{name}.key", create=True)
        public = Signer(key).public
        with (tmp_path / "network.toml").open("a") as file:
            file.write(f'[members.{name}]\npurposes = ["research"]\npublic_key = "{public}"\n')
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'ward.db'}")
    rows = patients().to_pylist()
    table = sa.Table(
        "ward",
        sa.MetaData(),
        *(sa.Column(n, sa.Integer if n in ("age", "weight") else sa.String) for n in rows[0]),
    )
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(sa.insert(table), rows)
    engine.dispose()
    port = free_port()
    more = (
        'catalogue = "catalogue.toml"\npolicy = "policy.toml"\nstaff = "staff.toml"\n'
        f'listen = "127.0.0.1:{port}"\n'
        '[patients]\ndatabase = "sqlite:///ward.db"\ntable = "ward"\npatient = "id"\n'
    )
    (tmp_path / "B.toml").write_text(SITE.format(name="B", more=more))
    (tmp_path / "A.toml").write_text(SITE.format(name="A", more=f'[peers]\nB = "127.0.0.1:{port}"\n'))
    attributes = FIXTURE["catalogue"]["attributes"]
    (tmp_path / "catalogue.toml").write_text(
        "".join(
            f"[attributes.{n}]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in said.items())
            for n, said in attributes.items()
        )
    )
    (tmp_path / "policy.toml").write_text(
        "".join(
            f"[{n}]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in said.items())
            for n, said in FIXTURE["policy"].items()
        )
    )
    for name in KEYS:
        key = Key.load(tmp_path / "keys" / f"{name}.key", create=True)
        with (tmp_path / "staff.toml").open("a") as file:
            duties = [str(duty) for duty in DUTIES[name]]
            file.write(
                f"[people.{name}]\nduties = {json.dumps(duties)}\npublic_key = {json.dumps(Signer(key).public)}\n"
            )
    return tmp_path


def tarn(folder: Path, *words: str, code: int = 0) -> dict:
    command = [*TARN, "exchange", *words, "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if done.stdout else {}


@contextmanager
def serving(folder: Path) -> Iterator[subprocess.Popen]:
    """Institution B as a process of its own; it is killed at the end, as by a power failure."""
    command = [*TARN, "exchange", "serve", "--site", "B.toml"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert "listening" in process.stderr.readline()
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_the_worked_request_between_two_real_processes_one_of_which_is_killed(folder: Path) -> None:
    asked = ["age", "sex", "weight", "origin", "occupation", "diagnosis"]
    wants = [word for name in asked for word in ("--want", name)]
    ask = ["request", "--site", "A.toml", "--to", "B", "--select", "medication=X", *wants]
    made = tarn(folder, *ask, "--question", "Why?", "--as", "Dr. Ask")
    assert made["state"] == "queued"  # B is not there yet
    with serving(folder):
        assert tarn(folder, "fetch", "--site", "A.toml")["requests"][0]["state"] == "sent"
    found = tarn(folder, "review", made["request"][:10], "--site", "B.toml", "--check-as", "Stew")
    assert found["verdict"] == "release with changes"
    assert found["metrics"]["discernibility"] == 49
    for person in ("Ann", "Cleo"):
        how = ["--as", person, "--key", f"keys/{person}.key", "--reason", "yes", "--accept"]
        tarn(folder, "decide", made["request"], "--site", "B.toml", *how)
    with serving(folder):
        done = tarn(folder, "fetch", "--site", "A.toml", "--out", "packages")["requests"][0]
    assert (done["state"], done["verdict"]) == ("closed", "released")
    assert len(Path(folder / done["file"]).read_text().splitlines()) == 13
    assert tarn(folder, "patient", "P01", "--site", "B.toml")["disclosures"][0]["recipient"] == "A"
    head = tarn(folder, "audit", "--site", "B.toml")["head"]
    assert tarn(folder, "audit", "--site", "B.toml", "--head", head)["head"] == head
    tarn(folder, "audit", "--site", "B.toml", "--head", "0" * 63 + "1", code=1)
