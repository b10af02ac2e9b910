"""A search that is interrupted or out of time returns the best node so far and says that it is not proven."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from tarnkappe.lattice import (
    SEARCHES,
    FlashParallel,
    Samarati,
    Search,
    SearchProblem,
    Solution,
    compiled_sweep,
)
from tarnkappe.lattice.checker import Checker, NodeCheck
from tarnkappe.lattice.core_classes import TESTS, Core
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tests.random_tables import build_tuples

KINDS = list(SEARCHES)


def problem_with_many_tests(loss: str = "entropy") -> SearchProblem:
    """Five columns of 16 values that merge by halves; low nodes fail, and the best is far from both ends."""
    values = range(16)
    maps = {f"q{i}": [{v: f"{v >> level}" for v in values} for level in (1, 2, 3, 4)] for i in range(5)}
    rng = np.random.default_rng(7)
    rows = [{name: int(rng.integers(16)) for name in maps} for _ in range(400)]
    model = MODELS.create("k-anonymity", {"k": 3})
    return SearchProblem(build_tuples(rows, maps), tuple(maps), (model,), LOSSES.create(loss, {}), 0.2)


def suitable_problem(kind: type[Search]) -> SearchProblem:
    return problem_with_many_tests("height" if kind is Samarati else "entropy")


@pytest.fixture
def slow_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Checker.judge

    def slow(checker: Checker, *arguments: object, **options: object) -> NodeCheck:
        time.sleep(0.002)
        return judge(checker, *arguments, **options)

    turn = compiled_sweep.run

    def slow_turn(core: Core, *arguments: object) -> bool:
        before = core.whole[TESTS]
        done: bool = turn(core, *arguments)  # type: ignore[arg-type]
        time.sleep(0.002 * float(core.whole[TESTS] - before))
        return done

    monkeypatch.setattr(Checker, "judge", slow)
    monkeypatch.setattr(compiled_sweep, "run", slow_turn)


def expect_unproven(solution: Solution, problem: SearchProblem, why: str) -> None:
    assert not solution.optimal
    assert solution.stopped == why
    assert solution.proof.startswith(f"not proven optimal ({why})")
    assert solution.checked < problem.num_nodes
    if solution.best is not None:
        assert problem.evaluate(solution.best.node).satisfied


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_time_limit_ends_a_search(kind: type[Search], slow_tests: None) -> None:
    problem = suitable_problem(kind)
    before = threading.active_count()
    solution = kind(seconds=0.05).run(problem)
    expect_unproven(solution, problem, "out of time")
    assert threading.active_count() == before


class Impatience:
    """Presses Control-C, once, when a search first tells of its progress, after 32 tests."""

    def __init__(self) -> None:
        self.pressed = False

    def __call__(self, *_: object) -> None:
        if not self.pressed:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_an_interruption_returns_the_best_so_far(kind: type[Search]) -> None:
    problem = suitable_problem(kind)
    try:
        solution = kind().run(problem, Impatience())
    except KeyboardInterrupt:
        return  # nothing was found yet, so there is nothing to return
    expect_unproven(solution, problem, "interrupted")
    assert solution.best is not None


def test_an_interruption_of_flash_with_a_result_returns_it() -> None:
    solution = SEARCHES["flash"]().run(problem_with_many_tests(), Impatience())
    assert solution.best is not None
    assert solution.stopped == "interrupted"


@pytest.mark.parametrize("presses", [1, 3])
def test_threads_stop_cleanly_when_the_user_presses_control_c(presses: int, slow_tests: None) -> None:
    problem = problem_with_many_tests("precision")
    before = threading.active_count()
    keyboard = [
        threading.Timer(0.15 + 0.003 * press, os.kill, (os.getpid(), signal.SIGINT))
        for press in range(presses)
    ]
    for timer in keyboard:
        timer.start()
    try:
        solution = FlashParallel(threads=4).run(problem)
    finally:
        alive_after = [t for t in threading.enumerate() if t not in keyboard]
        for timer in keyboard:
            timer.cancel()
            timer.join()
    expect_unproven(solution, problem, "interrupted")
    assert solution.best is not None
    assert len(alive_after) == before


def test_an_interruption_before_anything_is_found_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        Samarati().run(problem_with_many_tests("height"), Impatience())
