"""Accessibility, judged by axe-core in the browser: no page has a serious finding, light or dark, wide or narrow."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from tarnkappe.web import pages, views
from tarnkappe.web.addresses import ADDRESSES
from tarnkappe.web.site import PAGES as WITH_SOCKETS
from tests.web.steps import Walk
from tests.web.test_pages import done, ward

pytestmark = pytest.mark.slow
GRAVE = ("serious", "critical")
PAGES = {
    "/login": "Log in",
    "/files": "Which table do you want to publish?",
    "{file}/columns": "Columns and their roles",
    "{file}/hierarchies": "Preview",
    "{file}/privacy": "Your promises",
    "/runs": "Runs",
    "{run}": "Take it with you",
    "{run}/lattice": "The best combinations",
    "{run}/utility": "What the release still tells",
    "{run}/risk": "Replay an attack",
    "/compare": "What to compare",
    "/sql": "Query",
    "/gate": "Gate console",
    "/exchange": "Exchange inbox",
    "/federation": "Federation monitor",
    "{file}/kept": "What is kept about this table",
    "{run}/utility?part=internal": "Figures before and after",
    "/people": "Invite somebody",
    "/audit": "Who did what",
    "/me": "Access for programs",
}
__all__ = ["done", "ward"]


def test_every_page_of_the_house_is_looked_at() -> None:
    assert pages.__all__
    assert views.__all__
    places = {path.partition("?")[0].format(file="/files/{file}", run="/runs/{job}") for path in PAGES}
    served = {page.path for page in WITH_SOCKETS} | {each.path for each in ADDRESSES if each.is_page}
    assert served == places - {"/login"}


def findings(here: Walk) -> list[str]:
    """What axe-core finds on the page as it stands."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    found = axe.Axe().run(here.page)
    return [
        f"{each['id']}: {each['help']}: {node['html'][:200]}"
        for each in found.response["violations"]
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_a_serious_finding(walk, done, theme: str, tmp_path: Path) -> None:
    here = walk(color_scheme=theme)
    trouble = {}
    for path, heading in PAGES.items():
        here.open(path.format(file=done[0], run=done[1]))
        here.heading(heading)
        here.page.wait_for_timeout(300)
        if found := findings(here):
            trouble[path] = found
    assert trouble == {}


def test_axe_would_find_something(walk) -> None:
    here = walk()
    here.open("/files")
    here.heading("Which table do you want to publish?")
    here.page.evaluate("document.querySelector('main').innerHTML = '<input><img src=x><button></button>'")
    assert len(findings(here)) >= 3
    here.troubles.clear()


def test_no_page_is_wider_than_a_phone(walk, done) -> None:
    here = walk(width=390, height=780, is_mobile=True)
    for path, heading in PAGES.items():
        here.open(path.format(file=done[0], run=done[1]))
        here.heading(heading)
        assert here.is_narrow(), path
