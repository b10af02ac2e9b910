"""Flash with several threads: the same result, no node in two paths, nothing forgotten, nobody left behind."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import Flash, FlashParallel, FlashTwoPhase, Node, SearchProblem
from tarnkappe.lattice import flash_parallel as module
from tarnkappe.lattice.checker import Checker, NodeCheck
from tarnkappe.lattice.flash_paths import Paths
from tarnkappe.lattice.traversal import NodeKnowledge, Traversal
from tests.lattice.random_problems import CASES, NEEDS_NO_IMPLIED_CRITERIA, random_problem

THREADS = range(1, 13)


@pytest.fixture(autouse=True)
def threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def slow_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of a node lets the other threads go on in the middle of it."""
    judge = Checker.judge

    def slow(checker: Checker, *arguments: object, **options: object) -> NodeCheck:
        time.sleep(0.0005)
        return judge(checker, *arguments, **options)

    monkeypatch.setattr(Checker, "judge", slow)


class WatchedPaths(Paths):
    """Paths that notice when two threads search paths through the same node."""

    active: list[list[Node]]
    longest: int
    most: int

    def _lowest(self, path: list[Node]) -> Node | None:
        with self.changed:
            self.__dict__.setdefault("active", [])
            taken = {node for other in self.active for node in other}
            assert taken.isdisjoint(path), "a node is in two paths at once"
            self.active.append(path)
            self.longest = max(self.__dict__.get("longest", 0), len(path))
            self.most = max(self.__dict__.get("most", 0), len(self.active))
        try:
            return super()._lowest(path)
        finally:
            with self.changed:
                self.active.remove(path)


def wide_problem(case: int, seed: int = 0) -> SearchProblem:
    """The first of some random problems whose lattice has room for many paths."""
    return next(
        problem
        for number in range(seed, seed + 1000)
        if (problem := random_problem(number, case)).num_nodes >= 48 and problem.limit > 0
    )


@pytest.mark.parametrize("threads", THREADS)
def test_it_finds_what_flash_finds(threads: int, slow_tests: None) -> None:
    for seed in (0, 100, 200):
        problem = wide_problem(1, seed)
        assert FlashParallel(threads=threads).run(problem).best == Flash().run(problem).best


@pytest.mark.parametrize("case", CASES)
@given(seed=st.integers(0, 2**32 - 1), threads=st.sampled_from(THREADS), limited=st.booleans())
@settings(max_examples=settings().max_examples // 10)
def test_it_finds_what_flash_in_two_phases_finds(case: int, seed: int, threads: int, limited: bool) -> None:
    problem = random_problem(seed, case, limited=limited)
    implied = case not in NEEDS_NO_IMPLIED_CRITERIA
    parallel = FlashParallel(threads=threads, implied_criteria=implied).run(problem)
    alone = FlashTwoPhase(implied_criteria=implied).run(problem)
    assert parallel.best == alone.best
    assert parallel.optimal


@pytest.mark.parametrize("case", [1, 2, 3, 4])
@pytest.mark.parametrize("threads", [2, 5, 12])
def test_no_node_is_in_two_paths_at_once(
    case: int, threads: int, slow_tests: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[WatchedPaths] = []

    def watched(traversal: Traversal) -> WatchedPaths:
        made.append(WatchedPaths(traversal))
        return made[-1]

    monkeypatch.setattr(module, "Paths", watched)
    longest = most = 0
    for seed in (0, 100, 200):
        problem = wide_problem(case, seed)
        FlashParallel(threads=threads).run(problem)
        paths = made.pop()
        assert not paths.active
        longest, most = max(longest, paths.longest), max(most, paths.most)
    assert longest > 1, "as printed, a path accepts only its own first node"
    assert most > 1, "the threads never searched at the same time"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("threads", [1, 4, 12])
def test_every_node_is_tested_once_or_shown_to_be_useless(case: int, threads: int, slow_tests: None) -> None:
    """Forgetting to give path nodes free, or ending while others still work, leaves nodes unknown."""
    for seed in (0, 100):
        problem = wide_problem(case, seed)
        traversal = Traversal(problem, implied_criteria=case not in NEEDS_NO_IMPLIED_CRITERIA)
        FlashParallel(threads=threads).search(traversal)
        assert len(set(traversal.tests)) == len(traversal.tests) == traversal.checker.counters.checked
        classified = NodeKnowledge.CHECKED | NodeKnowledge.BAD | NodeKnowledge.NO_BETTER
        assert traversal.all_known(traversal.bottom, traversal.top, classified)


def test_what_goes_wrong_in_a_thread_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NodeCheck:
        time.sleep(0.001)
        raise MemoryError("no room")

    monkeypatch.setattr(Checker, "judge", fail)
    before = threading.active_count()
    with pytest.raises(MemoryError, match="no room"):
        FlashParallel(threads=4).run(wide_problem(1))
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_an_impossible_number_of_threads_is_refused(threads: object) -> None:
    with pytest.raises(ParameterError, match=r"flash-parallel: threads: .* is needed"):
        FlashParallel(threads=threads)
