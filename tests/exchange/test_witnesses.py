"""Institutions witness each other's logs: who rewrites one contradicts what the others keep."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.cli import main
from tarnkappe.errors import AccessError, InputError, ParameterError, ProtocolError, VerificationError
from tarnkappe.exchange.example import make
from tarnkappe.exchange.network import Network, NetworkMember
from tarnkappe.exchange.peer.contact import WitnessedCaller, answer_contact
from tarnkappe.exchange.peer.witness_report import witness_report
from tarnkappe.exchange.peer.witnesses import Witnesses
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.exchange.staff import Duty, Staff, StaffMember
from tarnkappe.federation.transport import Caller
from tarnkappe.state import AuditLog, HeadFile, Key, Seals, Signer, Statement, Store, guard, require_signature

KEYS = {name: Key(bytes([place] * 32)) for place, name in enumerate(("A", "B", "C", "Aud", "Stew"), start=1)}
NETWORK = Network([NetworkMember(name, public_key=Signer(KEYS[name]).public) for name in "ABC"])
STAFF = Staff(
    [
        StaffMember("Aud", frozenset({Duty.AUDITOR}), Signer(KEYS["Aud"]).public),
        StaffMember("Stew", frozenset({Duty.STEWARD}), Signer(KEYS["Stew"]).public),
    ]
)


class House:
    """An institution with a log; `begin` makes its log another one, with all its keys."""

    def __init__(self, name: str, folder: Path, ask: list[str] | None = None) -> None:
        self.name, self._folder, self._ask, self._turn = name, folder, ask, 0
        self.begin()

    def begin(self, entries: list[str] | None = None) -> None:
        self._turn += 1
        place = self._folder / f"{self.name}-{self._turn}"
        store = Store.open(place.with_suffix(".db"))
        guard(store, Seals(KEYS[self.name]), HeadFile(place, self.name, Signer(KEYS[self.name])))
        self.store, self.log = store, AuditLog(store)
        self.witnesses = Witnesses(store, NETWORK, Signer(KEYS[self.name]), self.name, self._ask)
        for event in entries or []:
            self.log.append(event, {})

    def accept(self, other: str, person: str = "Aud", key: str | None = None) -> int:
        statement = self.witnesses.to_accept(other, person)
        signature = Signer(KEYS[key or person]).sign(statement)
        return self.witnesses.accept(other, person, signature, STAFF)


def meet(caller: House, called: House) -> None:
    """What a contact is, with messages as they would travel."""
    own, theirs = caller.witnesses, called.witnesses

    def ask(action: str, said: dict[str, Any]) -> dict[str, Any]:
        answer = answer_contact(theirs, action, caller.name, json.loads(json.dumps(said)))
        return json.loads(json.dumps(answer))

    own.require_trusted(called.name)
    shown = ask("head", {"held": own.held(called.name)})
    cosigned = own.take(called.name, shown)
    answer = ask("witness", {**own.shown(called.name, shown["held"]), "cosigned": cosigned})
    own.require_own(called.name, shown["held"])
    own.keep(called.name, answer["cosigned"])


@pytest.fixture
def houses(tmp_path: Path) -> tuple[House, House]:
    return House("A", tmp_path), House("B", tmp_path)


def test_both_keep_and_sign_what_the_other_has_shown(houses: tuple[House, House]) -> None:
    a, b = houses
    for number in range(3):
        a.log.append("released", {"rows": number})
        b.log.append("asked", {})
    meet(a, b)
    a.log.append("released", {})
    meet(b, a)
    b.log.append("asked", {})
    b.log.append("asked", {})
    report = witness_report(b.witnesses, b.log)
    [(number, time)] = report.seen.values()
    assert (number, report.number, report.wrong) == (b.log.verify() - 2, b.log.verify(), ())
    assert report.text == (
        f"Entries 1 to {number} are witnessed: by A on {time[:16].replace('T', ' ')} ({number}).\n"
        f"Entries {number + 1} to {number + 2} are known to this institution alone: whoever has its keys could "
        "rewrite these, and nobody would notice."
    )
    before = a.log.verify(), b.log.verify()
    meet(a, b)
    meet(a, b)
    assert before == (a.log.verify(), b.log.verify())  # contacts themselves let no log grow


def test_without_witnesses_the_report_says_that_nobody_would_notice(tmp_path: Path) -> None:
    alone = House("C", tmp_path)
    alone.log.append("released", {})
    report = witness_report(alone.witnesses, alone.log)
    assert report.text.startswith("All 1 entries are known to this institution alone")


@settings(max_examples=25, deadline=None)
@given(
    before=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    keep=st.integers(0, 12),
    new=st.integers(0, 14),
)
def test_a_rewritten_log_is_noticed_if_and_only_if_a_witnessed_entry_is_gone(
    tmp_path_factory: pytest.TempPathFactory, before: list[int], keep: int, new: int
) -> None:
    folder = tmp_path_factory.mktemp("rewritten")
    a, b = House("A", folder), House("B", folder)
    events = []
    for number in before:
        for _ in range(number):
            a.log.append(f"event {len(events)}", {})
            events.append(f"event {len(events)}")
        meet(a, b)
    witnessed = a.log.end
    # The times of entries are among what is witnessed: what is kept must be copied, not written again.
    with closing(sqlite3.connect(next(folder.glob("A-1.db")))) as old:
        query = "SELECT number, time, event, details FROM log_entries ORDER BY number"
        rows = list(old.execute(query))[:keep]
    leaves = [{"number": n, "time": t, "event": e, "details": json.loads(d)} for n, t, e, d in rows]
    leaves += [
        {"number": len(leaves) + place, "time": "2026", "event": "new", "details": {}}
        for place in range(1, new + 1)
    ]
    document = shown_by_hand(leaves, witnessed[0])
    if keep >= witnessed[0]:
        assert b.witnesses.take("A", document) is not None
    else:
        with pytest.raises(AccessError, match="contradicts itself"):
            b.witnesses.take("A", document)


def shown_by_hand(leaves: list[dict[str, Any]], since: int) -> dict[str, Any]:
    """What the rewriting institution would show, with the honest proof of its new tree, if there is one."""
    from tarnkappe.state.merkle import consistency_proof, leaf_hash, root_of

    hashes = [leaf_hash(Statement("log entry", leaf).bytes) for leaf in leaves]
    content = {"institution": "A", "size": len(hashes), "root": root_of(hashes).hex(), "time": "2026"}
    proof = consistency_proof(hashes, since) if since <= len(hashes) else []
    head = {"head": content, "signature": Signer(KEYS["A"]).sign(Statement("log head", content))}
    return {"head": head, "proof": [each.hex() for each in proof], "since": since}


def test_after_a_contradiction_nothing_is_exchanged_until_an_auditor_accepts(
    houses: tuple[House, House],
) -> None:
    a, b = houses
    a.log.append("released", {"rows": 12})
    meet(a, b)
    a.begin(["nothing happened"])
    with pytest.raises(AccessError, match="the log of 'A' contradicts itself"):
        meet(a, b)
    with pytest.raises(AccessError, match="contradicts itself"):
        b.witnesses.require_heard("A")
    [kept] = b.witnesses.contradictions()
    known, shown = json.loads(kept["known"]), json.loads(kept["shown"])
    for document in (known, shown):  # evidence that everybody can verify
        statement = Statement("log head", document["head"])
        require_signature(Signer(KEYS["A"]).public, statement, document["signature"])
    assert known["head"]["root"] != shown["head"]["root"]
    assert witness_report(b.witnesses, b.log).wrong == (
        "the log of 'A' contradicts what was shown of it before",
    )
    with pytest.raises(AccessError, match="auditor"):
        b.accept("A", "Stew")
    with pytest.raises(AccessError, match="signature"):
        b.accept("A", "Aud", key="Stew")
    with pytest.raises(ParameterError, match="does not contradict"):
        b.accept("C")
    assert b.accept("A") == 1
    meet(a, b)
    assert len(b.witnesses.contradictions()) == 1  # the evidence stays
    assert [entry.event for entry in b.log.entries()] == ["log contradicts itself", "log accepted"]


def test_the_institution_itself_learns_that_its_log_is_not_the_witnessed_one(
    houses: tuple[House, House],
) -> None:
    a, b = houses
    a.log.append("released", {})
    meet(b, a)
    a.begin(["released"])
    shown = answer_contact(a.witnesses, "head", "B", {"held": b.witnesses.held("A")})
    assert shown["proof"] == []
    with pytest.raises(AccessError, match="contradicts"):
        b.witnesses.take("A", shown)
    [wrong] = witness_report(a.witnesses, a.log).wrong
    assert wrong == "the log of 'A' contradicts what was shown of it before"
    with pytest.raises(VerificationError, match="has witnessed another log"):
        a.witnesses.require_own("B", b.witnesses.held("A"))
    answer_contact(a.witnesses, "head", "B", {"held": b.witnesses.held("A")})
    assert len(a.witnesses.contradictions()) == 1  # who shows it again fills no log


def test_a_head_of_somebody_else_or_with_another_signature_is_none(houses: tuple[House, House]) -> None:
    a, b = houses
    a.log.append("released", {})
    good = a.witnesses.shown("B", None)
    with pytest.raises(AccessError, match="signature"):
        b.witnesses.take("C", good)
    forged = {**good, "head": {**good["head"], "signature": "00" * 64}}
    later = {**good, "head": {**good["head"], "head": {**good["head"]["head"], "size": 99}}}
    for wrong in (
        forged,
        later,
        {},
        {**good, "head": None},
        {**good, "proof": None},
        {**good, "proof": ["zz"]},
        {**good, "since": -1},
        {**good, "since": True},
        {**good, "head": [1]},
    ):
        with pytest.raises(AccessError):
            b.witnesses.take("A", wrong)
    for wrong in ({}, {"content": 1}, {"content": {"institution": "A"}}, {"content": {"size": "x"}}):
        with pytest.raises(InputError):
            a.witnesses.keep("B", wrong)
    with pytest.raises(AccessError):
        answer_contact(b.witnesses, "other", "A", {})
    assert b.witnesses.contradictions() == []
    assert b.witnesses.take("A", {**good, "since": 7}) is None  # somebody showed another one meanwhile


@pytest.mark.parametrize("table", ["exchange_heads", "exchange_cosigned", "exchange_contradictions"])
def test_what_is_kept_of_logs_cannot_be_changed_in_the_database(
    houses: tuple[House, House], table: str, tmp_path: Path
) -> None:
    a, b = houses
    a.log.append("released", {})
    b.log.append("asked", {})
    meet(a, b)
    a.begin(["rewritten"])
    with pytest.raises(AccessError):
        meet(a, b)
    b.store.close()
    place = tmp_path / "B-1.db"
    shutil.copy(place, tmp_path / "kept.db")
    with closing(sqlite3.connect(place)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    for column in columns:
        shutil.copy(tmp_path / "kept.db", place)
        with closing(sqlite3.connect(place)) as connection:
            connection.execute(f"UPDATE {table} SET {column} = COALESCE({column}, '') || '1'")
            connection.commit()
        store = Store.open(place)
        guard(store, Seals(KEYS["B"]), HeadFile(tmp_path / "B-1", "B", Signer(KEYS["B"])))
        witnesses, log = Witnesses(store, NETWORK, Signer(KEYS["B"]), "B"), AuditLog(store)
        with closing(store), pytest.raises(VerificationError, match="changed in the database"):
            look_at_everything(witnesses, log)
    shutil.copy(tmp_path / "kept.db", place)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("DELETE FROM exchange_contradictions")
        connection.commit()
    store = Store.open(place)
    guard(store, Seals(KEYS["B"]), HeadFile(tmp_path / "B-1", "B", Signer(KEYS["B"])))
    report = witness_report(Witnesses(store, NETWORK, Signer(KEYS["B"]), "B"), AuditLog(store))
    assert report.wrong == ("the evidence that was kept about the log of 'A' is gone",)


def look_at_everything(witnesses: Witnesses, log: AuditLog) -> None:
    witnesses.held("A")
    witnesses.held("A1")  # a key that was changed names another institution
    witness_report(witnesses, log)


def tarn(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    with pytest.raises(SystemExit) as ended:
        main(["exchange", *words, "--json"])
    said = capsys.readouterr()
    assert ended.value.code == code, said
    return json.loads(said.out) if said.out else {"error": said.err}


def test_two_sites_over_the_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = make(tmp_path / "trial", 100)
    asked = ["--site", str(a), "--to", "B", "--want", "sex", "--question", "?", "--as", "Dr. Ask"]
    service = ExchangeSite.load(b)
    with service:
        listening = service.service()
        listening.start()
        made = tarn(capsys, "request", *asked, "--select", "medication=ibuprofen", "--id", "one")
        assert made["state"] == "sent"
        seen = tarn(capsys, "audit", "--site", str(a))["witnessed"]["B"]
        assert seen["entries"] >= 1
        plain = ExchangeSite.load(a)
        with plain:
            # Who shows no head is told so, once the service has forgotten the contact.
            listening._witnesses._heard.clear()  # type: ignore[union-attr]
            with pytest.raises(ProtocolError, match="show the head of your log first"):
                Caller(plain.credentials(), plain.peers(), 10.0).call("B", "/statistics")
        for suffix in ("db", "head"):  # A puts everything back, with all its keys
            (tmp_path / "trial" / f"A.{suffix}").unlink()
        refused = tarn(capsys, "request", *asked, "--select", "medication=metformin", code=2)
        assert "contradicts itself" in refused["error"]
        wrong = tarn(capsys, "audit", "--site", str(b), code=1)["wrong"]
        assert wrong == ["the log of 'A' contradicts what was shown of it before"]
        accept = [
            "--accept-log-of",
            "A",
            "--as",
            "Aud",
            "--key",
            str(tmp_path / "trial" / "keys" / "Aud.key"),
        ]
        assert "--key" in tarn(capsys, "audit", "--site", str(b), *accept[:4], code=2)["error"]
        assert tarn(capsys, "audit", "--site", str(b), *accept)["wrong"] == []
        assert tarn(capsys, "fetch", "--site", str(a))["requests"][0]["state"] == "sent"
        listening.close()


@pytest.mark.parametrize("since", [0, 2, 99])
def test_two_logs_of_one_length_are_noticed_whatever_the_proof_is_said_to_begin_with(
    houses: tuple[House, House], since: int
) -> None:
    a, b = houses
    for event in ("asked", "checked", "released"):
        a.log.append(event, {})
    meet(a, b)
    size = a.log.end[0]
    leaves = [{"number": n, "time": "2026", "event": "new", "details": {}} for n in range(1, size + 1)]
    assert since != size
    with pytest.raises(AccessError, match="contradicts itself"):
        b.witnesses.take("A", {**shown_by_hand(leaves, size), "since": since})
    assert len(b.witnesses.contradictions()) == 1


def test_who_proves_from_another_entry_than_was_asked_for_is_told_so(
    houses: tuple[House, House], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = houses
    a.log.append("released", {})
    meet(a, b)
    caller = WitnessedCaller.__new__(WitnessedCaller)
    caller._witnesses, caller._met = b.witnesses, {}
    leaves = [{"number": n, "time": "2026", "event": "new", "details": {}} for n in range(1, 9)]
    evasive = {**shown_by_hand(leaves, 0), "held": None}
    monkeypatch.setattr(caller, "_ask", lambda *_: evasive)
    with pytest.raises(ProtocolError, match="does not show that its log continues"):
        caller._meet("A", ())


def test_heads_of_a_copy_deceive_at_a_contact_and_not_who_compares_the_log(
    houses: tuple[House, House], tmp_path: Path
) -> None:
    """What is not promised: somebody with every key goes on showing the heads of the log as it was."""
    a, b = houses
    for event in ("asked", "checked", "released"):
        a.log.append(event, {})
    meet(a, b)
    witnessed = b.witnesses.held("A")["content"]
    (tmp_path / "new").mkdir()
    copy, rewritten = a, House("A", tmp_path / "new")
    for event in ("asked", "checked", "nothing left"):
        rewritten.log.append(event, {})
    copy.log.append("later", {})
    meet(copy, b)
    assert b.witnesses.contradictions() == []
    assert rewritten.log.root_at(witnessed["size"]) != witnessed["root"]
