"""The searches on the running example, test by test, as the published traces have them."""

from __future__ import annotations

import pytest

from tarnkappe.lattice import BreadthFirst, DepthFirst, Exhaustive, Flash, FlashTwoPhase, Node, Problem
from tarnkappe.lattice.flash_two_phase import run_flash
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, KAnonymity
from tests.adult import read_tuples
from tests.conftest import FIXTURES

LOCAL = FIXTURES / "local"
QUASI_IDENTIFIERS = ("age", "sex", "zip")


def problem_of(loss: str, limit: float, model: str, **parameters: object) -> Problem:
    names = (*QUASI_IDENTIFIERS, "diagnosis")
    tuples = read_tuples(LOCAL / "running-example.csv", {n: LOCAL / f"hierarchy_{n}.csv" for n in names})
    return Problem(
        tuples, QUASI_IDENTIFIERS, (MODELS.create(model, parameters),), LOSSES.create(loss, {}), limit
    )


@pytest.fixture
def two_anonymity() -> Problem:
    return problem_of("entropy", 0.0, "k-anonymity", k=2)


def nodes(text: str) -> list[Node]:
    return [tuple(int(level) for level in word) for word in text.split()]


def test_flash_needs_the_twelve_published_tests(two_anonymity: Problem) -> None:
    traversal = Traversal(two_anonymity)
    assert traversal.case == 1
    run_flash(traversal)
    assert traversal.tests == nodes("004 105 005 204 104 014 015 102 203 103 202 212")
    assert Flash().run(two_anonymity).levels == (1, 0, 3)
    assert two_anonymity.lattice.least_tests_in_worst_case == 12


def test_flash_in_two_phases_needs_the_nineteen_published_tests() -> None:
    problem = problem_of("aecs-released", 0.25, "recursive-diversity", column="diagnosis", c=4, l=2)
    traversal = Traversal(problem)
    assert traversal.case == 4
    traversal.implied = (KAnonymity(2),)  # as published; diversity implies more, which saves tests
    run_flash(traversal)
    assert traversal.tests == nodes(
        "004 105 005 205 215 115 204 104 214 114 014 015 102 203 103 213 113 202 212"
    )
    assert traversal.best.evaluation is not None
    assert traversal.best.evaluation.node == (1, 0, 3)
    assert FlashTwoPhase().run(problem).checked <= 19


def test_depth_first_search_needs_thirteen_tests(two_anonymity: Problem) -> None:
    assert DepthFirst().run(two_anonymity).checked == 13


def test_breadth_first_search_needs_twenty_five_tests(two_anonymity: Problem) -> None:
    assert BreadthFirst().run(two_anonymity).checked == 25


def test_exhaustive_search_tests_everything(two_anonymity: Problem) -> None:
    assert Exhaustive().run(two_anonymity).checked == 36
