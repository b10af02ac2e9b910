"""Genetic search: a population of nodes that improves by crossing and mutation."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import ClassVar

from tarnkappe.lattice.attempt import Attempt
from tarnkappe.lattice.best_first import DEFAULT_SECONDS, require_whole
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.notebook import Notebook
from tarnkappe.lattice.problem import Evaluation, Order
from tarnkappe.lattice.projections import Projections, terms_of
from tarnkappe.lattice.search import Search

PROJECTION_NODES = 3_000
"""How many combinations of levels are looked at together for the bound."""

Fitness = tuple[bool, int, float, Order]


@dataclasses.dataclass(frozen=True)
class Genetic(Search):
    """A heuristic for lattices of any size; it ends after 60 seconds unless told otherwise.

    Nodes that satisfy are fitter than others, among them those with less loss; those that do not satisfy are
    the fitter the fewer rows they would suppress. The fittest survive, and children take each level from one
    of two parents or, now and then, move it by a step. The result satisfies the promises but is not proven to
    be optimal; a bound from a few columns at a time tells how much better another node could be at most.

    Attributes:
        seconds: when to stop; none for a search of which `patience` is the only end.
        max_tests: after how many tests to stop.
        population: how many nodes live at once.
        patience: after how many generations that found nothing better to stop.
        seed: makes the search reproducible.
    """

    name = "genetic"
    is_exact = False
    state: ClassVar[type[Attempt]] = Attempt

    seconds: float | None = dataclasses.field(default=DEFAULT_SECONDS, kw_only=True)
    max_tests: int | None = dataclasses.field(default=None, kw_only=True)
    population: int = dataclasses.field(default=40, kw_only=True)
    patience: int = dataclasses.field(default=40, kw_only=True)
    seed: int = dataclasses.field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, {"max_tests": 1, "population": 2, "patience": 1, "seed": 0})

    def search(self, traversal: Attempt) -> None:
        """Find a bound, then breed until nothing better is found."""
        notebook = Notebook(traversal, self.max_tests)
        people = _People(notebook, self.population, self.seed)
        self._find_bound(notebook)
        idle = 0
        while idle < self.patience:
            before = traversal.best.loss
            people.breed()
            idle = 0 if traversal.best.loss < before else idle + 1

    def _find_bound(self, notebook: Notebook) -> None:
        attempt = notebook.attempt
        terms = terms_of(attempt.problem)
        if terms is None or not notebook.can_exclude or notebook.excludes(attempt.top):
            return
        projections = Projections(notebook, terms, PROJECTION_NODES)
        projections.exclude(lambda: self.seconds is not None and attempt.elapsed > 0.25 * self.seconds)
        attempt.raise_bound(projections.bound(projections.least(attempt.bottom, attempt.top)))


class _People:
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
