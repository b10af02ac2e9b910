"""Every other page: its main path, and its main error."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.csv
import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from tarnkappe.table import examples
from tests.web.steps import Walk

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ward(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("files") / "small.csv"
    table = examples.hospital(rows=400, seed=3).table.data
    pyarrow.csv.write_csv(
        table.select(["name", "insurance_number", "age", "sex", "postcode", "diagnosis"]), path
    )
    return path


def bring(here: Walk, ward: Path) -> str:
    """Upload; the address of the file."""
    here.open("/files")
    here.page.get_by_label("Choose a file").set_input_files(ward)
    here.page.wait_for_url("**/columns")
    here.page.get_by_label("Role of age", exact=True).wait_for()
    return re.search(r"/files/\w+", here.page.url).group()


def start(here: Walk, file: str) -> str:
    """Promise that nobody stands out, and run; the address of the run."""
    here.open(f"{file}/privacy")
    here.press("Add: Nobody stands out")
    here.page.get_by_label("k: rows that look the same").wait_for()
    here.press("Start")
    here.page.wait_for_url("**/runs/*")
    here.heading("Take it with you")
    return re.search(r"/runs/\w+", here.page.url).group()


@pytest.fixture(scope="module")
def done(browser, service, ward) -> tuple[str, str]:
    """A file and its run, for pages that look at them."""
    context = browser.new_context()
    context.add_cookies(service.cookies)
    here = Walk(context.new_page(), service, ward.parent)
    file = bring(here, ward)
    run = start(here, file)
    context.close()
    return file, run


def test_a_column_without_a_role_for_attackers_is_warned_about(walk, ward) -> None:
    here = walk()
    file = bring(here, ward)
    for name in ("age", "sex", "postcode"):
        here.page.get_by_label(f"Role of {name}", exact=True).select_option("insensitive")
    here.see("No column is a quasi-identifier.")
    here.open(f"{file}/hierarchies")
    here.see("No column is a quasi-identifier.")
    here.follow("Back to the columns")
    here.page.get_by_label("Role of age", exact=True).select_option("quasi-identifier")
    here.see("Made coarser: age.")
    here.open(f"{file}/privacy")
    here.press("Start")
    here.see("no guarantee is chosen")


def test_a_hierarchy_is_built_with_a_live_preview(walk, ward) -> None:
    here = walk()
    file = bring(here, ward)
    here.open(f"{file}/hierarchies?column=age")
    here.page.get_by_label("How to build the levels").select_option("intervals")
    here.page.get_by_label("Widths").fill("10, 50")
    here.page.get_by_role("cell", name="40-49").first.wait_for()
    here.picture("web-hierarchies")
    here.page.get_by_label("Widths").fill("10, 15")
    here.see("These levels cannot be built.")
    here.page.get_by_label("Widths").fill("ten")
    here.see("'ten' is no number")
    here.page.get_by_label("Widths").fill("20, 100")
    here.page.get_by_role("cell", name="40-59").first.wait_for()
    here.page.reload()
    assert here.page.get_by_label("Widths").input_value() == "20, 100"


def test_a_guarantee_that_is_impossible_says_so_at_once(walk, ward) -> None:
    here = walk()
    file = bring(here, ward)
    here.open(f"{file}/privacy")
    here.press("Add: Several secrets stay possible")
    here.page.get_by_label("l", exact=True).fill("0")
    here.see("This cannot be promised yet.")
    here.page.get_by_label("l", exact=True).fill("2")
    here.see("at least 2 different values of diagnosis")
    here.press("Remove: Several secrets stay possible")
    here.see("Nothing is promised yet.")


def test_a_promise_that_no_release_keeps_ends_clearly(walk, ward) -> None:
    here = walk()
    file = bring(here, ward)
    here.open(f"{file}/privacy")
    here.press("Add: Nobody stands out")
    here.page.get_by_label("k: rows that look the same").fill("1000")
    here.press("Start")
    here.see("This run ended without a result.")


def test_any_good_node_of_the_lattice_can_be_released(walk, done) -> None:
    here = walk()
    here.open(f"{done[1]}/lattice")
    here.page.locator("canvas[data-nodes]").wait_for()
    for name in ("age", "sex", "postcode"):
        here.page.get_by_label(name, exact=True).select_option("0")
    here.see("This combination breaks a promise")
    assert here.button("Release this one").is_disabled()
    for name in ("age", "sex", "postcode"):
        choice = here.page.get_by_label(name, exact=True)
        choice.select_option(choice.locator("option").last.get_attribute("value"))
    here.see("This combination keeps all promises.")
    here.press("Release this one")
    here.page.wait_for_url(re.compile(r"/runs/\w+$"))
    here.heading("How coarse each column became")
    row = here.page.get_by_role("row").filter(has=here.page.get_by_role("rowheader", name="sex", exact=True))
    assert row.get_by_role("cell").last.inner_text() == "1"


def test_the_canvas_is_zoomed_and_clicked(walk, done) -> None:
    here = walk()
    here.open(f"{done[1]}/lattice")
    canvas = here.page.locator("canvas[data-nodes]")
    canvas.wait_for()
    before = canvas.screenshot()
    here.press("Closer")
    here.page.wait_for_timeout(500)
    is_same = canvas.screenshot() == before
    assert not is_same
    here.press("The whole")
    box = canvas.bounding_box()
    said = here.page.locator(".said").inner_text()
    canvas.click(
        position={"x": box["width"] / 2, "y": box["height"] - 25}
    )  # the least general node is at the bottom
    here.page.wait_for_function("before => document.querySelector('.said').innerText !== before", arg=said)
    here.see("This combination breaks a promise")


def test_what_is_left_is_shown_for_every_column(walk, done) -> None:
    here = walk()
    here.open(f"{done[1]}/utility")
    here.follow("Internal")
    for name in ("age", "sex", "postcode"):
        here.page.get_by_role("img", name=f"Distribution of {name} before and after").wait_for()
    here.picture("web-utility")


def test_risks_are_measured_and_attacks_replayed(walk, done) -> None:
    here = walk()
    here.open(f"{done[1]}/risk")
    here.see("rows in the smallest group")
    here.page.get_by_label("Attack", exact=True).select_option("linking")
    here.page.get_by_role("button", name="Attack", exact=True).click()
    here.see("The attack fails: nobody falls victim to it.")
    row = here.page.get_by_role("row").filter(
        has=here.page.get_by_role("rowheader", name="diagnosis", exact=True)
    )
    assert "–" not in row.inner_text()
    here.picture("risk")
    here.open("/runs/0123456789abcdef/risk")
    here.see("you have no such job")


def test_methods_are_compared(walk, done) -> None:
    here = walk()
    here.open("/compare")
    for method in (
        "Mondrian (divides groups again and again)",
        "Datafly (lifts the column with most values)",
    ):
        here.page.get_by_label(method).uncheck()
    here.press("Compare")
    here.see("Choose at least two methods.")
    here.page.get_by_label("Mondrian (divides groups again and again)").check()
    here.press("Compare")
    here.page.wait_for_url("**/compare?job=*")
    here.heading("Side by side")
    here.page.get_by_role("img", name="Loss of each method").wait_for()
    here.picture("compare")


def test_a_query_is_rewritten_run_and_refused(walk, done) -> None:
    here = walk()
    here.open("/sql")
    here.page.get_by_label("SQL", exact=True).fill(
        "SELECT age, sex FROM generalize(small, k => 5, by => [age, sex]) WHERE age <> '*'"
    )
    here.page.get_by_label("Its name in the query").fill("small")
    here.page.get_by_label("Its name in the query").press("Tab")
    here.press("Run")
    here.page.wait_for_url("**/sql?job=*")
    here.heading("How the query was rewritten")
    here.heading("As it runs")
    here.see("can leave fewer than 5 rows")
    assert "{'" not in here.page.locator("#main").inner_text()
    here.picture("sql")
    here.page.get_by_label("SQL", exact=True).fill("DROP TABLE small")
    here.press("Explain only")
    here.page.get_by_role("alert").wait_for()


def test_a_file_is_dropped_on_the_page(walk, ward) -> None:
    here = walk()
    here.open("/files")
    here.button("Try it with an example").wait_for()
    dropped = here.page.evaluate_handle(
        """([name, text]) => { const data = new DataTransfer();
        data.items.add(new File([text], name)); return data; }""",
        [ward.name, ward.read_text(encoding="utf-8")],
    )
    here.page.locator(".drop").dispatch_event("drop", {"dataTransfer": dropped})
    here.page.wait_for_url("**/columns")
    here.page.get_by_label("Role of age", exact=True).wait_for()
    here.follow("Files")
    here.page.get_by_role("rowheader", name=ward.name).first.wait_for()
    before = here.page.get_by_role("rowheader", name=ward.name).count()
    here.page.get_by_role("button", name=f"Remove {ward.name}").first.click()
    here.see("Everything made from it goes too")
    here.press("Keep it")
    here.page.get_by_role("button", name=f"Remove {ward.name}").first.click()
    here.press("Remove it and all that was made from it")
    here.page.wait_for_function(
        "([name, before]) => [...document.querySelectorAll('th')].filter(th => th.innerText == name).length"
        " === before - 1",
        arg=[ward.name, before],
    )


def test_a_lattice_of_thousands_of_nodes_is_drawn_and_zoomed_quickly(walk) -> None:
    """The example has seven quasi-identifiers; classifying its lattice takes long enough to be stopped once."""
    here = walk()
    here.open("/files")
    here.press("Try it with an example")
    here.page.wait_for_url("**/columns")
    here.page.get_by_label("Role of age", exact=True).wait_for()
    file = re.search(r"/files/\w+", here.page.url).group()
    run = start(here, file)
    here.open(f"{run}/lattice")
    here.press("Stop")
    here.see("This run was stopped.")
    here.open(f"{run}/lattice")
    here.heading("Every possible release")
    canvas = here.page.locator("canvas[data-nodes]")
    canvas.wait_for()
    assert int(canvas.get_attribute("data-nodes")) > 10_000
    here.picture("many-nodes", whole=True)
    here.look_at("canvas")
    box = canvas.bounding_box()
    here.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    before = canvas.screenshot()
    here.page.mouse.wheel(0, -400)
    here.page.wait_for_timeout(1000)
    is_same = canvas.screenshot() == before
    assert not is_same
    milliseconds = here.page.evaluate(
        """() => { const start = performance.now();
        const canvas = document.querySelector('canvas');
        for (let i = 0; i < 10; i += 1) canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: 10, clientX: 300, clientY: 300, cancelable: true }));
        return (performance.now() - start) / 10; }"""
    )
    assert milliseconds < 500


def test_the_lattice_fills_while_it_is_searched(walk) -> None:
    """The example has so many combinations that looking at them all takes long enough to be watched."""
    here = walk()
    here.open("/files")
    here.press("Try it with an example")
    here.page.wait_for_url("**/columns")
    here.page.get_by_label("Role of age", exact=True).wait_for()
    run = start(here, re.search(r"/files/\w+", here.page.url).group())
    here.open(f"{run}/lattice")
    here.page.get_by_role("img", name="The lattice fills").wait_for()
    share = """(kind => [...document.querySelectorAll(`.filling .${kind}`)].reduce(
        (sum, bar) => sum + bar.width.baseVal.value, 0))"""
    before = here.page.evaluate(f"{share}('settled')")
    here.page.wait_for_function(f"before => {share}('settled') > before", arg=before)
    here.page.wait_for_function(f"{share}('settled') > {share}('open') / 8")
    here.picture("web-search")
    here.press("Stop")
    here.see("This run was stopped.")


def test_runs_are_listed_and_lead_to_their_pages(walk, done) -> None:
    here = walk()
    here.open("/runs")
    own = here.page.locator(f'a[href="{done[1]}"]')
    while not own.count():  # other tests of this service may have made a page of newer ones
        here.open(here.page.locator('.pager a[href*="after="]').get_attribute("href"))
    own.click()
    here.heading("Take it with you")
