"""A newcomer, who has read nothing, comes from a file to its verified release: with the mouse, with the keyboard
alone, on a phone, and in German."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import pyarrow.csv
import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from tarnkappe.table import examples
from tarnkappe.web.texts import says
from tests.web.steps import Walk

KNOWN = ("age", "sex", "postcode")


@pytest.fixture(scope="session")
def ward(tmp_path_factory) -> Path:
    """A file of made-up patients."""
    path = tmp_path_factory.mktemp("files") / "ward.csv"
    table = examples.hospital(rows=600, seed=2).table.data
    pyarrow.csv.write_csv(table.select(["name", "insurance_number", *KNOWN, "diagnosis"]), path)
    return path


def bring(walk: Walk, ward: Path, language: str) -> None:
    walk.open("/files")
    walk.page.get_by_label(says(language, "files.drop_choose")).set_input_files(ward)
    walk.page.wait_for_url("**/columns")
    walk.page.get_by_label(says(language, "columns.role_of", name="age"), exact=True).wait_for()


def say_what_columns_are(walk: Walk, language: str) -> None:
    roles = {
        name: walk.page.get_by_label(says(language, "columns.role_of", name=name), exact=True)
        for name in (*KNOWN, "name", "diagnosis")
    }
    assert {name: role.input_value() for name, role in roles.items()} == {
        "name": "identifier",
        **dict.fromkeys(KNOWN, "quasi-identifier"),
        "diagnosis": "sensitive",
    }
    walk.follow(says(language, "columns.onward"))


def look_at_hierarchies(walk: Walk, language: str) -> None:
    walk.see(says(language, "hierarchies.level", level=1))
    walk.follow(says(language, "hierarchies.onward"))


def promise(walk: Walk, language: str) -> None:
    title = says(language, "models.k-anonymity.title")
    walk.press(says(language, "privacy.add_label", name=title))
    field = walk.page.get_by_label(says(language, "parameters.k"))
    field.fill("4")
    walk.see(says(language, "models.k-anonymity.says", others="3"))


def take_release(walk: Walk, language: str) -> list[dict[str, str]]:
    walk.heading(says(language, "run.download"))
    with walk.page.expect_download() as waiting:
        walk.follow(says(language, "run.download_release", format="CSV"))
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text), dialect=csv.Sniffer().sniff(text.splitlines()[0], ";,")))


def hold_to_promise(rows: list[dict[str, str]]) -> None:
    """What was downloaded keeps what was promised, counted by hand."""
    assert "name" not in rows[0]
    groups = Counter(tuple(row[name] for name in KNOWN) for row in rows)
    assert min(groups.values()) >= 4
    assert 570 <= len(rows) <= 600


def test_newcomer_from_upload_to_downloaded_release(walk, ward) -> None:
    here = walk()
    bring(here, ward, "en")
    here.picture("web-columns")
    say_what_columns_are(here, "en")
    look_at_hierarchies(here, "en")
    promise(here, "en")
    here.picture("web-privacy")
    here.press("Start")
    here.page.wait_for_url("**/runs/*")
    rows = take_release(here, "en")
    hold_to_promise(rows)
    here.look_at("h1")
    here.picture("web-run")
    with here.page.expect_download() as waiting:
        here.follow("Report")
    report = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert "Release report" in report
    with here.page.expect_download() as waiting:
        here.follow("Manifest")
    manifest = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    assert manifest
    here.follow("Explore the lattice")
    canvas = here.page.locator("canvas[data-nodes]")
    canvas.wait_for()
    assert int(canvas.get_attribute("data-nodes")) > 10
    here.look_at("canvas")
    here.picture("web-lattice")
    assert here.foreign == []


@pytest.mark.slow
def test_newcomer_in_german(walk, ward) -> None:
    here = walk(language="de")
    bring(here, ward, "de")
    here.picture("german")
    assert here.page.locator("html").get_attribute("lang") == "de"
    say_what_columns_are(here, "de")
    look_at_hierarchies(here, "de")
    promise(here, "de")
    here.press("Starten")
    hold_to_promise(take_release(here, "de"))
    here.picture("german-run")


@pytest.mark.slow
def test_newcomer_at_phone_width(walk, ward) -> None:
    here = walk(width=390, height=780, is_mobile=True, has_touch=True)
    bring(here, ward, "en")
    assert here.is_narrow()
    here.picture("web-phone")
    say_what_columns_are(here, "en")
    look_at_hierarchies(here, "en")
    assert here.is_narrow()
    promise(here, "en")
    assert here.is_narrow()
    here.picture("phone-privacy")
    here.press("Start")
    hold_to_promise(take_release(here, "en"))
    assert here.is_narrow()
    here.follow("Explore the lattice")
    here.page.locator("canvas[data-nodes]").wait_for()
    assert here.is_narrow()
    here.look_at("canvas")
    here.picture("phone-lattice")


def tab_to(walk: Walk, name: str, *, back: bool = False, most: int = 120) -> None:
    """Press the tabulator until something with this name has the focus, and can be seen to have it."""
    for _ in range(most):
        walk.page.keyboard.press("Shift+Tab" if back else "Tab")
        said = walk.page.evaluate(
            """() => { const at = document.activeElement;
            return at.ariaLabel || at.innerText || at.labels?.[0]?.innerText || ''; }"""
        )
        if re.sub(r"\s+", " ", said).strip().startswith(name):
            marked = walk.page.evaluate(
                "() => { const at = document.activeElement; const drop = at.closest('.drop');"
                "return getComputedStyle(drop ? drop.querySelector('.button') : at).outlineStyle }"
            )
            assert marked == "solid", name
            return
    raise AssertionError(f"the keyboard does not reach '{name}'")


@pytest.mark.slow
def test_newcomer_by_keyboard_alone(walk, ward) -> None:
    here = walk()
    here.page.on(
        "filechooser", lambda _: None
    )  # a key might overtake what only begins to wait for its effect
    here.open("/files")
    here.button("Try it with an example").wait_for()
    tab_to(here, "Choose a file")
    with here.page.expect_file_chooser() as waiting:
        here.page.keyboard.press("Enter")
    waiting.value.set_files(ward)
    here.page.wait_for_url("**/columns")
    here.page.get_by_label("Role of age", exact=True).wait_for()
    tab_to(here, "Continue to the hierarchies")
    here.page.keyboard.press("Enter")
    here.see("Level 1")
    tab_to(here, "Continue to the guarantees")
    here.page.keyboard.press("Enter")
    here.button("Add: Nobody stands out").wait_for()
    tab_to(here, "Add: Nobody stands out")
    here.page.keyboard.press("Enter")
    here.page.get_by_label("k: rows that look the same").wait_for()
    tab_to(here, "k: rows that look the same", back=True)
    here.page.keyboard.press("Control+a")
    here.page.keyboard.type("4")
    here.see("Every row shares what others may know with at least 3 other rows.")
    here.picture("keyboard")
    tab_to(here, "Start")
    here.page.keyboard.press("Enter")
    here.page.wait_for_url("**/runs/*")
    here.heading("Take it with you")
    tab_to(here, "Release as CSV")
    with here.page.expect_download() as waiting_for_file:
        here.page.keyboard.press("Enter")
    assert waiting_for_file.value.suggested_filename == "release.csv"
    tab_to(here, "Explore the lattice", back=True)
    here.page.keyboard.press("Enter")
    here.page.locator("canvas[data-nodes]").wait_for()
    tab_to(here, "Lattice of all combinations of levels")
    before = here.page.locator(".said").inner_text()
    here.page.keyboard.press("ArrowUp")
    here.page.wait_for_function("before => document.querySelector('.said').innerText !== before", arg=before)
    here.page.keyboard.press("Enter")
    here.see("This combination keeps all promises.")
