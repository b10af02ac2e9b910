"""Genetic search: a population of nodes that improves by crossing and mutation."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from tarnkappe.lattice.attempt import Attempt
from tarnkappe.lattice.best_first import DEFAULT_SECONDS, POPULATION, require_whole
from tarnkappe.lattice.breeding import Breeding
from tarnkappe.lattice.notebook import Notebook
from tarnkappe.lattice.projections import Projections, terms_of
from tarnkappe.lattice.search import Search

PROJECTION_NODES = 3_000
"""How many combinations of levels are looked at together for the bound."""


@dataclasses.dataclass(frozen=True)
class Genetic(Search):
    """A heuristic for lattices of any size; it ends after 60 seconds unless told otherwise.

    The fittest nodes survive, and children take each level from one of two parents or, now and then, move it
    by a step (`Breeding`). The result satisfies the promises but is not proven to
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
    population: int = dataclasses.field(default=POPULATION, kw_only=True)
    patience: int = dataclasses.field(default=40, kw_only=True)
    seed: int = dataclasses.field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(self, {"max_tests": 1, "population": 2, "patience": 1, "seed": 0})

    def search(self, traversal: Attempt) -> None:
        """Find a bound, then breed until nothing better is found."""
        notebook = Notebook(traversal, self.max_tests)
        breeding = Breeding(notebook, self.population, self.seed)
        self._find_bound(notebook)
        breeding.until_nothing_better(self.patience)

    def _find_bound(self, notebook: Notebook) -> None:
        attempt = notebook.attempt
        terms = terms_of(attempt.problem)
        if terms is None or not notebook.can_exclude or notebook.excludes(attempt.top):
            return
        projections = Projections(notebook, terms, PROJECTION_NODES)
        projections.exclude(lambda: self.seconds is not None and attempt.elapsed > 0.25 * self.seconds)
        attempt.raise_bound(projections.bound(projections.least(attempt.bottom, attempt.top)))
