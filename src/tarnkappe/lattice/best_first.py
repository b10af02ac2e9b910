"""Best-first search: the best node found in the time given, and how much better another one could be."""

from __future__ import annotations

from typing import Annotated, ClassVar

from tarnkappe.lattice.branch_and_bound import Boxes
from tarnkappe.lattice.genetic_operators import Breeding
from tarnkappe.lattice.hill_climbing import Climb
from tarnkappe.lattice.projections import Projections, terms_of
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.search_run import Attempt
from tarnkappe.lattice.tested_nodes import Notebook
from tarnkappe.schema import MANY_ROWS, Rows, Seconds, Whole, param

DEFAULT_SECONDS = 60.0
"""How long a search of a large lattice takes unless told otherwise."""

POPULATION = 40
"""How many nodes live at once."""


class BestFirst(Search, kw_only=True):
    """For lattices of any size: it first looks for a good node, then proves how good it is.

    A good node is found by greedy descent, exchanges of levels and restarts (`Climb`), and in a large lattice
    by crossing good nodes (`Breeding`). The proof divides the lattice into boxes, each with a bound that no
    node in it goes below, and goes on with the box of the smallest bound (`Boxes`). That bound rises until it
    meets the loss of the best node, which is then proven optimal, for all models and losses. A search that
    ends before, after 60 seconds unless told otherwise, is a heuristic: the result satisfies the promises,
    and the last bound says how much better another node could be at most.
    """

    name = "best-first"
    state: ClassVar[type[Attempt]] = Attempt

    seconds: Annotated[
        Seconds | None, param("when to stop; none for a search to the end", kind="seconds", unit="seconds")
    ] = DEFAULT_SECONDS
    max_tests: Annotated[Rows | None, param("after how many tests to stop", unit="tests")] = None
    max_boxes: Annotated[
        Rows, param("how many boxes may be open at once, each less than a kilobyte", unit="boxes")
    ] = 500000
    projection_nodes: Annotated[
        int,
        param(
            "how many combinations of levels are looked at together for a bound from few columns",
            ge=2,
            le=MANY_ROWS,
            unit="nodes",
        ),
    ] = 50000
    patience: Annotated[
        int,
        param(
            "after how many restarts that found nothing better the proof begins",
            ge=0,
            le=MANY_ROWS,
            unit="restarts",
        ),
    ] = 40
    seed: Annotated[Whole, param("makes the search reproducible")] = 0

    def search(self, traversal: Attempt) -> None:
        """Find a good node, then prove that none is better, or how much better one could be."""
        notebook = Notebook(traversal, self.max_tests)
        climb = Climb(notebook, self.seed)
        climb.start()
        for _ in climb.restarts(self.patience):
            if self._is_spent(traversal, share=0.25):
                break
        if traversal.problem.num_nodes > self.projection_nodes:  # there is more than climbing can see
            breeding = Breeding(notebook, POPULATION, self.seed)
            breeding.until_nothing_better(self.patience, lambda: self._is_spent(traversal, share=0.35))
        projections = self._projections(notebook)
        if projections is not None:
            projections.exclude(lambda: self._is_spent(traversal, share=0.5))
        Boxes(notebook, projections, self.max_boxes).close_all()

    def _projections(self, notebook: Notebook) -> Projections | None:
        """Bounds from few columns, where they are valid and the lattice is not itself small."""
        terms = terms_of(notebook.attempt.problem)
        if terms is None or not notebook.can_exclude:
            return None
        if notebook.attempt.problem.num_nodes <= self.projection_nodes:
            return None
        return Projections(notebook, terms, self.projection_nodes)

    def _is_spent(self, attempt: Attempt, share: float) -> bool:
        """Whether such a share of the time, or of the tests, is used up."""
        is_late = self.seconds is not None and attempt.elapsed > share * self.seconds
        return is_late or (self.max_tests is not None and len(attempt.tests) > share * self.max_tests)
