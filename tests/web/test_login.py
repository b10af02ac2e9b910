"""Coming in, and who may go where."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

PASSWORD = "correct horse battery"


def test_coming_in_by_link_password_and_not_at_all(walk, service) -> None:
    stranger = walk(who="")
    stranger.open("/runs")
    stranger.heading("Log in")
    stranger.page.get_by_label("Name").fill("Ann")
    stranger.page.get_by_label("Password").fill("a wrong password")
    stranger.press("Log in")
    stranger.see("The name or the password is wrong.")
    stranger.page.goto(service.link)  # it was used when the tests began
    stranger.see("This link was used already")
    assert stranger.page.context.cookies() == []
    stranger.open("/login?failed=<script>alert(1)</script>&next=//evil.example")
    assert "script" not in stranger.page.locator("main").inner_html()
    assert stranger.page.locator("input[name=next]").input_value() == "/"
    stranger.press("Deutsch")
    stranger.heading("Anmelden")


def test_people_and_tokens_in_the_settings(walk) -> None:
    ann = walk()
    ann.open("/settings")
    ann.page.get_by_label("What is it for?").fill("nightly job")
    ann.press("Make a token")
    ann.see("Copy it now")
    assert ann.page.get_by_text("tarn_").first.inner_text().startswith("tarn_")
    ann.press("Revoke nightly job")
    ann.see("You have no tokens.")

    ann.page.get_by_label("Name", exact=True).fill("Olga")
    ann.page.get_by_label("Password").fill("short")
    ann.press("Add")
    ann.see("a password has 10 to 1000 characters")
    ann.page.get_by_label("Password").fill(PASSWORD)
    ann.page.get_by_label("Data steward").uncheck()
    ann.page.get_by_label("Auditor").check()
    ann.press("Add")
    ann.page.get_by_role("rowheader", name="Olga").wait_for()

    olga = walk(who="")
    olga.open("/settings")
    olga.page.get_by_label("Name").fill("Olga")
    olga.page.get_by_label("Password").fill(PASSWORD)
    olga.press("Log in")
    olga.see("You are Olga: Auditor.")
    olga.open("/files")
    olga.see("This page needs the right to publish tables.")
    olga.press("Log out")
    olga.heading("Log in")
    olga.open("/settings")
    olga.heading("Log in")

    ann.press("Remove Olga")
    ann.page.get_by_role("rowheader", name="Olga").wait_for(state="detached")


@pytest.mark.slow
def test_a_page_that_stays_open_is_left_when_its_session_ends(walk) -> None:
    ann = walk()
    ann.open("/settings")
    ann.page.get_by_label("Name", exact=True).fill("Otto")
    ann.page.get_by_label("Password").fill(PASSWORD)
    ann.press("Add")
    ann.page.get_by_role("rowheader", name="Otto").wait_for()
    otto = walk(who="")
    otto.open("/files")
    otto.page.get_by_label("Name").fill("Otto")
    otto.page.get_by_label("Password").fill(PASSWORD)
    otto.press("Log in")
    otto.button("Try it with an example").wait_for()
    ann.press("Remove Otto")
    ann.page.get_by_role("rowheader", name="Otto").wait_for(state="detached")
    otto.page.wait_for_url(re.compile("/login"))
    otto.heading("Log in")


def test_empty_pages_say_what_to_do(walk) -> None:
    ann = walk()
    for path, said in {
        "/gate": "This service watches no gate.",
        "/exchange": "This service has no desk of the exchange.",
        "/federation": "This service follows no federation.",
    }.items():
        ann.open(path)
        ann.see(said)
        ann.see("in the settings file of the service")


def test_a_file_that_is_not_what_its_name_says_is_refused(walk, tmp_path) -> None:
    wrong = tmp_path / "ward.parquet"
    wrong.write_text("name;age\nAnn;3\n", encoding="utf-8")
    ann = walk()
    ann.open("/files")
    ann.page.get_by_label("Choose a file").set_input_files(wrong)
    ann.page.get_by_role("alert").wait_for()
    said = ann.page.get_by_role("alert").inner_text()
    assert said.startswith("This did not work.")
    assert "arquet" in said
    ann.troubles.clear()  # the browser notes the refusal of the upload, too


def test_what_is_not_there_is_said_and_nothing_of_others(walk) -> None:
    ann = walk()
    ann.open("/runs/0123456789abcdef")
    ann.see("you have no such job")
    ann.open("/files/..%2F..%2Fetc/columns")
    ann.troubles.clear()


@pytest.mark.slow
def test_light_and_dark(walk) -> None:
    ann = walk(color_scheme="dark")
    ann.open("/files")
    ann.heading("Which table do you want to publish?")
    theme = "() => document.documentElement.dataset.theme"
    assert ann.page.evaluate(theme) == "dark"
    ann.picture("dark")
    ann.press("Light/Dark")
    assert ann.page.evaluate(theme) == "light"
    ann.open("/settings")
    ann.heading("Settings")
    assert ann.page.evaluate(theme) == "light"
