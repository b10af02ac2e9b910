"""The parts of the house beside publishing: the gate's console, the inbox of the exchange, the federation monitor."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from tarnkappe.exchange import Anchor, Purpose, Request, Wanted
from tarnkappe.exchange.example import make
from tarnkappe.exchange.site import Site
from tarnkappe.federation.contract import Distribution, Protocol
from tarnkappe.gate.keeper import Keeper
from tarnkappe.gate.policy import Policy
from tarnkappe.gate.question import Question, Rows
from tests.cli.test_gate import PEOPLE, POLICY
from tests.federation.federations import example
from tests.federation.site_files import write_sites
from tests.web.conftest import entered
from tests.web.steps import Walk

pytestmark = pytest.mark.slow
PASSWORD = "correct horse battery"


def asked_gate(folder: Path) -> Path:
    """A gate that two people have asked."""
    folder.mkdir()
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "gate.toml").write_text(POLICY, encoding="utf-8")
    keeper = Keeper.open(Policy.load(folder / "gate.toml"))
    for user, town in (("bob", "Ulm"), ("eve", "Bonn"), ("bob", "Bonn")):
        assert isinstance(keeper.answer(user, Question(("age", "illness"), '"town" = ?', (town,))), Rows)
    keeper.close()
    return folder / "gate.toml"


def asked_site(folder: Path) -> Path:
    """An institution that another one has asked for data."""
    [_, site] = make(folder, people=1500)
    desk = Site.load(site).desk()
    desk.receive(
        Request(
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
def equipped(browser, folder: Path):
    """A service with a gate, a desk and a federation."""
    sites = folder / "federation"
    sites.mkdir()
    write_sites(sites, example(Protocol.RING, Distribution.HORIZONTAL), patience=2)
    settings = folder / "service.toml"
    settings.write_text(
        f"""[gates]
ward = "{asked_gate(folder / "gate")}"
[sites]
B = "{asked_site(folder / "exchange")}"
[federations]
consortium = "{next(path for path in sites.glob("*.toml") if "[federation]" in path.read_text())}"
""",
        encoding="utf-8",
    )
    with entered(browser, folder / "house", "--settings", str(settings)) as made:
        yield made


def log_in(here: Walk, name: str, path: str) -> None:
    here.open(f"/login?next={path}")
    here.page.get_by_label("Name").fill(name)
    here.page.get_by_label("Password").fill(PASSWORD)
    here.press("Log in")
    here.page.wait_for_url(f"**{path}")


def test_the_gate_is_watched_and_proven(walk, equipped) -> None:
    here = walk(at=equipped)
    here.open("/gate")
    here.page.get_by_role("rowheader").first.wait_for()
    here.see("The log is whole")
    here.press("Prove now")
    here.see("everybody keeps at least 2 possible values")
    here.picture("gate")
    here.open("/gate?name=nowhere")
    here.see("there is no gate of this name")


def test_a_request_is_checked_by_the_steward_and_decided_by_the_physician(walk, equipped, folder) -> None:
    ann = walk(at=equipped)
    ann.open("/settings")
    ann.page.get_by_label("Name", exact=True).fill("Stew")
    ann.page.get_by_label("Password").fill(PASSWORD)
    ann.press("Add")
    ann.page.get_by_role("rowheader", name="Stew").wait_for()

    stew = walk(at=equipped, who="")
    log_in(stew, "Stew", "/exchange")
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
    here.picture("federation")
