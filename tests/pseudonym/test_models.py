"""The five models, with every party as an attacker: what it holds is searched for what it must not have."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, ColumnError, ParameterError
from tarnkappe.pseudonym import Approver, OneWay, Registrar, ReidentificationReason, Requester, Vault
from tarnkappe.pseudonym.models import (
    AccessService,
    ClinicalDatabase,
    Consent,
    ConsentingSource,
    ConsentScope,
    DataProvider,
    OneWayService,
    Parcel,
    Physician,
    PidService,
    PseudonymService,
    ResearchDatabase,
    TreatingPhysician,
    User,
    identify_again,
    without_identity,
)
from tarnkappe.state import Key, Store
from tarnkappe.table import Table
from tests.pseudonym.conftest import FIELDS, PEOPLE, Clock, Staff

ANN = ("Planted", "Ann", "1980-02-29")
BOB = ("Plantagenet", "Bob", "1975-05-05")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
ALWAYS = Consent(ConsentScope.ANY_MEDICAL_RESEARCH, NOW + timedelta(days=3650))


def holds(party: object) -> str:
    """Everything that can be reached from a party, as text."""
    seen: dict[int, Any] = {}  # kept, or another thing could get the number of one that is gone
    found: list[str] = []

    def walk(thing: Any) -> None:
        if id(thing) in seen:
            return
        seen[id(thing)] = thing
        if isinstance(thing, str | bytes | int | float):
            found.append(repr(thing))
        elif isinstance(thing, Store):
            with thing.reading() as connection:
                for table in sa.inspect(connection).get_table_names():
                    found.extend(repr(row) for row in connection.execute(sa.text(f"SELECT * FROM {table}")))
        elif isinstance(thing, dict):
            for pair in thing.items():
                walk(pair)
        elif isinstance(thing, list | tuple | set | frozenset):
            for part in thing:
                walk(part)
        elif hasattr(thing, "__dict__"):
            walk(vars(thing))

    walk(party)
    return " ".join(found)


def test_the_searcher_finds_what_a_party_holds() -> None:
    assert "secret" in holds(DataProvider({"secret": {"x": ["deep"]}}))
    assert "deep" in holds(DataProvider({"secret": {"x": ["deep"]}}))
    many = {str(number): {"data": [f"value {number}"]} for number in range(50)}
    assert not [number for number in many if f"'value {number}'" not in holds(DataProvider(many))]
    assert "planted" in holds({"store": [Store.in_memory()], "word": ("planted",)})


# Model 1


def test_m1_leaves_out_identity_and_order() -> None:
    names = [f"name {number}" for number in range(100)]
    table = Table(pa.table({"name": names, "age": list(range(100))})).with_roles(
        identifiers=["name"], quasi_identifiers=["age"]
    )
    released = without_identity(table)
    assert released.column_names == ("age",)
    assert released.quasi_identifiers == ("age",)
    ages = released.data["age"].to_pylist()
    assert sorted(ages) == list(range(100))
    assert ages != list(range(100))
    with pytest.raises(ColumnError, match="identifiers"):
        without_identity(Table(table.data))


# Model 2: invariants T1 to T4


@dataclasses.dataclass
class OneWayFlow:
    user: User
    service: OneWayService
    sent: list[Parcel]
    forwarded: list[Parcel]


@pytest.fixture
def one_way() -> OneWayFlow:
    user, service = User("asthma"), OneWayService(Key.new(), "asthma")
    clinic = DataProvider({"PID-0001": {"fev1": 71.5}, "PID-0002": {"fev1": 93.25}})
    lab = DataProvider({"PID-0001": {"ige": 480.125}})
    sent = clinic.deliver(user.public, "asthma") + lab.deliver(user.public, "asthma")
    forwarded = service.forward(sent)
    user.receive(forwarded)
    return OneWayFlow(user, service, sent, forwarded)


def test_m2_t1_the_same_pid_from_two_sources_is_one_person(one_way: OneWayFlow) -> None:
    joined = sorted(sorted(map(str, data)) for data in one_way.user.people.values())
    assert joined == [["{'fev1': 71.5}", "{'ige': 480.125}"], ["{'fev1': 93.25}"]]


def test_m2_t2_the_service_keeps_no_pairs_and_cannot_go_back(one_way: OneWayFlow) -> None:
    held = holds(one_way.service)
    assert "PID-0001" not in held
    assert not [parcel.name for parcel in one_way.forwarded if parcel.name in held]
    assert not [name for name in dir(one_way.service) if "reverse" in name or "identity" in name]


def test_m2_t3_the_service_cannot_read_the_data(one_way: OneWayFlow) -> None:
    everything = holds(one_way.sent) + holds(one_way.service)
    assert not [value for value in ("71.5", "93.25", "480.125", "fev1", "ige") if value in everything]
    assert len({len(parcel.sealed) for parcel in one_way.sent}) == 1, "the length would tell"


def test_m2_t4_the_user_sees_no_pid_and_cannot_try_them(one_way: OneWayFlow) -> None:
    """The user knows all possible PIDs, and how pseudonyms are made, but not the key."""
    assert "PID-" not in holds(one_way.user)
    possible = [(f"PID-{number:04}",) for number in range(200)]
    tried = OneWay(Key(bytes(32)), "asthma").pseudonyms(possible) + OneWay(Key.new(), "asthma").pseudonyms(
        possible
    )
    assert not set(tried) & set(one_way.user.people)


def test_m2_data_for_another_project_or_user_are_refused(one_way: OneWayFlow) -> None:
    with pytest.raises(AccessError):
        User("asthma").receive(one_way.forwarded)
    other = User("copd")
    parcels = DataProvider({"PID-0001": {"x": 1}}).deliver(other.public, "asthma")
    with pytest.raises(AccessError):
        other.receive(parcels)


def test_m2_the_order_of_arrival_tells_nothing() -> None:
    user, service = User("a"), OneWayService(Key.new(), "a")
    sent = DataProvider({f"PID-{n}": {"n": n} for n in range(100)}).deliver(user.public, "a")
    assert [parcel.sealed for parcel in service.forward(sent)] != [parcel.sealed for parcel in sent]


# Model 3


@dataclasses.dataclass
class TwoStageFlow:
    vault: Vault
    pid_service: PidService
    service: PseudonymService
    user: ResearchDatabase
    source: ConsentingSource
    parcels: list[Parcel]
    forwarded: list[Parcel]


def flow(vault: Vault, staff: Staff, consent: Consent = ALWAYS) -> TwoStageFlow:
    user = ResearchDatabase(vault.project)
    pid_service = PidService(Registrar(vault, *staff["rita"]))
    service = PseudonymService(Key.new(), vault.project)
    source = ConsentingSource([(ANN, {"fev1": 71.5}, consent), (BOB, {"fev1": 93.25}, ALWAYS)])
    parcels = source.deliver(pid_service, user.public, vault.project, ConsentScope.THIS_STUDY, NOW)
    forwarded = service.forward(parcels)
    user.receive(forwarded)
    return TwoStageFlow(vault, pid_service, service, user, source, parcels, forwarded)


@pytest.fixture
def memory(staff: Staff) -> Vault:
    return make_vault(Store.in_memory(), staff, "asthma")


def make_vault(store: Store, staff: Staff, project: str) -> Vault:
    return Vault.create(store, project, FIELDS, [staff.member(name, role) for name, role in PEOPLE.items()])


def test_m3_no_party_holds_more_than_it_must(memory: Vault, staff: Staff) -> None:
    found = flow(memory, staff)
    identity, data = ("Planted", "Plantagenet", "1980-02-29"), ("71.5", "93.25")
    pids = [parcel.name for parcel in found.parcels]
    pseudonyms = [parcel.name for parcel in found.forwarded]
    must_not = {
        "the PID service": (found.pid_service, (*identity, *data, *pseudonyms)),  # identities are sealed
        "the pseudonym service": (found.service, (*identity, *data, *pids, *pseudonyms)),
        "the parcels on their way": (found.parcels, (*identity, *data)),
        "the user": (found.user, (*identity, *pids)),
        "the source": (found.source, tuple(pseudonyms)),
    }
    for who, (party, secrets) in must_not.items():
        assert [secret for secret in secrets if secret in holds(party)] == [], who


def test_m3_the_way_back_needs_both_services_and_four_eyes_and_ends_at_the_physician(
    memory: Vault, staff: Staff
) -> None:
    found = flow(memory, staff)
    physician, other = Physician(), Physician()
    quinn, ada = Requester(memory, *staff["quinn"]), Approver(memory, *staff["ada"])
    people = set()
    for parcel in found.forwarded:
        answer = identify_again(
            parcel.name, found.service, quinn, ada, physician.public, ReidentificationReason.FEEDBACK
        )
        assert b"Plant" not in answer
        people.update(physician.read(answer))
        with pytest.raises(AccessError):
            other.read(answer)
    assert people == {ANN, BOB}
    with pytest.raises(AccessError, match="right key"):
        PseudonymService(Key.new(), "asthma").pid(found.forwarded[0].name)
    key = Key.new()
    [renamed] = PseudonymService(key, "asthma").forward(found.parcels[:1])
    with pytest.raises(AccessError, match="right key"):  # another project's service, with the same key file
        PseudonymService(key, "copd").pid(renamed.name)


def test_m3_two_projects_have_other_pids_for_the_same_people(staff: Staff) -> None:
    store = Store.in_memory()
    flows = [flow(make_vault(store, staff, project), staff) for project in ("asthma", "copd")]
    one, other = ({parcel.name for parcel in found.parcels} for found in flows)
    assert len(one) == len(other) == 2
    assert not one & other


def test_m3_who_has_not_agreed_is_not_delivered(memory: Vault, staff: Staff) -> None:
    gone = ALWAYS.withdrawn(NOW - timedelta(days=1))
    assert len(flow(memory, staff, gone).parcels) == 1
    over = Consent(ConsentScope.ANY_MEDICAL_RESEARCH, NOW)
    assert len(flow(memory, staff, over).parcels) == 1


# Model 4


def test_m4_every_export_looks_at_the_consent_anew(memory: Vault, staff: Staff) -> None:
    narrow = Consent(ConsentScope.THIS_STUDY, NOW + timedelta(days=365))
    database = flow(memory, staff, narrow).user
    assert {row["fev1"] for row in database.export(ConsentScope.THIS_STUDY, NOW)} == {71.5, 93.25}
    assert {row["fev1"] for row in database.export(ConsentScope.DISEASE_AREA, NOW)} == {93.25}
    late = NOW + timedelta(days=366)
    assert {row["fev1"] for row in database.export(ConsentScope.THIS_STUDY, late)} == {93.25}


def test_m4_a_withdrawal_holds_from_then_on_and_is_not_undone_by_new_data(
    memory: Vault, staff: Staff
) -> None:
    found = flow(memory, staff)
    for parcel in found.forwarded:
        found.user.withdraw(parcel.name, NOW)
    assert found.user.export(ConsentScope.THIS_STUDY, NOW) == []
    found.user.receive(found.forwarded)
    assert found.user.export(ConsentScope.THIS_STUDY, NOW) == []
    with pytest.raises(ParameterError, match="not in the database"):
        found.user.withdraw("64S36D1NPH", NOW)


def test_m4_a_researcher_cannot_join_two_exports_unless_that_was_approved(
    memory: Vault, staff: Staff
) -> None:
    database = flow(memory, staff).user

    def names(**approved: str) -> set[str]:
        return {row["pseudonym"] for row in database.export(ConsentScope.THIS_STUDY, NOW, **approved)}

    assert len(names()) == 2
    assert not names() & names()
    assert names(linked_for="course of asthma") == names(linked_for="course of asthma")
    assert not names(linked_for="course of asthma") & names(linked_for="something else")
    assert not names() & {parcel.name for parcel in flow(memory, staff).forwarded}


# Model 5


@dataclasses.dataclass
class Network:
    database: ClinicalDatabase
    service: AccessService
    physician: TreatingPhysician
    clock: Clock


@pytest.fixture
def network(memory: Vault, staff: Staff) -> Network:
    clock = Clock()
    database = ClinicalDatabase(clock)
    service = AccessService(Registrar(memory, *staff["rita"]), database)
    physician = TreatingPhysician("Dr House")
    service.enrol(physician.name, physician.public)
    return Network(database, service, physician, clock)


def test_m5_a_physician_reaches_the_record_by_name_and_never_sees_the_pid(
    network: Network, memory: Vault, staff: Staff
) -> None:
    token = network.physician.ask(network.service, ANN)
    network.database.add(token, {"fev1": 71.5})
    [pid] = Registrar(memory, *staff["rita"]).pseudonyms([ANN])
    again = network.physician.ask(network.service, ANN)
    assert again != token
    assert network.database.record(again) == [{"fev1": 71.5}]
    assert network.database.record(network.physician.ask(network.service, BOB)) == []
    assert pid not in holds(network.physician) + token + again + repr(network.database.record(again))
    assert pid not in holds(network.database), "it keeps marks"


def test_m5_a_token_is_worthless_after_some_minutes(network: Network) -> None:
    token = network.physician.ask(network.service, ANN)
    network.clock.forward(minutes=9, seconds=59)
    assert network.database.record(token) == []
    network.clock.forward(seconds=1)
    for use in (
        lambda: network.database.record(token),
        lambda: network.database.add(token, {}),
        lambda: network.database.lab_id(token),
        lambda: network.database.consent(token, ALWAYS),
    ):
        with pytest.raises(AccessError, match="expired"):
            use()
    with pytest.raises(AccessError, match="unknown"):
        network.database.record("guessed")


def test_m5_only_physicians_of_the_network_get_tokens(network: Network) -> None:
    stranger = TreatingPhysician("Dr Mabuse")
    impostor = TreatingPhysician("Dr House")
    for somebody in (stranger, impostor):
        with pytest.raises(AccessError, match="no physician"):
            somebody.ask(network.service, ANN)
    assert "Planted" not in holds(network.database)


def test_m5_who_overhears_a_physician_cannot_ask_again_or_for_another(network: Network) -> None:
    heard: list[tuple] = []

    class Eavesdropper:
        public = network.service.public
        challenge = network.service.challenge

        def token(self, *asked: object) -> str:
            heard.append(asked)
            return network.service.token(*asked)

    network.physician.ask(Eavesdropper(), ANN)
    [(name, patient, challenge, proof)] = heard
    for asked in (
        (name, patient, challenge, proof),
        (name, patient, network.service.challenge(), proof),
        (name, BOB, network.service.challenge(), proof),
    ):
        with pytest.raises(AccessError):
            network.service.token(*asked)


def test_m5_the_database_knows_no_names_and_the_service_no_records(network: Network) -> None:
    network.database.add(network.physician.ask(network.service, ANN), {"fev1": 71.5})
    assert "Planted" not in holds(network.database)
    service_alone = dict(vars(network.service))
    del service_alone["_database"]  # the line to it, over which only tokens and PIDs go
    assert "71.5" not in holds(service_alone)


def test_m5_samples_go_by_a_further_name(network: Network, memory: Vault, staff: Staff) -> None:
    token = network.physician.ask(network.service, ANN)
    lab_id = network.database.lab_id(token)
    [pid] = Registrar(memory, *staff["rita"]).pseudonyms([ANN])
    assert pid not in lab_id
    network.database.add_result(lab_id, {"ige": 480})
    assert network.database.record(token) == [{"ige": 480}]
    with pytest.raises(ParameterError, match="LabID"):
        network.database.add_result("64S36D1NPH", {})


def test_m5_research_gets_exports_of_who_agreed_under_other_names_each_time(network: Network) -> None:
    for patient, consent in ((ANN, ALWAYS), (BOB, None)):
        token = network.physician.ask(network.service, patient)
        network.database.add(token, {"who": patient[1]})
        if consent:
            network.database.consent(token, consent)
    first, second = (network.database.export(ConsentScope.DISEASE_AREA) for _ in range(2))
    assert [row["who"] for row in first] == [row["who"] for row in second] == ["Ann"]
    assert first[0]["pseudonym"] != second[0]["pseudonym"]
    token = network.physician.ask(network.service, ANN)
    network.database.consent(token, ALWAYS.withdrawn(network.clock()))
    assert network.database.export(ConsentScope.DISEASE_AREA) == []
    linked = [network.database.export(ConsentScope.DISEASE_AREA, linked_for="x") for _ in range(2)]
    assert linked == [[], []]


def test_m4_and_m5_are_kept_in_a_store_that_tells_nothing_without_the_key(tmp_path: Path) -> None:
    key, clock = Key.new(), Clock()
    place = tmp_path / "clinic.db"

    def opened(own: Key = key) -> tuple[Store, ClinicalDatabase, ResearchDatabase]:
        store = Store.open(place)
        return store, ClinicalDatabase(clock, store, own), ResearchDatabase("asthma", store, own)

    store, clinical, research = opened()
    clinical.admit("token-1", "PID-7")
    clinical.add("token-1", {"finding": "planted finding"})
    clinical.consent("token-1", ALWAYS)
    sample = clinical.lab_id("token-1")
    content = {"data": {"fev1": "planted value"}, "consent": ALWAYS.to_dict()}
    research.receive([Parcel.pack("PSN-9", content, research.public, "asthma")])
    store.close()
    kept = place.read_bytes()
    for secret in (b"planted", b"PID-7", b"PSN-9", b"token-1", sample.encode()):
        assert secret not in kept
    store, clinical, research = opened()
    assert clinical.record("token-1") == [{"finding": "planted finding"}]
    clinical.add_result(sample, {"ige": 480})
    [first, second] = clinical.export(ConsentScope.THIS_STUDY)
    assert {*first, *second} == {"finding", "ige", "pseudonym"}
    one, other = (research.export(ConsentScope.THIS_STUDY, NOW, linked_for="study") for _ in range(2))
    assert one == other
    assert one[0]["fev1"] == "planted value"
    research.withdraw("PSN-9", NOW)
    store.close()
    store, clinical, research = opened()
    assert research.export(ConsentScope.THIS_STUDY, NOW) == []
    with pytest.raises(ParameterError, match="not in the database"):
        research.withdraw("PSN-8", NOW)
    clock.forward(minutes=11)
    with pytest.raises(AccessError, match="expired"):
        clinical.record("token-1")
    store.close()
    store, clinical, research = opened(Key.new())
    with pytest.raises(AccessError):
        clinical.export(ConsentScope.THIS_STUDY)
    store.close()
