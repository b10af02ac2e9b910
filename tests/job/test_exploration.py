"""Exploring from Python: every node of a job, and a verified release of any node that keeps the promises."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.job.notebook import draw_losses

ROWS = 300


@pytest.fixture(scope="module")
def people() -> tarnkappe.Table:
    return tarnkappe.Table(
        pa.table(
            {
                "name": [f"person {i}" for i in range(ROWS)],
                "age": [20 + (i * 7) % 60 for i in range(ROWS)],
                "<town>": [("Ulm", "Bonn", "Kiel")[(i * i) % 3] for i in range(ROWS)],
                "illness": [("flu", "cold", "ulcer")[(i * 5) % 3] for i in range(ROWS)],
            }
        )
    ).with_roles(identifiers=["name"], quasi_identifiers=["age", "<town>"], sensitive=["illness"])


SETTINGS = {
    "privacy": [
        {"model": "k-anonymity", "k": 4},
        {"model": "distinct-diversity", "column": "illness", "l": 2},
    ],
    "hierarchies": {"age": {"builder": "intervals", "width": [5, 10, 20]}},
    "suppression_limit": 0.05,
}


@pytest.fixture(scope="module")
def exploration(people: tarnkappe.Table) -> tarnkappe.Exploration:
    return tarnkappe.explore(people, **SETTINGS)


@pytest.fixture(scope="module")
def result(people: tarnkappe.Table) -> tarnkappe.Result:
    return tarnkappe.anonymize(people, **SETTINGS)


def test_the_best_node_is_the_one_that_is_released(
    exploration: tarnkappe.Exploration, result: tarnkappe.Result
) -> None:
    assert exploration.lattice.best is not None
    assert exploration.lattice.best.node == tuple(result.levels.values())
    assert exploration.apply(result.levels).solution.optimal
    assert len(exploration) == result.problem.num_nodes == len(list(exploration))


def test_every_satisfying_node_can_be_released_and_is_verified(exploration: tarnkappe.Exploration) -> None:
    good = exploration.lattice.where(satisfied=True)
    assert len(good) > 2
    for found in good:
        made = exploration.apply(found.node)
        assert tuple(made.levels.values()) == found.node
        assert made.loss == pytest.approx(found.loss)
        assert made.suppressed == found.suppressed
        assert made.verified
        assert all(each.holds for each in made.verified)
        known = made.release.with_roles(quasi_identifiers=["age", "<town>"], sensitive=["illness"])
        assert tarnkappe.check(known).k >= 4
        assert "name" not in made.release.column_names


def test_a_node_that_does_not_satisfy_is_refused_with_the_reason(
    exploration: tarnkappe.Exploration, result: tarnkappe.Result
) -> None:
    for apply in (exploration.apply, result.apply):
        with pytest.raises(
            NoSolutionError, match=r"age 0, <town> 0 does not keep k-anonymity.* rows would have"
        ):
            apply({"age": 0, "<town>": 0})
        with pytest.raises(ParameterError, match="level 9 of 'age' is impossible"):
            apply((9, 0))


def test_a_result_releases_other_nodes_of_its_lattice(result: tarnkappe.Result) -> None:
    view = result.lattice()
    worse = max(view.where(satisfied=True), key=lambda found: found.loss)
    other = result.apply(worse.node)
    assert other.loss > result.loss
    assert not other.solution.optimal
    assert "not proven optimal" in str(other)
    assert set(other.seconds) >= {"encode", "transform", "verify"}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not any(name.startswith("on") or name in {"href", "src"} for name, _ in attrs)


def test_a_notebook_shows_a_table_and_a_plot_without_scripts(
    exploration: tarnkappe.Exploration, result: tarnkappe.Result
) -> None:
    for shown, kinds in (
        (result, {"table", "svg"}),
        (exploration, {"table", "svg"}),
        (result.solution, {"table"}),
        (exploration.lattice.where(satisfied=False), {"svg"}),
    ):
        page = shown._repr_html_()
        tags = Tags()
        tags.feed(page)
        assert kinds <= set(tags.seen)
        assert "script" not in tags.seen
        assert "town" not in tags.seen, "names of columns are escaped"
        assert "person 1" not in page


def test_a_result_prints_as_what_it_is(result: tarnkappe.Result, exploration: tarnkappe.Exploration) -> None:
    assert repr(result) == str(result)
    assert "verified: k-anonymity(k=4)" in repr(result)
    assert "proven optimal" in str(result.solution)
    assert f"{len(exploration)} of {len(exploration)} nodes" in repr(exploration)


def test_the_plot_shows_what_each_column_lost(result: tarnkappe.Result) -> None:
    tree = ElementTree.fromstring(draw_losses(result).to_svg())
    texts = [element.text for element in tree.iter() if element.tag.endswith("text")]
    assert {"age", "<town>"} <= set(texts)
    assert any(text and text.endswith("% lost") for text in texts)
