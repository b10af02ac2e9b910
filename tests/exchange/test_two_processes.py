"""Must show: the worked requests between two real processes, on PostgreSQL and on SQLite (§12.2, §12.6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from tarnkappe.exchange import Anchor, DataRequest
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.decisions import decision_statement
from tarnkappe.exchange.desk.packages import opened
from tarnkappe.exchange.example import make, write_toml
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.federation.certificates import Authority
from tarnkappe.state import Key, Signer
from tests.exchange.scenes import ASKED, FIXTURE, free_port, patients, request
from tests.exchange.test_desk import DUTIES, KEYS
from tests.exchange.test_worked_requests import BORN, born, dependent_on_age

STEW = ("--key", "keys/Stew.key")
TARN = [sys.executable, "-c", "from tarnkappe.cli import main; main()"]


def ward() -> pa.Table:
    """The patients of all worked requests, each under a medication of its own."""
    second = patients(P02={"diagnosis": "D1"})
    parts = [patients(), second, patients(FIXTURE["rows"][:4])]
    named = []
    for letter, medication, part in zip("PQR", "XYZ", parts, strict=True):
        ids = pa.array([f"{letter}{row:02}" for row in range(part.num_rows)])
        part = part.set_column(part.column_names.index("id"), "id", ids)
        part = part.set_column(
            part.column_names.index("medication"), "medication", pa.array([medication] * part.num_rows)
        )
        named.append(part.append_column("born", pa.array([1950] * part.num_rows)))
    # As many were born in the same years and take W: of people who look alike, V tells too little to be told.
    young = born().select(named[0].column_names)
    others = young.set_column(0, "id", pa.array([f"W{row:02}" for row in range(young.num_rows)]))
    place = others.column_names.index("medication")
    others = others.set_column(place, "medication", pa.array(["W"] * others.num_rows))
    return pa.concat_tables([*named, young, others])


def fill(address: str, table: pa.Table) -> None:
    engine = sa.create_engine(address.replace("postgresql:", "postgresql+psycopg:", 1))
    numbers = ("age", "weight", "born")
    made = sa.Table(
        "ward",
        sa.MetaData(),
        *(sa.Column(n, sa.Integer if n in numbers else sa.String) for n in table.column_names),
    )
    with engine.begin() as connection:
        made.create(connection)
        connection.execute(sa.insert(made), table.to_pylist())
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Where databases are, by their names."""
    if request.param == "sqlite":
        yield lambda name: f"sqlite:///{tmp_path / name}.db"
        return
    server = sa.make_url(request.getfixturevalue("postgres"))
    names = ("exchange_a", "exchange_b", "exchange_ward", "exchange_statistics")
    engine = sa.create_engine(server.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for name in names:
            connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    yield lambda name: server.set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        for name in names:
            connection.execute(sa.text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    engine.dispose()


@pytest.fixture
def folder(tmp_path: Path, places: Callable[[str], str]) -> Path:
    """Two institutions as files: A asks, B has the patients; all databases are of one kind."""
    authority, members = Authority(tmp_path / "certificates"), {}
    for name in "AB":
        authority.issue(name)
        public = Signer(Key.load(tmp_path / f"{name}.key", create=True)).public
        members[name] = {"purposes": ["research"], "bound_to_secrecy": True, "public_key": public}
    write_toml(tmp_path / "network.toml", {"members": members})
    fill(places("exchange_ward"), ward())
    port = free_port()
    certificates = {"authority": "certificates/authority.pem"}
    sites: dict[str, dict[str, Any]] = {
        "A": {"peers": {"B": f"127.0.0.1:{port}"}},
        "B": {
            "catalogue": "catalogue.toml",
            "policy": "policy.toml",
            "staff": "staff.toml",
            "statistics": places("exchange_statistics"),
            "listen": f"127.0.0.1:{port}",
            "patients": {"database": places("exchange_ward"), "table": "ward", "patient": "id"},
        },
    }
    for name, more in sites.items():
        own = certificates | {part: f"certificates/{name}.{part[:3]}" for part in ("key", "pem")}
        own["certificate"] = own.pop("pem")
        common = {"name": name, "store": places(f"exchange_{name.lower()}"), "key": f"{name}.key"}
        write_toml(
            tmp_path / f"{name}.toml", common | {"network": "network.toml"} | more | {"certificates": own}
        )
    attributes = {**FIXTURE["catalogue"]["attributes"], "born": BORN}
    write_toml(tmp_path / "catalogue.toml", {"attributes": attributes})
    write_toml(tmp_path / "policy.toml", FIXTURE["policy"])
    staff = {
        name: {
            "duties": [str(duty) for duty in DUTIES[name]],
            "public_key": Signer(Key.load(tmp_path / "keys" / f"{name}.key", create=True)).public,
        }
        for name in KEYS
    }
    write_toml(tmp_path / "staff.toml", {"people": staff})
    return tmp_path


def tarn(folder: Path, *words: str, code: int = 0) -> dict:
    command = [*TARN, *words, "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if done.stdout else {}


@contextmanager
def serving(folder: Path, name: str = "B") -> Iterator[subprocess.Popen]:
    """An institution as a process of its own; it is killed at the end, as by a power failure."""
    command = [*TARN, "exchange", "serve", "--site", f"{name}.toml", "--every", "1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert "listening" in process.stderr.readline()
            yield process
        finally:
            process.kill()


@contextmanager
def desk_of(folder: Path) -> Iterator[RequestWorkflow]:
    """The desk of B, as the program of one of its people opens it."""
    with ExchangeSite.load(folder / "B.toml") as site:
        yield site.desk()


def answered(folder: Path, desk: RequestWorkflow, *sent: DataRequest) -> list[pa.Table | None]:
    """B's people check and decide, not in the process that serves; A's packages, None for a refusal."""
    keys = {name: Key.load(folder / "keys" / f"{name}.key") for name in KEYS}
    with ExchangeSite.load(folder / "A.toml") as site:
        outbox = site.outbox()
        for each in sent:
            outbox.add(each, "B")
        while outbox.work():
            pass
        for each in sent:
            found = desk.check(each.digest, "Stew")
            for person in ("Ann", "Cleo") if found.package is not None else ("Ann",):
                content = desk.to_decide(
                    each.digest, person, accepts=found.package is not None, reason="As recommended."
                )
                desk.decide(content, Signer(keys[person]).sign(decision_statement(content)))
        while outbox.work():
            pass
        came = {each.request.digest: each for each in outbox.all()}
        assert {came[each.digest].state for each in sent} == {"closed"}
        packages = [came[each.digest].package for each in sent]
    return [None if package is None else opened(package) for package in packages]


def classes(package: pa.Table) -> dict[str, int]:
    known = [name for name in package.column_names if name != "diagnosis"]
    return dict(Counter(", ".join(map(str, row.values())) for row in package.select(known).to_pylist()))


@pytest.mark.slow
def test_all_worked_requests_between_two_processes(folder: Path) -> None:
    by = {name: {"id": name, "anchor": Anchor("medication", (name,))} for name in "XYZV"}
    with serving(folder), desk_of(folder) as desk:
        dependent_on_age(desk.around.statistics)
        first, second, third, fourth, e3 = answered(
            folder,
            desk,
            request(**by["X"]),
            request(**by["Y"]),
            request(**by["Z"]),
            request(*ASKED, "name", **by["X"] | {"id": "F-REQ-4"}),
            request("born", "diagnosis", **by["V"]),
        )
    assert classes(first) == classes(fourth) == FIXTURE["expected"]["classes"]
    assert classes(second) == {"40-59, M, 80-99, Schweisser": 6, "40-59, W, 60-79, Buero": 6}
    assert third is None
    assert set(fourth.column_names) == set(first.column_names)
    assert set(e3.column("born").to_pylist()) == {"19XX", "20XX"}
    with desk_of(folder) as desk:
        desk.log.verify()
        told = json.dumps([dict(entry.details) for entry in desk.log.entries()])
    assert not any(word in told for word in ("Schweisser", "P01", "D1", "JP"))


@pytest.mark.slow
def test_a_request_by_the_command_line_with_both_sides_killed_and_offline(folder: Path) -> None:
    wants = [word for name in ASKED for word in ("--want", name)]
    ask = ["exchange", "request", "--site", "A.toml", "--to", "B", "--select", "medication=X", *wants]
    made = tarn(folder, *ask, "--question", "Why?", "--as", "Dr. Ask")
    assert made["state"] == "queued"  # B is not there yet
    with serving(folder):
        assert tarn(folder, "exchange", "fetch", "--site", "A.toml")["requests"][0]["state"] == "sent"
    at_b = ["--site", "B.toml"]
    found = tarn(folder, "exchange", "review", made["request"][:10], *at_b, "--check-as", "Stew", *STEW)
    assert found["verdict"] == "release with changes"
    assert found["metrics"]["discernibility"] == 49
    for person in ("Ann", "Cleo"):
        how = ["--as", person, "--key", f"keys/{person}.key", "--reason", "yes", "--accept"]
        tarn(folder, "exchange", "decide", made["request"], *at_b, *how)
    with serving(folder):
        done = tarn(folder, "exchange", "fetch", "--site", "A.toml", "--out", "packages")["requests"][0]
    assert (done["state"], done["verdict"]) == ("closed", "released")
    assert len(Path(folder / done["file"]).read_text().splitlines()) == 13
    assert tarn(folder, "exchange", "patient", "P01", *at_b)["disclosures"][0]["recipient"] == "A"
    head = tarn(folder, "exchange", "audit", *at_b)["head"]
    assert tarn(folder, "exchange", "audit", *at_b, "--head", head)["head"] == head
    tarn(folder, "exchange", "audit", *at_b, "--head", "0" * 63 + "1", code=1)


@pytest.mark.slow
def test_the_example_shares_statistics_and_identifies_somebody_again(tmp_path: Path) -> None:
    """What the how-to shows, as a new user would type it."""
    folder = tmp_path / "trial"
    make(folder, 2000)
    for name in "AB":
        tarn(folder, "exchange", "share", "--site", f"{name}.toml", "--epsilon", "1", "--as", "Stew")
    with serving(folder):
        found = tarn(folder, "exchange", "gather", "--site", "A.toml")
        assert found["institutions"] == {"B": "new"}
        assert found["figures"] > 0
        with desk_of(folder) as desk:
            # If only who takes it had consented, consent alone would tell what she takes.
            for row in desk.around.institution.everybody(["medication"]).to_pylist():
                _consent(desk, row["patient"])
        ask = ["exchange", "request", "--site", "A.toml", "--to", "B", "--select", "medication=ibuprofen"]
        how = ["--want", "sex", "--purpose", "clinical", "--reidentification", "--question", "?"]
        made = tarn(folder, *ask, *how, "--as", "Dr. Ask")["request"]
        tarn(folder, "exchange", "review", made, "--site", "B.toml", "--check-as", "Stew", *STEW)
        for person in ("Ann", "Cleo"):
            signed = ["--as", person, "--key", f"keys/{person}.key", "--reason", "yes", "--accept"]
            tarn(folder, "exchange", "decide", made, "--site", "B.toml", *signed)
        [done] = tarn(folder, "exchange", "fetch", "--site", "A.toml", "--out", "p")["requests"]
        who = Path(folder / done["file"]).read_text().splitlines()[1].rpartition(",")[2]
        wish = [
            "ask",
            made,
            "--site",
            "A.toml",
            "--pseudonym",
            who,
            "--reason",
            "feedback",
            "--as",
            "Dr. Ask",
        ]
        asked = tarn(folder, "exchange", "reidentify", *wish)
        assert asked["state"] == "asked"
        signed = ["--site", "B.toml", "--as", "Ann", "--key", "keys/Ann.key"]
        number = tarn(folder, "exchange", "reidentify", "forward", asked["wish"], *signed)["vault_request"]
    vault = ["--vault", "vault.db", "--project", "exchange"]
    approver = [str(number), *vault, "--as", "Paul", "--key", "keys/Paul.key"]
    tarn(folder, "reidentify", "approve", *approver)
    shown = tarn(folder, "reidentify", "show", str(number), *vault, "--as", "Ann", "--key", "keys/Ann.key")
    assert "P0" in json.dumps(shown)


def _consent(desk: Any, patient: str) -> None:
    from datetime import UTC, datetime, timedelta

    from tarnkappe.pseudonym.models.consent import Consent, ConsentScope

    desk.register.consent(patient, Consent(ConsentScope.THIS_STUDY, datetime.now(UTC) + timedelta(days=9)))
