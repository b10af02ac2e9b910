"""Sites decide for themselves: policy, consent, one run a contract, one row a person, and files that are understood."""

from __future__ import annotations

import dataclasses
import json
import re
import socket
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tarnkappe.errors import (
    AccessError,
    ColumnError,
    InputError,
    JobError,
    NotFoundError,
    OutputError,
    ParameterError,
    ProtocolError,
    TarnkappeError,
)
from tarnkappe.federation import service as module
from tarnkappe.federation.certificates import Authority, is_issued_by
from tarnkappe.federation.contract import Contract, Protocol
from tarnkappe.federation.job_file import FederatedJob, contract_file
from tarnkappe.federation.ledger import Ledger, LedgerEvent
from tarnkappe.federation.message import Participant
from tarnkappe.federation.oblivious.common_labels import CommonLabels
from tarnkappe.federation.people import refuse_repeated_people
from tarnkappe.federation.policy import Policy
from tarnkappe.federation.run import Run, RunStage
from tarnkappe.federation.service import PartyService
from tarnkappe.federation.site import FederationSite
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.schema import replace
from tarnkappe.schema.documents import parse
from tarnkappe.table import Table
from tests.attackers.federation.stages import PARTIES, Federation, population, running
from tests.federation.federations import example
from tests.federation.site_files import write_sites
from tests.federation.test_contract_text import HORIZONTAL, STAR

JOB_EDITS: list[tuple[str, str, str]] = [
    ("suppression_limit = 0.0", "suppresion_limit = 0.1", "did you mean 'suppression_limit'"),
    ("[search]", "[serch]", "did you mean 'search'"),
    ('helper = "X"', 'helpers = "X"', "did you mean 'helper'"),
    ("height = 1", "hight = 1", "did you mean 'height'"),
    ('authority = "authority.pem"', 'autority = "authority.pem"', "did you mean 'authority'"),
    ('model = "k-anonymity"', 'modle = "k-anonymity"', "which privacy model is it"),
    ('loss = "height"', 'loss = { nane = "height" }', "which loss is it"),
    ('loss = "height"', 'loss = "hieght"', "did you mean 'height'"),
    ('loss = "height"', 'loss = "loss"', "count those in the data"),
    ('loss = "height"', 'loss = "ambiguity"', "cannot be had in a federation"),
    ('X = "127', 'Y = "127', "does not say where 'X' is"),
    ('parties = ["P1", "P2", "P3"]', 'parties = "P1"', "one party alone needs no federation"),
    ("weak_ciphers = true", 'weak_ciphers = "false"', "true or false"),
    ("suppression_limit = 0.0", 'suppression_limit = "much"', "suppression_limit: a number is needed"),
    ("k = 2", "k = 1", "protects nobody"),
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_sites(tmp_path, example(STAR, HORIZONTAL))
    return tmp_path


def edited(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


# ------------------------------------------------------------------ files


@pytest.mark.parametrize(("old", "new", "told"), JOB_EDITS, ids=[new for _, new, _ in JOB_EDITS])
def test_a_job_that_says_what_nobody_reads_or_cannot_be_run_is_refused(
    files: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(TarnkappeError, match=told):
        FederatedJob.from_file(edited(files / "job.toml", old, new))


def test_a_loss_may_have_parameters_and_a_search_too(files: Path) -> None:
    job = edited(
        files / "job.toml", 'loss = "height"', 'loss = { name = "loss", leaves = "data" }\nsnapshots = 9'
    )
    contract = FederatedJob.from_file(job).contract
    assert contract.loss.name == "loss"
    assert contract.search.effort.snapshots == 9


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("patience = 60", "patiense = 60", "did you mean 'patience'"),
        ("least_k = 2", "leastk = 2", "did you mean 'least_k'"),
        ("least_k = 2", 'least_k = "2"', "a whole number"),
        ("least_k = 2", 'protocols = ["rings"]', "did you mean 'ring'"),
        ("least_k = 2", "columns = 7", "a list"),
        ('path = "P1.csv"', 'path = "P1.csv"\nencodng = "latin-1"', "did you mean 'encoding'"),
        ('path = "P1.csv"', 'pfad = "P1.csv"', "pfad: there is no such key"),
        ('hierarchy = "P1-sex.csv"', 'hierarchy = { builder = "masking" }', "say values = "),
        ('hierarchy = "P1-sex.csv"', 'values = ["f", "m"]', "only a builder takes declared values"),
        (
            'hierarchy = "P1-age.csv"',
            'hierarchy = { builder = "masking" }\nwhole_numbers = [9, 1]',
            "the least comes first",
        ),
        (
            'hierarchy = "P1-age.csv"',
            'hierarchy = { builder = "masking" }\nvalues = ["1"]\nwhole_numbers = [1, 9]',
            "in one way",
        ),
        ('hierarchy = "P1-sex.csv"', 'hierachy = "P1-sex.csv"', "did you mean 'hierarchy'"),
        ('address = "127', 'address = "nowhere', "host:port"),
        ("[site]", "[sites]", "did you mean 'site'"),
    ],
)
def test_a_site_file_that_says_what_nobody_reads_is_refused(
    files: Path, old: str, new: str, told: str
) -> None:
    if new.startswith('address = "nowhere'):
        site = files / "P1.toml"
        site.write_text(re.sub(r'address = ".*"', 'address = "nowhere"', site.read_text()))
    else:
        edited(files / "P1.toml", old, new)
    with pytest.raises(JobError, match=told):
        FederationSite.from_file(files / "P1.toml")


def test_the_input_is_read_as_the_site_file_says(files: Path) -> None:
    table = pa.table({"sex": ["weiblich", "männlich"], "age": [1, 2]})
    text = "\n".join("|".join(map(str, row.values())) for row in table.to_pylist())
    (files / "P1.csv").write_bytes(f"sex|age\n{text}\n".encode("latin-1"))
    edited(files / "P1.toml", 'path = "P1.csv"', 'path = "P1.csv"\nencoding = "latin-1"\ndelimiter = "|"')
    site = FederationSite.from_file(files / "P1.toml")
    assert site.table is not None
    assert site.table.data.column("sex").to_pylist() == ["weiblich", "männlich"]


def test_a_builder_makes_the_same_hierarchy_at_all_sites_whatever_their_rows(files: Path) -> None:
    asked = 'hierarchy = { builder = "intervals", width = [10, 20] }\nwhole_numbers = [0, 120]'
    rules = []
    for name, ages in (("P1", "3\n"), ("P2", "34\n95\n")):
        edited(files / f"{name}.toml", f'hierarchy = "{name}-age.csv"', asked)
        (files / f"{name}.csv").write_text(f"age\n{ages}", encoding="utf-8")
        rules.append(FederationSite.from_file(files / f"{name}.toml").hierarchies["age"])
    first, second = rules
    assert isinstance(first, Hierarchy)
    assert isinstance(second, Hierarchy)
    assert list(first.rows()) == list(second.rows())
    assert [first.label("34", level) for level in range(4)] == ["34", "30-39", "20-39", "*"]
    edited(files / "job.toml", "height = 2", asked)
    age = FederatedJob.from_file(files / "job.toml").contract.column("age")
    assert age.height == 3
    assert age.hierarchy_digest == CommonLabels.of(first).digest


def test_a_builder_of_a_job_knows_the_values_that_it_names(files: Path) -> None:
    asked = 'hierarchy = { builder = "groups", levels = [{ both = ["f", "m"] }] }'
    edited(files / "P1.toml", 'hierarchy = "P1-sex.csv"', asked)
    rules = FederationSite.from_file(files / "P1.toml").hierarchies["sex"]
    assert isinstance(rules, Hierarchy)
    assert list(rules.rows()) == [("f", "both", "*"), ("m", "both", "*")]


def test_the_digest_of_a_job_stays_until_the_job_changes(files: Path) -> None:
    job = files / "job.toml"
    first = FederatedJob.from_file(job)
    first.store(job)
    assert contract_file(job).exists()
    assert FederatedJob.from_file(job).contract.digest == first.contract.digest
    assert FederatedJob.from_file(job, new_run=True).contract.digest != first.contract.digest
    edited(job, "k = 2", "k = 3")
    changed = FederatedJob.from_file(job).contract
    assert changed.digest != first.contract.digest
    assert changed.run != first.contract.run


def test_a_port_in_use_and_a_key_that_cannot_sign_are_told_at_the_start(tmp_path: Path) -> None:
    credentials = Authority(tmp_path).issue("ulm")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="cannot listen at 127"):
            PartyService(credentials, taken.getsockname()[:2], _nothing, _nothing)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (tmp_path / "ulm.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    again = dataclasses.replace(credentials)
    with pytest.raises(ParameterError, match="elliptic curve"):
        PartyService(again, ("127.0.0.1", 0), _nothing, _nothing)


def _nothing(_: Contract) -> Any:
    return None


def test_a_fourth_hospital_gets_a_certificate_of_the_same_authority(tmp_path: Path) -> None:
    first = Authority(tmp_path)
    ulm = first.issue("ulm")
    before = first.certificate.read_bytes()
    second = Authority(tmp_path)
    fourth = second.issue("jena")
    assert second.certificate.read_bytes() == before
    for each in (ulm, fourth):
        der = x509.load_pem_x509_certificate(each.certificate.read_bytes()).public_bytes(
            serialization.Encoding.DER
        )
        assert is_issued_by(der, second.certificate)
    with pytest.raises(ParameterError, match="has a certificate"):
        second.issue("ulm")
    with pytest.raises(ParameterError, match="cannot be the name"):
        second.issue("../ulm")
    (tmp_path / "authority.key").unlink()
    with pytest.raises(InputError, match="has no key beside it"):
        Authority(tmp_path)


# ------------------------------------------------------------------ policy and people


RULES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("least_k", {"least_k": 6}, {}),
    ("proposers", {"proposers": ("bonn",)}, {}),
    ("protocols", {"protocols": ("ring",)}, {}),
    ("columns", {"columns": ("age", "sex")}, {}),
    ("least_levels", {"least_levels": {"zip": 2}}, {}),
    ("greatest_suppression", {}, {"suppression_limit": 0.21}),
    ("accept_weak_ciphers", {}, {"weak_ciphers": True}),
    ("ciphers", {"ciphers": ("pohlig-hellman-2048",)}, {}),
    ("greatest_decodable_cells", {"accept_decodable_rows": False}, {}),
    ("greatest_decodable_cells", {"accept_decodable_rows": False, "greatest_decodable_cells": 0.3}, {}),
]


@pytest.mark.parametrize(("rule", "policy", "changes"), RULES, ids=[rule for rule, _, _ in RULES])
def test_each_rule_of_a_site_refuses_on_arrival_and_at_the_start(
    tmp_path: Path, rule: str, policy: dict[str, Any], changes: dict[str, Any]
) -> None:
    federation = Federation(tmp_path, **changes)
    open_site = federation.site("bonn")
    strict = dataclasses.replace(open_site, policy=replace(open_site.policy, **policy))
    if "greatest_decodable_cells" not in policy:  # how much can be read is measured when people decide
        with pytest.raises(AccessError, match=f"'bonn' does not agree.*{rule}"):
            strict.receive(federation.contract, "ulm")
        assert not strict.ledger.lines()
    if not changes:
        open_site.receive(federation.contract, "ulm")
        open_site.agree(federation.contract.digest.hex(), "A. Weber")
        later = dataclasses.replace(strict)
        with pytest.raises(AccessError, match=rule):
            later.build(federation.contract)


def test_a_site_as_it_comes_sends_nothing(tmp_path: Path) -> None:
    for protocol in (Protocol.STAR, Protocol.RING):
        folder = tmp_path / protocol
        folder.mkdir()
        with running(folder, protocol=protocol, policy={}) as federation:
            with pytest.raises(ProtocolError, match="accept_decodable_rows"):
                federation.run()
            assert not federation.messages
    assert Policy() == parse(Policy, {})


@pytest.mark.parametrize(
    "names", [["Ann", "Ann"], ["Ann Lee", " ann  LEE"], ["Zoë", "Zoe\u0308"]], ids=["same", "spaces", "forms"]
)
def test_one_person_in_two_rows_is_refused_however_it_is_written(names: list[str]) -> None:
    contract = dataclasses.replace(example(STAR, HORIZONTAL).contract, person=("name",))
    with pytest.raises(ColumnError, match="somebody has several rows") as caught:
        refuse_repeated_people(Table(pa.table({"name": names})), contract)
    assert names[0] not in str(caught.value)
    refuse_repeated_people(Table(pa.table({"name": ["Ann", "Bea"]})), contract)
    with pytest.raises(ColumnError, match="missing in some rows"):
        refuse_repeated_people(Table(pa.table({"name": ["Ann", None]})), contract)
    with pytest.raises(ColumnError):
        refuse_repeated_people(Table(pa.table({"other": ["Ann"]})), contract)


def test_repeated_identifiers_are_refused_unless_the_site_gives_that_away(tmp_path: Path) -> None:
    people = {name: population(60, seed) for seed, name in enumerate(PARTIES)}
    people["bonn"][:3] = [(*row[:4], "Ann") for row in people["bonn"][:3]]
    federation = Federation(tmp_path, people=people)
    site = federation.site("bonn")
    with pytest.raises(ColumnError, match=r"'name' identifies people and repeats.*accept_repeated_people"):
        site.check_data(federation.contract)
    named = dataclasses.replace(federation.contract, person=("name",))
    with pytest.raises(ColumnError, match="somebody has several rows"):
        site.check_data(named)
    policy = replace(site.policy, accept_repeated_people=True)
    dataclasses.replace(site, policy=policy).check_data(federation.contract)
    federation.site("ulm").check_data(named)


def test_a_proposal_learns_nothing_of_the_data_before_somebody_agrees(tmp_path: Path) -> None:
    people = {name: population(60, seed) for seed, name in enumerate(PARTIES)}
    federation = Federation(tmp_path, people=people, accept="")
    site = federation.site("bonn")
    columns = federation.contract.columns
    asked = [
        {"person": ("name",)},
        {"person": ("visits",)},
        {"columns": (*columns, dataclasses.replace(columns[-1], name="salary"))},
        {"columns": (dataclasses.replace(columns[0], height=7), *columns[1:])},
    ]
    for number, changes in enumerate(asked):
        probe = dataclasses.replace(federation.contract, run=f"{number}", **changes)
        site.receive(probe, "ulm")
    assert len(site.ledger.pending()) == len(asked)


# ------------------------------------------------------------------ consent and ledger


def test_consent_is_to_the_contract_that_is_named(tmp_path: Path) -> None:
    federation = Federation(tmp_path, accept="")
    site = federation.site("bonn")
    one = federation.contract
    two = dataclasses.replace(one, run="two", suppression_limit=0.2)
    for each in (one, two):
        site.receive(each, "ulm")
    assert [line.digest for line in site.ledger.pending()] == [one.digest.hex(), two.digest.hex()]
    site.agree(site.ledger.find(one.digest.hex()[:16]), "A. Weber")
    assert site.ledger.decision(two.digest.hex()) is None
    site.confirm(one)
    with pytest.raises(AccessError, match="nobody at this site has agreed"):
        site.ledger.start(two.digest.hex(), "bonn")
    site.ledger.decide(two.digest.hex(), LedgerEvent.REJECTED, "A. Weber", "too much")
    with pytest.raises(AccessError, match="does not agree"):
        site.confirm(two)
    with pytest.raises(AccessError, match="decided before"):
        site.agree(two.digest.hex(), "B. Weber")
    for digits in ("", "12", one.digest.hex()[:15], "z" * 16):
        with pytest.raises(ParameterError):
            site.ledger.find(digits)
    with pytest.raises(NotFoundError):
        site.ledger.find("0" * 16)


def test_data_that_changed_after_the_consent_are_not_sent(tmp_path: Path) -> None:
    federation = Federation(tmp_path, accept="")
    digest = federation.contract.digest.hex()
    site = federation.site("bonn")
    site.receive(federation.contract, "ulm")
    site.agree(digest, "A. Weber")
    federation.write("bonn", population(300, 99))
    with pytest.raises(AccessError, match="have changed since it agreed"):
        federation.site("bonn").build(federation.contract)
    federation.write("bonn", federation.people["bonn"])
    federation.site("bonn").build(federation.contract)


def test_a_contract_that_was_started_never_starts_again(tmp_path: Path) -> None:
    federation = Federation(tmp_path)
    site = federation.site("bonn")
    site.receive(federation.contract, "ulm")
    site.confirm(federation.contract)
    site.build(federation.contract)
    for again in (federation.site("bonn"), site):
        with pytest.raises(AccessError, match=r"started before.*--new-run"):
            again.receive(federation.contract, "ulm")
        with pytest.raises(AccessError, match="started before"):
            again.build(federation.contract)


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_ledger_survives_a_line_that_was_cut_off_and_notices_one_that_was_changed(
    tmp_path: Path, cut: int
) -> None:
    contract, ledger = example(STAR, HORIZONTAL).contract, Ledger(tmp_path)
    ledger.receive(contract, "P1")
    ledger.decide(contract.digest.hex(), LedgerEvent.ACCEPTED, "me")
    path = tmp_path / "ledger.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    again = Ledger(tmp_path)
    assert again.decision(contract.digest.hex()) is None
    again.decide(contract.digest.hex(), LedgerEvent.ACCEPTED, "me")
    assert [line.event for line in Ledger(tmp_path).lines()] == [LedgerEvent.RECEIVED, LedgerEvent.ACCEPTED]
    path.write_bytes(path.read_bytes().replace(b'"by":"P1"', b'"by":"P2"'))
    with pytest.raises(InputError, match="was changed"):
        Ledger(tmp_path).lines()
    (tmp_path / "contracts" / f"{contract.digest.hex()}.json").write_text(
        json.dumps({**contract.as_document(), "run": "x"})
    )
    with pytest.raises(InputError, match="its digest is another one"):
        ledger.contract(contract.digest.hex())


def test_after_a_run_a_site_has_the_contract_the_consents_and_what_was_done(tmp_path: Path) -> None:
    with running(tmp_path) as federation:
        federation.run()
        digest = federation.contract.digest.hex()
        for name in PARTIES:
            folder = tmp_path / f"out-{name}" / digest[:16]
            kept = json.loads((folder / "contract.json").read_text(encoding="utf-8"))
            assert Contract.from_document(kept).digest == federation.contract.digest
            result = federation.result(name)
            assert set(result["levels"]) == {"age", "sex", "zip"}
            assert result["rows"] + result["suppressed"] == 900
            assert result["own"]["sent"] == 300
            assert result["loss_told_by"] == "helper"
            assert (result["verified"], result["not_verifiable"]) == (["k-anonymity(k=5)"], [])
            events = [line["event"] for line in json.loads((folder / "consents.json").read_text())]
            assert events == ["received", "accepted", "started"]
        site = federation.site("ulm")
        (folder / "release.parquet").unlink()
        with pytest.raises(OutputError, match="written once"):
            federation.site("kiel").keep(_Done(federation.contract))
        assert not list((tmp_path / "out-ulm").glob(".*"))
        assert site.ledger.history(digest)[-1].event is LedgerEvent.FINISHED
        assert any("ended: the release is kept" in line for line in federation.logs["ulm"])


class _Done(Participant):
    def __init__(self, contract: Contract) -> None:
        super().__init__("kiel", contract)


# ------------------------------------------------------------------ availability


def test_a_call_is_refused_by_its_announced_length_before_it_is_read(tmp_path: Path) -> None:
    with running(tmp_path) as federation:
        credentials = federation.site("ulm").credentials
        with (
            socket.create_connection(federation.addresses["bonn"], timeout=20) as raw,
            credentials.client_context().wrap_socket(raw) as connection,
        ):
            connection.sendall(b"POST /propose HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000000\r\n\r\n")
            assert b"409" in connection.recv(1000)


def test_who_says_for_ever_that_he_is_at_work_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    service = PartyService(
        Authority(tmp_path).issue("P2"), ("127.0.0.1", 0), _nothing, _nothing, patience=0.01, longest_run=0.0
    )
    run = Run("P2", "P1", example(STAR, HORIZONTAL).contract, {})
    run.deadline = 0.0
    try:
        with pytest.raises(ProtocolError, match="it is not done: the run ends"):
            service._next(run, None)  # type: ignore[arg-type]
    finally:
        service.close()


def test_runs_that_have_ended_are_forgotten_and_endless_proposals_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 3)
    contract = example(STAR, HORIZONTAL).contract
    made = PartyService(Authority(tmp_path).issue("P2"), ("127.0.0.1", 0), _nothing, _nothing)
    try:
        for number in range(3):
            made._runs[f"{number}"] = Run("P2", "P1", contract, {})
        with pytest.raises(ProtocolError, match="have not ended"):
            made._make_room()
        made._runs["1"].stage = RunStage.FAILED
        made._make_room()
        assert set(made._runs) == {"0", "2"}
    finally:
        made.close()
