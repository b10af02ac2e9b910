"""Finding a good node fast: greedy descent, exchanges of levels, and restarts from nearby."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Evaluation
from tarnkappe.lattice.tested_nodes import Notebook

FREE_SHARE = 0.02
"""Suppression that a step may cost for free, as a share of the limit: below it, only the loss counts."""
NOISE = 0.3
"""How much the attractiveness of a step varies in restarts (standard deviation of its logarithm)."""
KICK = (1, 4)
"""How many columns are brought up before a restart, from and to."""
WORSE = 0.001
"""How much worse than before a node may be, relatively, for the next restart to begin there."""


class Climb:
    """Iterated local search. It proves nothing, and only satisfying nodes come out of it.

    A descent starts at a satisfying node and lowers the level of one column at a time: that which lowers the
    loss most for the rows that it costs. Where no step down is left, a column is lowered and another one
    raised for it. Restarts bring a few columns of a good node up and descend again by a slightly
    different taste.
    """

    def __init__(self, notebook: Notebook, seed: int) -> None:
        self._notebook = notebook
        self._random = random.Random(seed)  # noqa: S311 - no promise rests on it
        self._bottom, self._top = notebook.attempt.bottom, notebook.attempt.top

    def start(self) -> Evaluation | None:
        """A first good node, from the top; None if no satisfying node is found on the way."""
        start = self._approach(self._top)
        return None if start is None else self._exchange(self._descend(start))

    def restarts(self, patience: int) -> Iterator[None]:
        """Restart until so many restarts in a row have found nothing better; each is one step."""
        best = self._notebook.attempt.best
        here, idle = best.evaluation, 0
        while idle < patience:
            loss = best.loss
            there = self._approach(self._random_node() if here is None else self._kicked(here.node))
            if there is not None:
                there = self._descend(there, noise=NOISE)
                if there.loss < loss:
                    there = self._exchange(there)
                if here is None or there.loss <= here.loss + WORSE * abs(here.loss):
                    here = there
            idle = 0 if best.loss < loss else idle + 1
            yield

    def _test(self, node: Node) -> Evaluation:
        return self._notebook.check(node).evaluation

    def _descend(self, here: Evaluation, noise: float = 0.0) -> Evaluation:
        limit = self._notebook.attempt.problem.limit
        alive = [i for i in self._notebook.columns if here.node[i] > self._bottom[i]]
        while True:
            best, attraction = here, 0.0
            for column in list(alive):
                there = self._try(_moved(here.node, column, -1))
                if there is None:
                    alive.remove(column)  # it would not satisfy further down either, or hardly ever
                    continue
                costs = max(there.suppressed - here.suppressed, 0) + FREE_SHARE * limit + 1
                gain = (here.loss - there.loss) / costs * math.exp(noise * self._random.gauss(0, 1))
                if gain > attraction:
                    best, attraction = there, gain
            if best is here:
                return here
            here = best
            alive = [i for i in alive if here.node[i] > self._bottom[i]]

    def _try(self, node: Node) -> Evaluation | None:
        """The evaluation of a node if it satisfies."""
        if self._notebook.must_fail(node):
            return None
        found = self._test(node)
        return found if found.satisfied else None

    def _exchange(self, here: Evaluation) -> Evaluation:
        while True:
            best = here
            for lowered in (i for i in self._notebook.columns if here.node[i] > self._bottom[i]):
                below = _moved(here.node, lowered, -1)
                raised = (i for i in self._notebook.columns if i != lowered and here.node[i] < self._top[i])
                for node in (below, *(_moved(below, i, +1) for i in raised)):
                    if self._notebook.bound_at(node) < best.loss:
                        there = self._try(node)
                        if there is not None and there.loss < best.loss:
                            best = there
            if best is here:
                return here
            here = best

    def _approach(self, node: Node) -> Evaluation | None:
        """The satisfying node to which steps that need fewer rows suppressed lead, if they lead to one."""
        here = self._test(node)
        if self._notebook.attempt.monotone and not here.satisfied:
            return None if node == self._top else self._approach(self._top)
        while not here.satisfied:
            steps = [self._test(each) for each in self._neighbours(here.node)]
            nearest = min(steps, key=lambda each: (not each.satisfied, each.suppressed), default=here)
            if not nearest.satisfied and nearest.suppressed >= here.suppressed:
                return None
            here = nearest
        return here

    def _neighbours(self, node: Node) -> Iterator[Node]:
        for column in self._notebook.columns:
            if node[column] < self._top[column]:
                yield _moved(node, column, +1)
            if node[column] > self._bottom[column]:
                yield _moved(node, column, -1)

    def _kicked(self, node: Node) -> Node:
        """A node above the given one, with a few columns brought up."""
        raised = list(node)
        columns = [i for i in self._notebook.columns if node[i] < self._top[i]]
        for i in self._random.sample(columns, min(len(columns), self._random.randint(*KICK))):
            raised[i] = self._random.randint(node[i] + 1, self._top[i])
        return tuple(raised)

    def _random_node(self) -> Node:
        levels = list(self._top)
        for i in self._notebook.columns:
            levels[i] = self._random.randint(self._bottom[i], self._top[i])
        return tuple(levels)


def _moved(node: Node, column: int, steps: int) -> Node:
    return (*node[:column], node[column] + steps, *node[column + 1 :])
