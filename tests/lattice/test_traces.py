"""The searches on the running example, test by test, as the published traces have them.

A node is written by its levels of age, sex and zip code: 103 is (1, 0, 3). Unless a test says otherwise, the
criterion is 2-anonymity without suppression.
"""

from __future__ import annotations

import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import (
    OLA,
    BreadthFirst,
    DepthFirst,
    Exhaustive,
    Flash,
    FlashDepthFirst,
    FlashParallel,
    FlashTwoPhase,
    Incognito,
    Node,
    Samarati,
    Search,
    SearchProblem,
)
from tarnkappe.lattice.flash_two_phase import run_flash
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, KAnonymity
from tests.adult import read_tuples
from tests.conftest import FIXTURES

LOCAL = FIXTURES / "local"
QUASI_IDENTIFIERS = ("age", "sex", "zip")


def problem_of(loss: str, limit: float, model: str, **parameters: object) -> SearchProblem:
    names = (*QUASI_IDENTIFIERS, "diagnosis")
    tuples = read_tuples(LOCAL / "running-example.csv", {n: LOCAL / f"hierarchy_{n}.csv" for n in names})
    return SearchProblem(
        tuples, QUASI_IDENTIFIERS, (MODELS.create(model, parameters),), LOSSES.create(loss, {}), limit
    )


@pytest.fixture
def two_anonymity() -> SearchProblem:
    return problem_of("entropy", 0.0, "k-anonymity", k=2)


def nodes(text: str) -> list[Node]:
    return [tuple(int(level) for level in word) for word in text.split()]


def trace_of(search: Search, problem: SearchProblem) -> list[Node]:
    traversal = Traversal(problem)
    search.search(traversal)
    assert traversal.best.evaluation is not None
    assert traversal.best.evaluation.node == (1, 0, 3)
    assert len(traversal.tests) == traversal.checker.counters.checked
    return traversal.tests


FLASH_TRACE = "004 105 005 204 104 014 015 102 203 103 202 212"


def test_flash_needs_the_twelve_published_tests(two_anonymity: SearchProblem) -> None:
    assert Traversal(two_anonymity).case == 1
    assert trace_of(Flash(), two_anonymity) == nodes(FLASH_TRACE)
    assert two_anonymity.lattice.least_tests_in_worst_case == 12
    best = Flash().run(two_anonymity).best
    assert best is not None
    assert best.loss == pytest.approx(28)


def test_flash_with_one_thread_tests_what_flash_tests(two_anonymity: SearchProblem) -> None:
    assert trace_of(FlashParallel(threads=1), two_anonymity) == nodes(FLASH_TRACE)


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


DEPTH_FIRST_TRACE = "000 001 002 003 004 005 105 015 104 103 102 202 212"


@pytest.mark.parametrize("search", [DepthFirst(), FlashDepthFirst()], ids=lambda s: s.name)
def test_depth_first_search_needs_the_thirteen_published_tests(
    search: Search, two_anonymity: SearchProblem
) -> None:
    assert trace_of(search, two_anonymity) == nodes(DEPTH_FIRST_TRACE)


def test_breadth_first_search_needs_twenty_five_tests(two_anonymity: SearchProblem) -> None:
    tests = trace_of(BreadthFirst(), two_anonymity)
    assert len(tests) == 25
    assert [sum(node) for node in tests] == sorted(sum(node) for node in tests)


def test_exhaustive_search_tests_everything(two_anonymity: SearchProblem) -> None:
    assert Exhaustive().run(two_anonymity).checked == 36


def test_samarati_needs_the_eighteen_published_tests() -> None:
    """Level 4 up to the first success, then levels 1, 2 and 3 in vain."""
    problem = problem_of("height", 0.0, "k-anonymity", k=2)
    published = nodes("211 202 112 103 100 010 001 200 110 101 011 002 210 201 111 102 012 003")
    assert len(published) == 18
    assert trace_of(Samarati(order="lexicographic"), problem) == published


def test_incognito_needs_the_eleven_published_tests(two_anonymity: SearchProblem) -> None:
    """Columns that are left out stand at their highest level: x15 is age alone, 2x5 sex alone, 21x zip alone."""
    singles = "015 115" + " 205" + " 210 211 212 213"
    pairs = "105 113 203"
    published = nodes(f"{singles} {pairs} 103")
    assert len(published) == 11
    for variant in ("basic", "superroots", "cube"):
        assert trace_of(Incognito(variant=variant), two_anonymity) == published


def test_ola_needs_the_ten_published_tests(two_anonymity: SearchProblem) -> None:
    published = nodes("211 213 212 203 113 103 003 013 014 015")
    assert len(published) == 10
    assert trace_of(OLA(order="lexicographic"), two_anonymity) == published


def test_the_number_of_tests_of_ola_depends_on_the_order(two_anonymity: SearchProblem) -> None:
    assert len(trace_of(OLA(), two_anonymity)) == 9


@pytest.mark.parametrize(("kind", "parameter"), [(Samarati, "order"), (OLA, "order"), (Incognito, "variant")])
def test_unknown_ways_to_search_are_refused(kind: type[Search], parameter: str) -> None:
    with pytest.raises(ParameterError, match=rf"{parameter}: one of .* is needed, not 'fast'"):
        kind(**{parameter: "fast"})
