"""Good nodes from good nodes: selection, crossing and mutation of levels.

Nodes that satisfy are fitter than others, among them those with less loss; those that do not satisfy are the
fitter the fewer rows they would suppress.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Evaluation, Order
from tarnkappe.lattice.tested_nodes import Notebook

Fitness = tuple[bool, int, float, Order]


class Breeding:
    """Nodes of which the fittest survive and have children."""

    def __init__(self, notebook: Notebook, number: int, seed: int) -> None:
        self._notebook = notebook
        self._random = random.Random(seed)  # noqa: S311 - no promise rests on it
        attempt = notebook.attempt
        self._ranges = attempt.problem.level_ranges
        self._order = attempt.problem.order
        self._mutation = 1 / len(attempt.top)
        first = [attempt.top, *(self._random_node() for _ in range(number - 1))]
        self._alive = self._fittest(first, number)
        self._number = number

    def until_nothing_better(self, patience: int, is_spent: Callable[[], bool] = lambda: False) -> None:
        """Breed until so many generations in a row found nothing better."""
        best, idle = self._notebook.attempt.best, 0
        while idle < patience and not is_spent():
            before = best.loss
            self.breed()
            idle = 0 if best.loss < before else idle + 1

    def breed(self) -> None:
        """One generation: as many children as there are parents; the fittest of all live on."""
        children = [self._child(self._choose(), self._choose()) for _ in range(self._number)]
        self._alive = self._fittest([*(each.node for each in self._alive), *children], self._number)

    def _fittest(self, nodes: Sequence[Node], number: int) -> list[Evaluation]:
        tested = [self._notebook.check(node).evaluation for node in dict.fromkeys(nodes)]
        return sorted(tested, key=self._fitness)[:number]

    def _fitness(self, found: Evaluation) -> Fitness:
        excess = 0 if found.satisfied else found.suppressed
        return not found.satisfied, excess, found.loss, self._order(found.node)

    def _choose(self) -> Node:
        """The fitter of two."""
        return self._alive[min(self._random.randrange(len(self._alive)) for _ in range(2))].node

    def _child(self, mother: Node, father: Node) -> Node:
        levels = list(mother)
        for i in self._notebook.columns:
            if self._random.random() < 0.5:
                levels[i] = father[i]
            if self._random.random() < self._mutation:
                moved = levels[i] + self._random.choice((-1, 1))
                levels[i] = min(max(moved, self._ranges[i][0]), self._ranges[i][-1])
        return tuple(levels)

    def _random_node(self) -> Node:
        """A node between the middle of the lattice and the top, where nodes satisfy more often."""
        levels = list(self._notebook.attempt.top)
        for i in self._notebook.columns:
            low, high = self._ranges[i][0], self._ranges[i][-1]
            levels[i] = max(self._random.randint(low, high), self._random.randint(low, high))
        return tuple(levels)
