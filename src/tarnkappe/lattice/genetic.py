"""Genetic search: a population of nodes that improves by crossing and mutation."""

from __future__ import annotations

from typing import Annotated, ClassVar

from tarnkappe.lattice.best_first import DEFAULT_SECONDS, POPULATION
from tarnkappe.lattice.genetic_operators import Breeding
from tarnkappe.lattice.projections import Projections, terms_of
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.search_run import Attempt
from tarnkappe.lattice.tested_nodes import Notebook
from tarnkappe.schema import MANY_ROWS, Rows, Seconds, Whole, param

PROJECTION_NODES = 3_000
"""How many combinations of levels are looked at together for the bound."""


class Genetic(Search, kw_only=True):
    """A heuristic for lattices of any size; it ends after 60 seconds unless told otherwise.

    The fittest nodes survive, and children take each level from one of two parents or, now and then, move it
    by a step (`Breeding`). The result satisfies the promises but is not proven to
    be optimal; a bound from a few columns at a time tells how much better another node could be at most.
    """

    name = "genetic"
    cites = ("iyengar2002",)
    is_exact = False
    state: ClassVar[type[Attempt]] = Attempt

    seconds: Annotated[
        Seconds | None,
        param(
            "when to stop; none for a search of which patience is the only end",
            kind="seconds",
            unit="seconds",
        ),
    ] = DEFAULT_SECONDS
    max_tests: Annotated[Rows | None, param("after how many tests to stop", unit="tests")] = None
    population: Annotated[int, param("how many nodes live at once", ge=2, le=1_000_000, unit="nodes")] = (
        POPULATION
    )
    patience: Annotated[
        int,
        param(
            "after how many generations that found nothing better to stop",
            ge=1,
            le=MANY_ROWS,
            unit="generations",
        ),
    ] = 40
    seed: Annotated[Whole, param("makes the search reproducible")] = 0

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
