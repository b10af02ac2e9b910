"""Makes the stores of version 0.1.0 that tests upgrade. It runs with the code of that version, not of today.

From a folder with that version (commit a61bd8e), with its `src` on the path of Python and the folder itself
as the current one, since scenes come from its tests:

    python make.py OUT

Each store is made by a process of its own: which tables a store of 0.1.0 has depends on what was imported.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

PEOPLE = "id,age,town,illness\n" + "".join(
    f"p{n},{20 + n % 30},{('Ulm', 'Bonn')[n % 2]},{('flu', 'cold', 'gout', 'asthma')[n % 4]}\n"
    for n in range(60)
)
POLICY = """
[table]
source = "people.csv"
name = "people"
key = "id"
quasi_identifiers = ["age", "town"]

[sensitive.illness]
values = ["flu", "cold", "gout", "asthma", "angina"]

[protection]
k = 2
"""


def gate(out: Path) -> None:
    """Forty answers about sixty people."""
    from tarnkappe.gate.monitor import QueryMonitor
    from tarnkappe.gate.policy import GatePolicy
    from tarnkappe.gate.question import GateQuery

    (out / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (out / "gate.toml").write_text(POLICY, encoding="utf-8")
    keeper = QueryMonitor.open(GatePolicy.load(out / "gate.toml"))
    answered = 0
    for low in range(20, 30):
        for width in (12, 14, 17, 20):
            question = GateQuery(("age", "town", "illness"), '"age" BETWEEN ? AND ?', (low, low + width))
            answered += hasattr(keeper.answer("ann", question), "rows")
    assert answered == 40, answered
    keeper.close()


def budgets(out: Path) -> None:
    """Two users, one of whom has spent."""
    from tarnkappe.state import Budgets, Store

    store = Store.open(out / "budgets.db")
    kept = Budgets(store)
    for user, table, epsilon in (("ann", "patients", 3), ("ann", "wards", 1), ("bob", "patients", 2)):
        kept.grant(user, table, Fraction(epsilon))
    for epsilon in ("0.5", "0.25", "1/3"):
        kept.spend("ann", "patients", Fraction(epsilon))
    store.close()


def releases(out: Path) -> None:
    """The two releases of the worked example of a ward."""
    from tests.risk.test_histories import ward

    from tarnkappe.risk.history import ReleaseHistory
    from tarnkappe.state import Key, Store

    store = Store.open(out / "releases.db")
    history = ReleaseHistory(store, Key(bytes(range(32))), "ward")
    history.record("first", ward("f-h3"))
    history.record("second", ward("f-h4"))
    store.close()


def vault(out: Path) -> None:
    """Two people with pseudonyms; one was identified again, and a second request is open."""
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
    from tarnkappe.state import Key, Store

    keys = {name: Key(bytes([place]) * 32) for place, name in enumerate(("rita", "quinn", "ada"), 1)}
    roles = {"rita": VaultRole.REGISTRAR, "quinn": VaultRole.REQUESTER, "ada": VaultRole.APPROVER}
    store = Store.open(out / "vault.db")
    members = [VaultMember(name, role, KeyPair.of(keys[name]).public) for name, role in roles.items()]
    made = Vault.create(store, "study", ["surname", "born"], members)
    registrar = Registrar(made, "rita", keys["rita"])
    names = registrar.pseudonyms([("Meyer", "1950-01-01"), ("Abend", "1961-02-02")])
    (out / "pseudonyms.json").write_text(json.dumps(list(names)), encoding="utf-8")
    requester = Requester(made, "quinn", keys["quinn"])
    number = requester.request([names[0]], ReidentificationReason.FEEDBACK)
    Approver(made, "ada", keys["ada"]).approve(number)
    requester.show(number)
    requester.request([names[1]], ReidentificationReason.CORRECTION)
    store.close()


def exchange(out: Path) -> None:
    """A request in each state, a withdrawal and a consent."""
    from tests.exchange.scenes import request
    from tests.exchange.test_desk import accepted, decide, desk

    from tarnkappe.exchange.desk import RequestState
    from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
    from tarnkappe.state import Store

    store = Store.open(out / "desk.db")
    at = desk(store)
    at.register.consent("P01", Consent(ConsentScope.THIS_STUDY, datetime(2099, 1, 1, tzinfo=UTC)))
    at.withdraw_patient("P13")
    made = {state: request(id=state.value) for state in RequestState}
    accepted(at, made[RequestState.DELIVERED])
    at.answer(made[RequestState.DELIVERED].digest, "A")
    at.confirm(made[RequestState.DELIVERED].digest, "A")
    accepted(at, made[RequestState.SENT])
    at.answer(made[RequestState.SENT].digest, "A")
    accepted(at, made[RequestState.ACCEPTED])
    for state in (RequestState.EXPIRED, RequestState.WITHDRAWN, RequestState.RECEIVED):
        at.receive(made[state])
        if state is RequestState.EXPIRED:
            at.expire(datetime.now(UTC) + timedelta(days=400))
        if state is RequestState.WITHDRAWN:
            at.withdraw_request(made[state].digest, "A")
    for state in (RequestState.CHECKED, RequestState.HALF_AGREED, RequestState.REJECTED):
        at.receive(made[state])
        at.check(made[state].digest, "Stew")
        if state is not RequestState.CHECKED:
            decide(at, made[state].digest, "Ann", accepts=state is RequestState.HALF_AGREED)
    found = {each.id: str(state) for each, state in at.requests()}
    assert found == {state.value: state.value for state in RequestState}, found
    store.close()


def peer(out: Path) -> None:
    """What was asked of others and not sent yet."""
    from tests.exchange.scenes import request, surroundings

    from tarnkappe.exchange.peer import Outbox
    from tarnkappe.state import Store

    store = Store.open(out / "outbox.db")
    network = surroundings().network
    outbox = Outbox(store, network, None)
    for number in ("one", "two"):
        outbox.add(request(id=number), "A")
    store.close()


def statistics(out: Path) -> None:
    """Figures of the population."""
    from tarnkappe.exchange.example import facts
    from tarnkappe.exchange.statistics import Statistics
    from tarnkappe.state import Store

    store = Store.open(out / "statistics.db")
    Statistics(store).add(list(facts())[:200], "made-up census", "0" * 64)
    store.close()


def service(out: Path) -> None:
    """People, tokens, a session, uploads, jobs in all states, a draft; a Bob who is the second of his name."""
    from tarnkappe.service.core import ServiceCore
    from tarnkappe.service.settings import Limits, ServiceSettings

    table = b"age,town,illness\n" + b"".join(b"%d,Ulm,flu\n" % (20 + n % 9) for n in range(40))
    settings = ServiceSettings(folder=out, limits=Limits(jobs_at_once=1, job_seconds=120.0))
    secrets: dict[str, object] = {"made": time.time()}
    with ServiceCore(settings) as house:
        ann = house.people.add("ann", ["steward", "auditor"], "correct horse battery")
        first = house.people.add("bob", ["steward"])
        house.files.store([table], "of the first bob.csv", first)
        house.people.remove("bob")
        time.sleep(2.0)  # whose an upload is, is told by when it came
        bob = house.people.add("bob", ["steward"])
        secrets["token"] = house.people.tokens.make(ann, "laptop")[1]
        secrets["session"] = house.people.log_in("ann", "correct horse battery").secret
        upload = house.files.store([table], "ward.csv", ann)
        other = house.files.store([table], "other.csv", bob)
        gone = house.files.store([table], "gone.csv", ann)
        for file in (upload, other, gone):
            who = bob if file is other else ann
            job = house.jobs.start("profile", {"input": {"file": file.id}}, who)
            while not house.jobs.get(job.id, who).has_ended:
                time.sleep(0.05)
            assert house.jobs.get(job.id, who).state == "done", house.jobs.get(job.id, who).error
        columns = {"age": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}}
        document = {"input": {"file": upload.id}, "columns": columns}
        hard = document | {"privacy": [{"model": "k-anonymity", "k": 1000}]}
        failed = house.jobs.start("anonymize", hard, ann)
        while not house.jobs.get(failed.id, ann).has_ended:
            time.sleep(0.05)
        assert house.jobs.get(failed.id, ann).state == "failed"
        house.files.remove(gone.id, ann)
        drafts = out / "drafts"
        drafts.mkdir()
        for file in (upload, gone):
            content = {"file": file.id, "roles": {"age": "quasi-identifier", "illness": "sensitive"}}
            (drafts / f"{file.id}.json").write_text(json.dumps(content), encoding="utf-8")
        secrets |= {"upload": upload.id, "other": other.id, "gone": gone.id, "failed": failed.id}
    house = ServiceCore(settings)  # without runners: what is asked for now waits
    waiting = house.jobs.start("profile", {"input": {"file": upload.id}}, ann)
    cancelled = house.jobs.start("profile", {"input": {"file": upload.id}}, ann)
    house.jobs.cancel(cancelled.id, ann)
    secrets |= {"waiting": waiting.id, "cancelled": cancelled.id}
    house.store.close()
    (out / "known.json").write_text(json.dumps(secrets), encoding="utf-8")


def schema(out: Path) -> None:
    """What version 0.1.0 makes on PostgreSQL, as SQL."""
    import sqlalchemy as sa
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.schema import CreateIndex, CreateTable

    import tarnkappe.exchange.desk
    import tarnkappe.exchange.peer
    import tarnkappe.exchange.statistics
    import tarnkappe.gate.history_store
    import tarnkappe.pseudonym
    import tarnkappe.service.core  # noqa: F401 - they define tables
    from tarnkappe.state.audit import TRIGGERS
    from tarnkappe.state.store import METADATA

    dialect, statements = postgresql.dialect(), []
    for table in METADATA.sorted_tables:
        parts: list[sa.Executable] = [CreateTable(table), *map(CreateIndex, sorted(table.indexes, key=str))]
        statements += [str(part.compile(dialect=dialect)).strip() for part in parts]
    text = ";\n".join([*statements, *TRIGGERS["postgresql"]])
    (out / "postgresql.sql").write_text(text + ";\n", encoding="utf-8")


MAKERS = (gate, budgets, releases, vault, exchange, peer, statistics, service, schema)


def main(out: Path) -> None:
    """Make everything, each in a process of its own, and pack the databases."""
    for maker in MAKERS:
        with tempfile.TemporaryDirectory() as made:
            subprocess.run(
                [sys.executable, __file__, maker.__name__, made],
                check=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])},
            )
            target = out / maker.__name__
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(made, target, ignore=shutil.ignore_patterns("*.lock", ".lock"))
        for path in sorted([*target.rglob("*.db"), *target.rglob("*.state")]):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        {maker.__name__: maker for maker in MAKERS}[sys.argv[1]](Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]).absolute())
