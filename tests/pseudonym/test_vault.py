"""The vault against the thief of the file, the lone insider, the wrong key and the wrong role."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, ParameterError, TarnkappeError
from tarnkappe.pseudonym import (
    Approver,
    KeyPair,
    Registrar,
    ReidentificationReason,
    Requester,
    Vault,
    VaultMember,
    VaultRole,
)
from tarnkappe.pseudonym.code import is_code
from tarnkappe.pseudonym.sealing import seal
from tarnkappe.pseudonym.vault import requests, rotate
from tarnkappe.pseudonym.vault.tables import IDENTITIES, MEMBERS, PROOFS, PSEUDONYMS, ROOTS, VAULT
from tarnkappe.state import AuditLog, Key, Store
from tests.pseudonym.conftest import FIELDS, PEOPLE, Clock, Staff

ANN = ("Müller", "Ann", "1980-02-29")
BOB = ("Meier", "Bob", None)
ANNE = ("Mueller", "Anne", "1980-02-29")


def events(store: Store) -> list[str]:
    return [entry.event for entry in AuditLog(store).entries()]


def everything_in(store: Store) -> str:
    with store.reading() as connection:
        rows = [
            tuple(row)
            for table in VAULT.metadata.sorted_tables
            for row in connection.execute(sa.select(table))
        ]
        rows += [tuple(row) for row in connection.execute(sa.text("SELECT * FROM log_entries"))]
    return repr(rows)


def test_the_same_person_always_gets_the_same_pseudonym_and_others_another(
    vault: Vault, staff: Staff
) -> None:
    first = Registrar(vault, *staff["rita"]).pseudonyms([ANN, BOB, ANN])
    again = Registrar(Vault(vault.store, "asthma"), *staff["rita"]).pseudonyms([BOB, ANN])
    assert first == [again[1], again[0], again[1]]
    assert first[0] != first[1]
    assert all(is_code(pseudonym) for pseudonym in first)


def test_pids_of_two_projects_cannot_be_joined(vault: Vault, staff: Staff) -> None:
    other = Vault.create(
        vault.store, "copd", FIELDS, [staff.member(name, role) for name, role in PEOPLE.items()]
    )
    ours = Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    theirs = Registrar(other, *staff["rita"]).pseudonyms([ANN])
    assert ours != theirs
    with vault.store.reading() as connection:
        marks = connection.execute(sa.select(IDENTITIES.c.mark)).scalars().all()
    assert len(set(marks)) == 2, "the marks would join them"


def test_two_people_together_see_who_it_is(vault: Vault, staff: Staff) -> None:
    ann, bob = Registrar(vault, *staff["rita"]).pseudonyms([ANN, BOB])
    quinn = Requester(vault, *staff["quinn"])
    number = quinn.request([ann.lower(), bob], ReidentificationReason.FEEDBACK)
    assert Approver(vault, *staff["ada"]).approve(number).state == "approved"
    assert quinn.show(number) == {ann: [ANN], bob: [BOB]}
    assert events(vault.store) == [
        "vault created",
        "pseudonyms given",
        "re-identification requested",
        "re-identification approved",
        "re-identification shown",
    ]
    AuditLog(vault.store).verify()


def test_a_single_pair_of_eyes_is_refused(vault: Vault, staff: Staff) -> None:
    [ann] = Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    quinn = Requester(vault, *staff["quinn"])
    number = quinn.request([ann], ReidentificationReason.FEEDBACK)
    with pytest.raises(AccessError, match="second person"):
        quinn.show(number)
    with pytest.raises(AccessError, match="takes the role approver"):
        Approver(vault, *staff["quinn"])
    assert events(vault.store)[-2:] == ["vault refused", "vault refused"]


def test_one_person_cannot_become_two(vault: Vault, staff: Staff) -> None:
    own = KeyPair.of(staff.keys["quinn"]).public
    for member in (
        VaultMember("second name", VaultRole.APPROVER, own),
        VaultMember("quinn", VaultRole.APPROVER, KeyPair.new().public),
    ):
        with pytest.raises(AccessError, match="four eyes are two people's"):
            vault.appoint(*staff["ada"], member)
    with pytest.raises(AccessError, match="takes the role"):  # and a requester cannot make an approver
        vault.appoint(*staff["quinn"], staff.member("mallory", VaultRole.APPROVER))
    members = [
        VaultMember("one", VaultRole.REGISTRAR, own),
        VaultMember("two", VaultRole.REQUESTER, own),
        VaultMember("three", VaultRole.APPROVER, own),
    ]
    with pytest.raises(AccessError, match="four eyes"):
        Vault.create(vault.store, "new", FIELDS, members)
    with pytest.raises(ParameterError, match="no vault"):
        Vault(vault.store, "new")


@pytest.mark.parametrize("desk", [Registrar, Requester, Approver])
def test_a_wrong_key_and_a_wrong_role_are_refused_and_logged(vault: Vault, staff: Staff, desk) -> None:
    right = {Registrar: "rita", Requester: "quinn", Approver: "ada"}[desk]
    with pytest.raises(AccessError, match=f"not the key of '{right}'"):
        desk(vault, right, staff.keys["mallory"])
    with pytest.raises(AccessError, match="no role") as refused:
        desk(vault, "Erika Mustermann", staff.keys["mallory"])
    assert "Erika" not in str(refused.value) + everything_in(vault.store)
    for name in PEOPLE:
        if PEOPLE[name] != PEOPLE[right]:
            with pytest.raises(AccessError, match="takes the role"):
                desk(vault, *staff[name])
    assert events(vault.store).count("vault refused") >= 4


def test_a_request_belongs_to_who_made_it(vault: Vault, staff: Staff) -> None:
    [ann] = Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    number = Requester(vault, *staff["quinn"]).request([ann], ReidentificationReason.CONSENT)
    Approver(vault, *staff["ada"]).approve(number)
    with pytest.raises(AccessError, match="another person's"):
        Requester(vault, *staff["quentin"]).show(number)


def test_requests_and_approvals_expire(vault: Vault, staff: Staff, clock: Clock) -> None:
    [ann] = Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    quinn, ada = Requester(vault, *staff["quinn"]), Approver(vault, *staff["ada"])
    early, late = (quinn.request([ann], ReidentificationReason.FEEDBACK, hours=2) for _ in range(2))
    ada.approve(early)
    clock.forward(hours=1, minutes=59)
    assert quinn.show(early) == {ann: [ANN]}
    clock.forward(minutes=1)
    for refused in (lambda: quinn.show(early), lambda: ada.approve(late), lambda: quinn.show(late)):
        with pytest.raises(AccessError, match="expired"):
            refused()
    assert [found.state for found in requests(vault)] == ["expired", "expired"]
    with vault.store.reading() as connection:  # and nothing of it is kept
        assert connection.execute(sa.text("SELECT opened FROM vault_requests")).scalars().all() == [None] * 2


def test_a_refused_request_stays_refused(vault: Vault, staff: Staff) -> None:
    [ann] = Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    quinn, ada = Requester(vault, *staff["quinn"]), Approver(vault, *staff["ada"])
    number = quinn.request([ann], ReidentificationReason.RECRUITING)
    ada.refuse(number)
    for refused in (lambda: quinn.show(number), lambda: ada.approve(number)):
        with pytest.raises(AccessError, match="refused already"):
            refused()


def test_a_dismissed_requester_gets_no_approval_and_cannot_look(vault: Vault, staff: Staff) -> None:
    [ann] = Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    number = Requester(vault, *staff["quentin"]).request([ann], ReidentificationReason.FEEDBACK)
    vault.dismiss(*staff["quinn"], "quentin")
    with pytest.raises(AccessError, match="no longer a requester"):
        Approver(vault, *staff["ada"]).approve(number)
    with pytest.raises(AccessError, match="no role"):
        Requester(vault, *staff["quentin"])
    with pytest.raises(ParameterError, match="last requester"):
        vault.dismiss(*staff["quinn"], "quinn")


def test_a_thief_of_the_store_reads_nothing(vault: Vault, staff: Staff) -> None:
    [ann] = Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    number = Requester(vault, *staff["quinn"]).request([ann], ReidentificationReason.FEEDBACK)
    Approver(vault, *staff["ada"]).approve(number)
    held = everything_in(vault.store)
    for value in ANN:
        for form in (value, value.encode().hex(), repr(value.encode())[2:-1], json.dumps(value)[1:-1]):
            assert form not in held


def open_with(halves: list[KeyPair], vault: Vault) -> list[bytes]:
    """What an attacker with some halves can make of all sealed identities."""
    from tarnkappe.pseudonym.sealing import POINT_BYTES, open_agreed
    from tarnkappe.pseudonym.vault.registrar import identity_place

    found = []
    with vault.store.reading() as connection:
        rows = connection.execute(sa.select(IDENTITIES)).all()
    for row in rows:
        point = row.sealed[:POINT_BYTES]
        for half in halves:
            point = half.agree(point)
        try:
            place = identity_place(vault.project, row.pseudonym)
            found.append(open_agreed(point, vault.record().public, row.sealed, place))
        except AccessError:
            continue
    return found


def test_the_key_of_one_role_opens_nothing_and_both_halves_do(vault: Vault, staff: Staff) -> None:
    """The insider with the file, the program and his own key, who keeps to no rule."""
    Registrar(vault, *staff["rita"]).pseudonyms([ANN, BOB])
    requesters = KeyPair(vault.share(*staff["quinn"], VaultRole.REQUESTER).secret)
    approvers = KeyPair(vault.share(*staff["ada"], VaultRole.APPROVER).secret[32:])
    registrars = KeyPair(vault.share(*staff["rita"], VaultRole.REGISTRAR).secret[:32])
    for attempt in (
        [requesters],
        [approvers],
        [registrars],
        [requesters, registrars],
        [approvers, registrars],
        [requesters] * 2,
    ):
        assert open_with(attempt, vault) == []
    assert len(open_with([requesters, approvers], vault)) == 2


def test_an_approval_opens_nothing_but_what_was_asked_for(vault: Vault, staff: Staff) -> None:
    """A requester applies what he was given for one person to the others."""
    ann, _ = Registrar(vault, *staff["rita"]).pseudonyms([ANN, BOB])
    quinn = Requester(vault, *staff["quinn"])
    number = quinn.request([ann], ReidentificationReason.FEEDBACK)
    Approver(vault, *staff["ada"]).approve(number)
    with vault.store.reading() as connection:
        opened = connection.execute(sa.text("SELECT opened FROM vault_requests")).scalar_one()
    content = json.loads(
        KeyPair.of(staff.keys["quinn"]).unseal(
            opened, json.dumps(["vault approval", "asthma", number]).encode()
        )
    )
    half = bytes.fromhex(content[ann][0][2])
    own = KeyPair(vault.share(*staff["quinn"], VaultRole.REQUESTER).secret)

    class Given:
        def agree(self, _: bytes) -> bytes:
            return half

    assert open_with([Given(), own], vault) == [json.dumps(ANN, ensure_ascii=False).encode()]


def test_an_identity_moved_to_another_pseudonym_is_refused(vault: Vault, staff: Staff) -> None:
    """Who can write to the file passes Bob off as Ann."""
    ann, _ = Registrar(vault, *staff["rita"]).pseudonyms([ANN, BOB])
    quinn, ada = Requester(vault, *staff["quinn"]), Approver(vault, *staff["ada"])
    ada.approve(before := quinn.request([ann], ReidentificationReason.FEEDBACK))
    with vault.store.writing() as connection:
        connection.execute(sa.delete(IDENTITIES).where(IDENTITIES.c.pseudonym == ann))
        connection.execute(sa.update(IDENTITIES).values(pseudonym=ann))
    assert quinn.show(before) == {ann: [ANN]}, "what was approved is what is shown"
    after = quinn.request([ann], ReidentificationReason.FEEDBACK)
    with pytest.raises(AccessError, match="tampered"):
        ada.approve(after)
    assert events(vault.store)[-1] == "vault refused"
    with pytest.raises(AccessError, match="tampered"):
        rotate(vault, staff["quinn"], staff["ada"])


def test_a_requester_who_can_write_to_the_store_gets_nobody_else_approved(vault: Vault, staff: Staff) -> None:
    """Quinn has a reason to ask for Ann, and wants to know who Bob is."""
    ann, bob = Registrar(vault, *staff["rita"]).pseudonyms([ANN, BOB])
    quinn, ada = Requester(vault, *staff["quinn"]), Approver(vault, *staff["ada"])
    number = quinn.request([ann], ReidentificationReason.FEEDBACK)
    with vault.store.writing() as connection:  # says that Bob was merged into Ann
        connection.execute(sa.update(PSEUDONYMS).where(PSEUDONYMS.c.pseudonym == bob).values(replaced_by=ann))
    with pytest.raises(AccessError, match="tampered"):
        ada.approve(number)
    with pytest.raises(AccessError, match="tampered"):
        rotate(vault, staff["quinn"], staff["ada"])
    with vault.store.writing() as connection:
        connection.execute(sa.update(PSEUDONYMS).values(replaced_by=None))
    with vault.store.writing() as connection:  # puts what is sealed for Bob beside Ann's
        row = connection.execute(sa.select(IDENTITIES).where(IDENTITIES.c.pseudonym == bob)).one()
        copy = {**row._mapping, "pseudonym": ann, "mark": b"new"}
        connection.execute(sa.insert(IDENTITIES).values(copy))
    with pytest.raises(AccessError, match="tampered"):
        ada.approve(number)


def test_a_registrar_notices_keys_that_an_attacker_has_put_there(vault: Vault, staff: Staff) -> None:
    """Who can write to the store exchanges the public key, or all that the registrar has."""
    from tarnkappe.pseudonym.vault.tables import VAULTS
    from tarnkappe.pseudonym.vault.vault import Shares

    mallory = Shares.new()
    Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    with vault.store.writing() as connection:
        honest = connection.execute(sa.select(VAULTS.c.public)).scalar_one()
        connection.execute(sa.update(VAULTS).values(public=mallory.public))
    Registrar(vault, *staff["rita"]).pseudonyms([BOB])
    assert open_with([mallory.requester, mallory.approver], vault) == [], "the registrar has the right one"
    with vault.store.writing() as connection:
        connection.execute(sa.update(VAULTS).values(public=honest))
        place = json.dumps(["vault share", "asthma", "rita", "registrar"]).encode()
        forged = seal(KeyPair.of(staff.keys["rita"]).public, mallory.of(VaultRole.REGISTRAR), place)
        connection.execute(sa.update(MEMBERS).where(MEMBERS.c.person == "rita").values(share=forged))
    with pytest.raises(AccessError, match="tampered"):
        Registrar(vault, *staff["rita"])


def test_rotation_makes_old_keys_worthless_and_keeps_every_pseudonym(vault: Vault, staff: Staff) -> None:
    desk = Registrar(vault, *staff["rita"])
    given = desk.pseudonyms([ANN, BOB])
    old = [
        KeyPair(vault.share(*staff["quentin"], VaultRole.REQUESTER).secret),
        KeyPair(vault.share(*staff["ada"], VaultRole.APPROVER).secret[32:]),
    ]
    quinn, ada = Requester(vault, *staff["quinn"]), Approver(vault, *staff["ada"])
    ada.approve(approved := quinn.request(given[:1], ReidentificationReason.FEEDBACK))
    vault.dismiss(*staff["quinn"], "quentin")
    assert rotate(vault, staff["quinn"], staff["ada"]) == 2
    assert open_with(old, vault) == []
    with pytest.raises(AccessError, match="keys were changed"):
        desk.pseudonyms([("Neu", "Ida", None)])
    assert Registrar(vault, *staff["rita"]).pseudonyms([ANN, BOB]) == given
    with pytest.raises(AccessError):
        quinn.show(approved)
    fresh = Requester(vault, *staff["quinn"])
    Approver(vault, *staff["ada"]).approve(number := fresh.request(given, ReidentificationReason.FEEDBACK))
    assert fresh.show(number) == {given[0]: [ANN], given[1]: [BOB]}
    with pytest.raises(AccessError):
        rotate(vault, staff["quinn"], staff["quinn"])


def test_spellings_of_one_person_are_merged_and_old_pseudonyms_still_lead_there(
    vault: Vault, staff: Staff
) -> None:
    desk = Registrar(vault, *staff["rita"])
    ann, anne, bob = (desk.pseudonyms([person])[0] for person in (ANN, ANNE, BOB))
    third = ("Muller", "Anna", None)
    assert desk.register([(ANN, ANNE, third), (BOB,)]) == [ann, bob]
    assert desk.pseudonyms([ANNE, third]) == [ann, ann]
    quinn = Requester(vault, *staff["quinn"])
    Approver(vault, *staff["ada"]).approve(number := quinn.request([anne], ReidentificationReason.CORRECTION))
    assert {frozenset(found) for found in quinn.show(number).values()} == {frozenset({ANN, ANNE, third})}
    fourth = ("Older", "One", None)
    desk.pseudonyms([fourth])
    assert desk.register([(fourth, BOB, ANNE)]) == [ann]
    assert desk.pseudonyms([ANN, ANNE, third, BOB, fourth]) == [ann] * 5
    assert events(vault.store).count("pseudonyms merged") == 2


def test_two_people_with_one_identity_are_refused(vault: Vault, staff: Staff) -> None:
    with pytest.raises(ParameterError, match="tells them apart"):
        Registrar(vault, *staff["rita"]).register([(ANN,), (ANN, BOB)])
    with pytest.raises(ParameterError, match="surname, given, born"):
        Registrar(vault, *staff["rita"]).pseudonyms([("Ann",)])


def test_what_is_asked_for_must_be_a_pseudonym_of_the_vault(vault: Vault, staff: Staff) -> None:
    quinn = Requester(vault, *staff["quinn"])
    for wrong in (["Erika Mustermann"], ["64S36D1NPH"], []):
        with pytest.raises(ParameterError) as refused:
            quinn.request(wrong, ReidentificationReason.FEEDBACK)
        assert "Erika" not in str(refused.value)
    assert requests(vault) == []
    with pytest.raises(ParameterError, match="no request 7"):
        quinn.show(7)


def test_a_vault_needs_everybody_and_is_made_once(store: Store, staff: Staff) -> None:
    members = [staff.member(name, role) for name, role in PEOPLE.items()]
    with pytest.raises(ParameterError, match="at least one approver"):
        Vault.create(store, "asthma", FIELDS, members[:3])
    Vault.create(store, "asthma", FIELDS, members)
    with pytest.raises(ParameterError, match="already"):
        Vault.create(store, "asthma", FIELDS, members)


def test_processes_that_register_the_same_people_at_once_agree(vault: Vault, place, staff: Staff) -> None:
    people = [("Name", str(number), None) for number in range(120)]
    given: list[list[str]] = []

    def register(order: int) -> None:
        own = Store.open(place)
        mine = people[order * 20 :] + people[: order * 20]
        found = dict(zip(mine, Registrar(Vault(own, "asthma"), *staff["rita"]).pseudonyms(mine), strict=True))
        given.append([found[person] for person in people])
        own.close()

    threads = [threading.Thread(target=register, args=(order,)) for order in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(given) == 4
    assert given.count(given[0]) == 4
    assert len(set(given[0])) == len(people)
    with vault.store.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(PSEUDONYMS)).scalar() == 120
    AuditLog(vault.store).verify()


def test_no_identity_is_in_an_error_or_the_log(vault: Vault, staff: Staff) -> None:
    secret = ("Geheimnis", "Gisela", "1911-11-11")
    desk = Registrar(vault, *staff["rita"])
    said = []
    for attempt in (
        lambda: desk.register([(secret,), (secret,)]),
        lambda: desk.pseudonyms([secret[:2]]),
        lambda: Requester(vault, *staff["quinn"]).request(list(secret), ReidentificationReason.FEEDBACK),
        lambda: Vault(vault.store, "asthma").share("Gisela", Key.new(), VaultRole.APPROVER),
        lambda: ReidentificationReason.parse("Gisela wants it"),
    ):
        with pytest.raises(TarnkappeError) as refused:
            attempt()
        said.append(str(refused.value))
    desk.pseudonyms([secret])
    text = "".join(said) + everything_in(vault.store)
    assert not [value for value in secret if value in text]


def key_file(tmp_path: Path, name: str, key: Key) -> Key:
    """The key of somebody in a file of its own, beside which it remembers vaults."""
    path = tmp_path / f"{name}.key"
    if not path.exists():
        Key.create(path)
    return Key(key._secret, path)


def test_a_key_remembers_the_vault_and_takes_no_other_in_its_place(
    vault: Vault, staff: Staff, tmp_path: Path
) -> None:
    rita = key_file(tmp_path, "rita", staff.keys["rita"])
    shown: list[str] = []
    vault.first_seen = shown.append
    vault.share("rita", rita, VaultRole.REGISTRAR)
    vault.share("rita", rita, VaultRole.REGISTRAR)
    assert shown == [vault.fingerprint]
    rotate(vault, staff["quinn"], staff["ada"])
    vault.share("rita", rita, VaultRole.REGISTRAR)
    assert shown != [vault.fingerprint], "the keys were changed"
    with vault.store.writing() as connection:  # the whole vault is made anew by somebody else
        for table in VAULT.metadata.sorted_tables:
            connection.execute(sa.delete(table))
    members = [staff.member(name, role) for name, role in PEOPLE.items()]
    other = Vault.create(vault.store, "asthma", FIELDS, members)
    with pytest.raises(AccessError, match="not the vault that this key has worked with"):
        other.share("rita", rita, VaultRole.REGISTRAR)
    assert events(vault.store)[-1] == "vault refused"
    Path(f"{rita.path}.vaults").unlink()
    other.share("rita", rita, VaultRole.REGISTRAR)


def test_an_older_copy_of_a_vault_is_refused(vault: Vault, staff: Staff, tmp_path: Path) -> None:
    rita = key_file(tmp_path, "rita", staff.keys["rita"])
    with vault.store.reading() as connection:
        before = [
            (table, connection.execute(sa.select(table)).mappings().all())
            for table in VAULT.metadata.sorted_tables
        ]
    rotate(vault, staff["quinn"], staff["ada"])
    vault.share("rita", rita, VaultRole.REGISTRAR)
    with vault.store.writing() as connection:
        for table, rows in before:
            connection.execute(sa.delete(table))
            if rows:
                connection.execute(sa.insert(table), [dict(row) for row in rows])
    with pytest.raises(AccessError, match="older copy"):
        vault.share("rita", rita, VaultRole.REGISTRAR)


@pytest.mark.parametrize("change", ["signature", "role", "public", "person"])
def test_keys_are_not_changed_for_members_whom_nobody_has_taken_in(
    vault: Vault, staff: Staff, change: str
) -> None:
    with vault.store.writing() as connection:
        if change == "signature":
            connection.execute(sa.update(PROOFS).values(signature="00" * 64))
        else:
            mallory = KeyPair.of(staff.keys["mallory"]).public
            new = {"role": "approver", "public": mallory, "person": "mallory"}[change]
            row = MEMBERS.c.person == "quentin"
            connection.execute(sa.update(MEMBERS).where(row).values({change: new}))
    with pytest.raises(AccessError, match="vault member is wrong"):
        rotate(vault, staff["quinn"], staff["ada"])


def test_what_is_approved_is_sealed_for_nobody_but_a_signed_requester(vault: Vault, staff: Staff) -> None:
    """Quentin can write to the store and wants to see what Quinn is shown."""
    ann = Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    number = Requester(vault, *staff["quinn"]).request(ann, ReidentificationReason.FEEDBACK)
    with vault.store.writing() as connection:
        connection.execute(sa.delete(MEMBERS).where(MEMBERS.c.person == "quentin"))
        own = KeyPair.of(staff.keys["quentin"]).public
        connection.execute(sa.update(MEMBERS).where(MEMBERS.c.person == "quinn").values(public=own))
    with pytest.raises(AccessError, match="tampered"):
        Approver(vault, *staff["ada"]).approve(number)


def test_a_vault_of_an_earlier_version_is_renewed_by_two_people(vault: Vault, staff: Staff) -> None:
    """Its shares had no signing key in front, and it had neither roots nor proofs."""
    given = Registrar(vault, *staff["rita"]).pseudonyms([ANN])
    with vault.store.writing() as connection:
        for name, role in PEOPLE.items():
            place = json.dumps(["vault share", "asthma", name, role]).encode()
            pair = KeyPair.of(staff.keys[name])
            old = vault.sealed_share(name, staff.keys[name], role)[32:]
            row = sa.update(MEMBERS).where(MEMBERS.c.person == name)
            connection.execute(row.values(share=seal(pair.public, old, place)))
        connection.execute(sa.delete(ROOTS))
        connection.execute(sa.delete(PROOFS))
    for refused in (
        lambda: Registrar(vault, *staff["rita"]),
        lambda: rotate(vault, staff["quinn"], staff["ada"]),
    ):
        with pytest.raises(AccessError, match="--trust-members"):
            refused()
    rotate(vault, staff["quinn"], staff["ada"], trust_members=True)
    assert Registrar(vault, *staff["rita"]).pseudonyms([ANN]) == given
    rotate(vault, staff["quinn"], staff["ada"])
    assert Registrar(vault, *staff["rita"]).pseudonyms([ANN]) == given
