"""A file that nobody prepared, in the browser: read, proposed, corrected, released and taken home."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from tarnkappe.web.texts import says
from tests.first_hour.clinic import clinic_text, write_clinic
from tests.first_hour.test_one_command import assert_safe, no_cell, released
from tests.web.steps import Walk


def choose(walk: Walk, path: Path, language: str = "en") -> None:
    walk.open("/files")
    walk.page.get_by_label(says(language, "files.drop_choose")).set_input_files(path)
    walk.page.wait_for_url("**/columns")


def take(walk: Walk, folder: Path, language: str, form: str = "csv") -> Path:
    walk.heading(says(language, "run.download"))
    with walk.page.expect_download() as waiting:
        walk.follow(says(language, "run.download_release", format=says(language, f"formats.{form}")))
    path = folder / f"{form}.csv"
    waiting.value.save_as(path)
    return path


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_german_excel_file_is_released_by_four_clicks(walk, tmp_path: Path, language: str) -> None:
    here = walk(language=language)
    choose(here, write_clinic(tmp_path, rows=200), language)  # the first click
    here.heading(says(language, "reading.title"))
    here.see("Windows-1252")
    here.see(says(language, "reading.comma"))
    no_guess_is_hidden = here.page.get_by_text(says(language, "columns.guess"), exact=True)
    assert no_guess_is_hidden.count() >= 1
    here.picture(f"import-{language}")
    here.press(says(language, "release.start"))  # the second
    here.page.wait_for_url("**/runs/*")
    rows = released(take(here, tmp_path, language))  # the third
    assert len(rows) == 200
    assert set(rows[0]) == {"Geburtsdatum", "Geschlecht", "PLZ", "Größe", "HbA1c", "Diagnose"}
    assert_safe(rows)
    if language == "en":
        assert released(take(here, tmp_path, language, "csv-for-excel"))[0].keys() == rows[0].keys()


def test_every_guess_is_corrected_where_it_is_shown(walk, tmp_path: Path) -> None:
    here = walk()
    choose(here, write_clinic(tmp_path, rows=120))
    here.see("Please look at what is only a guess")
    page = here.page
    page.get_by_text("Change it", exact=True).click()
    page.get_by_label("Between the fields").select_option(",")
    here.see("The file cannot be read as it is.")
    page.get_by_label("Between the fields").select_option(";")
    here.see("Read as Windows-1252, semicolon")
    page.get_by_label("Type of PLZ").select_option("text")
    here.heading("How the file was read")
    page.get_by_label("Role of Diagnose").select_option("identifier")
    here.see("Left out: Patientennr, Name, Diagnose, Bemerkung.")
    page.get_by_label("Who gets it?").select_option("public")
    here.see("Every row shares what others may know with at least 10 other rows.")
    here.press("Make the release")
    page.wait_for_url("**/runs/*")
    path = take(here, tmp_path, "en")
    assert "Diagnose" not in released(path)[0]
    no_cell(page.locator("main").inner_text().partition("first rows")[0])


def test_a_table_among_others_in_an_archive_is_chosen(walk, tmp_path: Path) -> None:
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w") as archive:
        archive.writestr("patienten.csv", clinic_text(60).encode("cp1252"))
        archive.writestr("stationen.csv", "Station;Betten\r\nA;3\r\n")
    (tmp_path / "alles.zip").write_bytes(page.getvalue())
    here = walk()
    choose(here, tmp_path / "alles.zip")
    here.see("there are several tables")
    field = here.page.get_by_label("Sheet, or file of an archive")
    field.fill("patienten.csv")
    field.press("Enter")
    here.see("Read as Windows-1252")
    here.page.get_by_label("Role of Diagnose").wait_for()


def test_three_cards_promise_what_is_proposed_and_the_rest_is_protected_by_a_click(
    walk, tmp_path: Path
) -> None:
    here = walk()
    choose(here, write_clinic(tmp_path, rows=120))
    here.page.get_by_label("Role of Diagnose").wait_for()
    here.open("/files" + here.page.url.partition("/files")[2].replace("/columns", "/privacy"))
    here.press("Promise this: Everybody (k = 11)")
    fields = here.page.get_by_label("k: rows that look the same")
    fields.wait_for()
    assert fields.input_value() == "11"
    here.press("Remove: Several secrets stay possible")
    bare = here.page.get_by_text("kept as it is, protected by nothing.")
    bare.wait_for()
    here.page.get_by_role("button", name="Protect it").click()
    bare.wait_for(state="detached")
