"""The parts of the house beside publishing: the gate's console, the inbox of the exchange, the federation monitor."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from tarnkappe.exchange import Anchor, DataRequest, Purpose, Wanted
from tarnkappe.exchange.example import make
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.federation.contract import Partitioning, Protocol
from tarnkappe.gate.monitor import QueryMonitor
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import AnswerRows, GateQuery, RefusedQuery
from tarnkappe.table import examples
from tarnkappe.table import read as read_table
from tests.cli.test_gate import PEOPLE, POLICY
from tests.federation.federations import example
from tests.federation.site_files import serve, wait_for, write_sites
from tests.web.conftest import entered
from tests.web.test_axe import findings
from tests.web.test_login import join
from tests.web.test_pages import start

pytestmark = pytest.mark.slow


def asked_gate(folder: Path) -> Path:
    """A gate that two people have asked."""
    folder.mkdir()
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "gate.toml").write_text(f"{POLICY}\n[answer]\nmin_rows = 5\n", encoding="utf-8")
    keeper = QueryMonitor.open(GatePolicy.load(folder / "gate.toml"))
    for user, town in (("bob", "Ulm"), ("eve", "Bonn"), ("bob", "Bonn")):
        assert isinstance(
            keeper.answer(user, GateQuery(("age", "illness"), '"town" = ?', (town,))), AnswerRows
        )
    refused = keeper.answer("mallory", GateQuery(("illness",), '"age" = ?', (20,)))
    assert isinstance(refused, RefusedQuery)
    keeper.close()
    return folder / "gate.toml"


def asked_site(folder: Path) -> Path:
    """An institution that another one has asked for data."""
    [_, site] = make(folder, people=1500)
    desk = ExchangeSite.load(site).desk()
    desk.receive(
        DataRequest(
            id=uuid.uuid4().hex,
            requester="Rob",
            institution="A",
            purpose=Purpose.RESEARCH,
            question="Does the medication raise the weight?",
            anchor=Anchor("medication", (desk_value(folder),)),
            wanted=(Wanted("age"), Wanted("sex"), Wanted("diagnosis")),
        )
    )
    return site


def desk_value(folder: Path) -> str:
    from tarnkappe.exchange.statistics.example import MEDICATIONS

    del folder
    return next(iter(MEDICATIONS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(scope="module")
def consortium(folder: Path) -> Path:
    """The sites of a federation, which do not run yet."""
    sites = folder / "federation"
    sites.mkdir()
    write_sites(sites, example(Protocol.RING, Partitioning.HORIZONTAL), patience=20)
    return sites


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def clinic(folder: Path) -> Path:
    """A database with one table of patients."""
    patients = examples.hospital(rows=400, seed=3).table.data.select(["age", "sex", "postcode", "diagnosis"])
    with sqlite3.connect(folder / "clinic.db") as database:
        database.execute("CREATE TABLE patients (age INTEGER, sex TEXT, postcode TEXT, diagnosis TEXT)")
        rows = [tuple(row.values()) for row in patients.to_pylist()]
        database.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", rows)
    database.close()
    return folder / "clinic.db"


@pytest.fixture(scope="module")
def equipped(browser, folder: Path, consortium: Path):
    """A service with a gate, a desk, a federation and a database."""
    settings = folder / "service.toml"
    settings.write_text(
        f"""[gates]
ward = "{asked_gate(folder / "gate")}"
[sites]
B = "{asked_site(folder / "exchange")}"
[federations]
consortium = "{consortium / "job.toml"}"
[databases]
clinic = "sqlite:///{clinic(folder)}"
""",
        encoding="utf-8",
    )
    with entered(browser, folder / "house", "--settings", str(settings)) as made:
        yield made


def test_the_gate_is_watched_and_proven(walk, equipped) -> None:
    here = walk(at=equipped)
    here.open("/gate")
    here.page.get_by_role("rowheader").first.wait_for()
    here.see("The log is whole")
    asked = here.page.get_by_role("region", name="Who asked what")
    assert [row.split("\t")[0] for row in asked.inner_text().splitlines()[1:]] == [
        "mallory",
        "bob",
        "eve",
        "bob",
    ]
    here.see("refused: fewer than 5 people: ask for more")
    here.page.get_by_role("img", name="Fewest values that stay possible for anybody").wait_for()
    here.picture("gate", whole=True)
    here.press("Prove now")
    here.see("everybody keeps at least 2 possible values")
    here.open("/gate?name=nowhere")
    here.see("there is no gate of this name")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_parts_that_have_something_to_show_have_no_serious_finding(walk, equipped, theme: str) -> None:
    here = walk(at=equipped, color_scheme=theme)
    shown = {"/files": "Or name a table", "/gate": "Who asked what", "/exchange": "B", "/federation": "P1"}
    for path, text in shown.items():
        here.open(path)
        here.see(text)
        here.page.wait_for_timeout(300)
        assert findings(here) == [], path


def test_a_request_is_checked_by_the_steward_and_decided_by_the_physician(walk, equipped, folder) -> None:
    ann, stew = walk(at=equipped), walk(at=equipped, who="")
    join(ann, stew, "Stew", "Data steward")
    stew.see("Your password was changed.")
    stew.open("/exchange")
    stew.page.get_by_role("rowheader").first.get_by_role("link").click()
    stew.press("Check this request")
    stew.heading("Recommendation")
    stew.page.get_by_text("Accept and sign").wait_for(state="detached")

    ann.open("/exchange")
    ann.page.get_by_role("rowheader").first.get_by_role("link").click()
    ann.heading("Your decision")
    ann.picture("exchange")
    ann.page.get_by_label("Why do you decide so?").fill("It keeps everybody safe.")
    ann.page.get_by_label("Your key").fill("not a key")
    ann.press("Reject and sign")
    ann.see("this is no key of 64 hexadecimal digits")
    ann.page.get_by_label("Your key").fill((folder / "exchange" / "keys" / "Ann.key").read_text().strip())
    ann.press("Reject and sign")
    ann.see("rejected")


def test_a_federation_whose_parties_do_not_answer_is_told_so(walk, equipped) -> None:
    here = walk(at=equipped)
    here.open("/federation")
    here.heading("Who learns what")
    here.see("cannot be reached")


def test_a_federation_is_followed_while_it_runs(walk, equipped, consortium, started) -> None:
    ports = {
        name: int(address.rpartition(":")[2])
        for name, address in re.findall(r'(?m)^(\w+) = "([\d.]+:\d+)"', (consortium / "job.toml").read_text())
    }
    for name in ports:
        serve(name, consortium, started)
    wait_for(ports)
    here = walk(at=equipped)
    here.open("/federation")
    parties = here.page.get_by_role("region", name="Parties")
    parties.get_by_role("rowheader").first.wait_for()
    here.see("waits for a run")
    here.press("Start the run")
    here.see("The run is over: every site has the release.")
    here.page.wait_for_function(
        """parties => [...document.querySelectorAll('tbody tr')].filter(
        row => row.cells[1].innerText === 'done').length === parties""",
        arg=len(ports),
    )
    messages = [
        int(row.get_by_role("cell").nth(1).inner_text()) for row in parties.get_by_role("row").all()[1:]
    ]
    assert sum(messages) > 0
    here.picture("federation")
    assert len(list(consortium.glob("P*/*/release.parquet"))) == sum(name.startswith("P") for name in ports)


def test_a_table_of_a_database_is_published(walk, equipped) -> None:
    here = walk(at=equipped)
    here.open("/files")
    here.heading("Or name a table of a database")
    here.picture("database")
    here.page.get_by_label("Table", exact=True).fill("nobody")
    here.press("Take this table")
    here.page.wait_for_url("**/columns")
    said = here.see("there is no table 'nobody'").inner_text()
    assert "sqlite" not in said, "the address stays in the settings"
    here.open("/files")
    here.page.get_by_label("Table", exact=True).fill("patients")
    here.press("Take this table")
    here.page.wait_for_url("**/columns")
    here.page.get_by_label("Role of age", exact=True).wait_for()
    file = re.search(r"/files/\w+", here.page.url).group()
    start(here, file)
    with here.page.expect_download() as waiting:
        here.follow("Release as Excel")
    rows = read_table(Path(waiting.value.path()).rename(equipped.log.parent / "release.xlsx")).num_rows
    assert 380 <= rows <= 400
