"""Two tabs and a double click: nothing is overwritten, and nothing is started twice."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from tests.web.steps import Walk
from tests.web.test_newcomer import ward

__all__ = ["ward"]


def jobs(walk: Walk) -> int:
    """How many runs with a release there are."""
    found = walk.page.request.get(f"{walk.service.url}/api/v1/jobs").json()
    return sum(job["kind"] == "anonymize" for job in found)


def change(tab: Walk, name: str) -> None:
    """Give a column another role."""
    role = tab.page.get_by_label(f"Role of {name}", exact=True)
    role.wait_for()
    role.select_option("insensitive")


def until_kept(tab: Walk, path: str, name: str) -> None:
    """Open a page anew until it shows what was changed elsewhere."""
    for _ in range(60):
        tab.open(path)
        role = tab.page.get_by_label(f"Role of {name}", exact=True)
        role.wait_for()
        if role.input_value() == "insensitive":
            return
    pytest.fail(f"the role of {name} was never kept")


def test_a_second_tab_is_told_and_overwrites_nothing_and_a_double_click_starts_once(walk, ward) -> None:
    first, second = walk(), walk()
    first.open("/files")
    first.page.get_by_label("Choose a file").set_input_files(ward)
    first.page.wait_for_url("**/columns")
    path = first.page.url.removeprefix(first.service.url)
    first.page.get_by_label("Role of sex", exact=True).wait_for()
    second.open(path)
    second.page.get_by_label("Role of age", exact=True).wait_for()  # it has read what the first will change
    change(first, "sex")
    first.see("Kept as they are, as you or the data say")
    until_kept(walk(), path, "sex")  # the page says it before it is kept
    change(second, "age")
    second.see("changed in another tab")
    second.open(path)
    assert second.page.get_by_label("Role of sex", exact=True).input_value() == "insensitive"
    assert second.page.get_by_label("Role of age", exact=True).input_value() == "quasi-identifier"
    second.see("with several values in every group: diagnosis")
    second.open(path.replace("/columns", "/privacy"))
    second.press("Add: Nobody stands out")
    second.page.get_by_label("k: rows that look the same").wait_for()
    before = jobs(second)
    second.button("Start").dblclick()
    # Both clicks lead to the page of the run, the second maybe while the first still does: the page is awaited.
    second.heading("Take it with you")
    assert "/runs/" in second.page.url
    assert jobs(second) == before + 1
