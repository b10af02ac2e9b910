"""Exhaustive search: test every node. Right for every model and loss, and the yardstick of all others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import ClassVar

from tarnkappe.lattice.checker import NodeCheck
from tarnkappe.lattice.groups import PackedClasses
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.search_run import Attempt, LimitReachedError

WORTH_A_THREAD = 100_000
"""With fewer classes threads would rather wait for each other than compute."""

PIECES_PER_CORE = 8
"""So many pieces of the lattice are made for each core, so that none waits long for the others."""


class Exhaustive(Search):
    """Test all nodes and return the best; optimal whatever the models and the loss.

    The nodes are visited as by an odometer, and each wheel keeps the classes at the levels of the wheels
    before it, so most nodes are grouped from few classes. Cores turn the faster wheels side by side.
    """

    name = "exhaustive"
    state: ClassVar[type[Attempt]] = Attempt

    def search(self, traversal: Attempt) -> None:
        """Test every node that may be chosen."""
        check_everything(traversal)


def check_everything(attempt: Attempt, is_open: Callable[[Node], bool] = lambda _: True) -> None:
    """Test all nodes, or those that are still open when their turn comes."""
    bottom, checker, stopped = attempt.checker.bottom, attempt.checker, Event()
    wheels, cores = wheels_of(bottom), os.cpu_count() or 1

    def tests(start: tuple[PackedClasses, PackedClasses], wheels: list[int]) -> Iterator[NodeCheck]:
        for base, groups in visit(*start, wheels):
            attempt.keep_time()
            if is_open(groups.node):
                checker.count(base)
                yield checker.judge(groups, with_bound=False)

    if cores == 1 or bottom.num_classes < WORTH_A_THREAD:
        for found in tests((bottom, bottom), wheels):
            attempt.learn(found)
        return
    depth, pieces = 0, 1
    while depth < len(wheels) and pieces < PIECES_PER_CORE * cores:
        pieces *= len(bottom.frame.problem.level_ranges[wheels[depth]])
        depth += 1

    def test_piece(
        start: tuple[PackedClasses, PackedClasses],
    ) -> tuple[list[NodeCheck], BaseException | None]:
        """What was found, and what has put an end to it, if anything did."""
        checks: list[NodeCheck] = []
        try:
            for found in tests(start, wheels[depth:]):
                checks.append(found)
                if stopped.is_set():
                    break
        except (LimitReachedError, KeyboardInterrupt) as end:
            return checks, end
        return checks, None

    with ThreadPoolExecutor(cores) as pool:
        try:
            for checks, end in pool.map(test_piece, visit(bottom, bottom, wheels[:depth])):
                for found in checks:
                    attempt.learn(found)
                if end is not None:
                    raise end
        finally:
            stopped.set()


def wheels_of(bottom: PackedClasses) -> list[int]:
    """The columns, those with most values first: their higher levels merge most classes."""
    columns = bottom.frame.problem.columns
    return sorted(range(len(columns)), key=lambda i: -columns[i].cardinality)


def visit(
    base: PackedClasses, groups: PackedClasses, wheels: list[int]
) -> Iterator[tuple[PackedClasses, PackedClasses]]:
    """The classes of every node that some columns make, the last fastest, and what they were made from."""
    if not wheels:
        yield base, groups
        return
    column, *faster = wheels
    yield from visit(base, groups, faster)
    for level in groups.frame.problem.level_ranges[column][1:]:
        base, groups = groups, groups.at((*groups.node[:column], level, *groups.node[column + 1 :]))
        yield from visit(base, groups, faster)
