"""What a search is: the contract of the searches in this folder."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, ClassVar, cast

from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.lattice.interruption import heard
from tarnkappe.lattice.problem import SearchProblem
from tarnkappe.lattice.search_run import Attempt, LimitReachedError
from tarnkappe.lattice.solution import Solution
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.native import is_interruption
from tarnkappe.schema import Parameters, Seconds, param
from tarnkappe.table.encoding import Progress


class Search(Parameters, tag_field="algorithm", kw_only=True):
    """A way to look for the best node of a lattice."""

    name: ClassVar[str]
    is_exact: ClassVar[bool] = True
    """Whether a search that ran to its end has proven its result to be optimal."""
    state: ClassVar[type[Attempt]] = Traversal
    """What it keeps in mind; a search for lattices of any size needs no more than an `Attempt`."""

    seconds: Annotated[
        Seconds | None,
        param(
            "when to stop with the best node found so far; without it, never", kind="seconds", unit="seconds"
        ),
    ] = None
    implied_criteria: Annotated[
        bool, param("whether simpler monotone criteria that the models imply exclude nodes")
    ] = True
    lower_bounds: Annotated[
        bool, param("whether nodes are skipped that provably cannot beat the best found")
    ] = False
    effort: Annotated[
        EvaluationSettings, param("how tests are made: what they start from, how much memory that may take")
    ] = EvaluationSettings()

    def run(self, problem: SearchProblem, progress: Progress | None = None) -> Solution:
        """Search the lattice of a problem.

        An interruption from the keyboard ends the search with the best node found so far, if there is one;
        so does the time limit. The solution then says that it is not proven to be optimal.
        """
        attempt = self.state(
            problem,
            progress,
            effort=self.effort,
            implied_criteria=self.implied_criteria,
            lower_bounds=self.lower_bounds,
            seconds=self.seconds,
        )
        try:
            with heard(attempt.interrupt):
                self.search(cast(Traversal, attempt))  # a mere attempt goes to a search that asks for no more
        except LimitReachedError as limit:
            return attempt.solution(self.name, optimal=False, stopped=str(limit))
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interruption(error):
                raise
            if attempt.best.evaluation is None:
                raise KeyboardInterrupt from None
            return attempt.solution(self.name, optimal=False, stopped="interrupted")
        return attempt.solution(self.name, optimal=self.is_exact)

    @abstractmethod
    def search(self, traversal: Traversal) -> None:
        """Test nodes until nothing better can be left; the traversal remembers the best.

        A problem that this search cannot solve is refused before the first test.
        """
