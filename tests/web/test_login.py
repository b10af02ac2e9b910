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
    assert stranger.page.locator("main input[name=next]").input_value() == "/"
    stranger.press("Deutsch")
    stranger.heading("Anmelden")


def join(ann, stranger, name: str, *roles: str, besides: str = "") -> None:
    """Ann invites somebody, who opens the link and chooses a password."""
    ann.open("/people")
    invitation = ann.page.locator("form[action='/people/invite']")
    invitation.get_by_label("Name", exact=True).fill(name)
    for role in ("Data steward", *roles):
        box = invitation.get_by_label(role, exact=True)
        box.set_checked(role in roles)
    ann.press("Invite")
    ann.heading(f"A link for {name}")
    stranger.open(ann.page.locator("#link").inner_text())
    stranger.open("/me")
    stranger.see("You have no password yet.")
    stranger.page.get_by_label("New password", exact=True).fill(besides or PASSWORD)
    stranger.page.get_by_label("The new password once more").fill(PASSWORD)
    stranger.press("Choose the password")


def test_who_is_invited_chooses_a_password_and_gets_no_more_than_her_roles(walk) -> None:
    ann, olga = walk(), walk(who="")
    join(ann, olga, "Olga", "Auditor")
    olga.see("Your password was changed.")
    olga.see("You are Olga: Auditor.")
    olga.open("/files")
    olga.see("This page needs the right to publish tables.")
    olga.open("/people")
    olga.heading("Not for you")
    olga.troubles.clear()  # the browser notes the refusal
    olga.press("Log out")
    olga.heading("Log in")
    olga.open("/me")
    olga.heading("Log in")
    olga.page.get_by_label("Name").fill("Olga")
    olga.page.get_by_label("Password").fill(PASSWORD)
    olga.press("Log in")
    olga.see("You are Olga: Auditor.")

    ann.page.goto(f"{ann.service.url}/people?name=Olga")
    ann.page.get_by_text("End the account of Olga …").click()
    ann.press("End the account of Olga")
    ann.page.get_by_text("Olga").first.wait_for(state="detached")
    olga.open("/me")
    olga.heading("Log in")


def test_a_link_of_an_invitation_works_once(walk) -> None:
    ann, olga, thief = walk(), walk(who=""), walk(who="")
    join(ann, olga, "Once", "Auditor")
    thief.open(ann.page.locator("#link").inner_text())
    thief.see("This link was used already")


def test_a_password_is_changed_with_the_old_one_and_ends_everything_else(walk) -> None:
    ann, here, there = walk(), walk(who=""), walk(who="")
    join(ann, here, "Paula", "Auditor", besides="another one altogether")
    here.see("written in two ways")
    here.troubles.clear()
    here.page.get_by_label("New password", exact=True).fill("aaaaaaaaaaaa")
    here.page.get_by_label("The new password once more").fill("aaaaaaaaaaaa")
    here.press("Choose the password")
    here.page.get_by_role("alert").wait_for()
    here.troubles.clear()
    for label in ("New password", "The new password once more"):
        here.page.get_by_label(label, exact=True).fill(PASSWORD)
    here.press("Choose the password")
    here.see("Your password was changed.")
    there.open("/me")
    there.page.get_by_label("Name").fill("Paula")
    there.page.get_by_label("Password").fill(PASSWORD)
    there.press("Log in")
    there.see("elsewhere: 2")
    here.page.get_by_label("Password until now").fill("a wrong password")
    for label in ("New password", "The new password once more"):
        here.page.get_by_label(label, exact=True).fill(PASSWORD + " staple")
    here.press("Change the password")
    here.see("your password was not changed")
    here.troubles.clear()
    here.page.get_by_label("Password until now").fill(PASSWORD)
    for label in ("New password", "The new password once more"):
        here.page.get_by_label(label, exact=True).fill(PASSWORD + " staple")
    here.press("Change the password")
    here.see("Your password was changed.")
    there.page.reload()
    there.heading("Log in")


def test_a_token_has_the_roles_and_days_that_were_chosen(walk) -> None:
    ann = walk()
    ann.open("/me")
    ann.page.get_by_label("What is it for?").fill("nightly job")
    assert not any(box.is_checked() for box in ann.page.get_by_role("checkbox").all()), "a role is chosen"
    ann.page.get_by_label("Auditor", exact=True).check()
    ann.page.get_by_label("How long does it last?").select_option("7")
    ann.press("Make a token")
    ann.see("Copy it now")
    assert ann.page.locator("#secret").inner_text().startswith("tarn_")
    row = ann.page.get_by_role("row").filter(has=ann.page.get_by_role("rowheader", name="nightly job"))
    assert "Auditor" in row.inner_text()
    assert "steward" not in row.inner_text()
    ann.open("/me")
    ann.heading("Access for programs")
    assert ann.page.locator("#secret").count() == 0, "it is shown once"
    ann.page.get_by_label("What is it for?").fill("nothing")
    ann.press("Make a token")
    ann.see("a token without a role can do nothing")
    ann.troubles.clear()
    ann.press("Revoke nightly job")
    ann.see("The token is worthless from now on.")


def test_the_log_is_shown_page_by_page_and_verified_on_request(walk) -> None:
    ann = walk()
    ann.open("/audit")
    ann.heading("Who did what")
    ann.press("Verify the whole log")
    ann.see("The log is whole")
    ann.page.get_by_role("cell", name="logged in").first.wait_for()


@pytest.mark.slow
def test_a_page_that_stays_open_is_left_when_its_session_ends(walk) -> None:
    ann, otto = walk(), walk(who="")
    join(ann, otto, "Otto", "Data steward")
    otto.see("Your password was changed.")
    otto.open("/files")
    otto.button("Try it with an example").wait_for()
    ann.page.goto(f"{ann.service.url}/people?name=Otto")
    ann.page.get_by_text("End the account of Otto …").click()
    ann.press("End the account of Otto")
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
    for path in ("/runs/0123456789abcdef/utility", "/nowhere", "/files/no/such/page"):
        ann.open(path)
        ann.see("It was deleted, or it is not yours.")
    ann.page.get_by_role("button", name="Deutsch").click()
    ann.see("Es wurde gelöscht oder gehört jemand anderem.")
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
    ann.heading("You")
    assert ann.page.evaluate(theme) == "light"
