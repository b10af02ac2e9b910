"""What a search is: the contract of the searches in this folder."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import ClassVar, cast

from tarnkappe.errors import ParameterError
from tarnkappe.lattice.attempt import Attempt, LimitReachedError
from tarnkappe.lattice.effort import Effort
from tarnkappe.lattice.interruption import heard
from tarnkappe.lattice.problem import Problem
from tarnkappe.lattice.solution import Solution
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.native import is_interruption
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True)
class Search(ABC):
    """A way to look for the best node of a lattice.

    Attributes:
        seconds: when to stop with the best node found so far; without it, never.
        implied_criteria: whether simpler monotone criteria that the models imply exclude nodes.
        lower_bounds: whether nodes are skipped that provably cannot beat the best found.
        effort: how tests are made: what they start from, how much memory that may take.
    """

    name: ClassVar[str]
    is_exact: ClassVar[bool] = True
    """Whether a search that ran to its end has proven its result to be optimal."""
    state: ClassVar[type[Attempt]] = Traversal
    """What it keeps in mind; a search for lattices of any size needs no more than an `Attempt`."""

    seconds: float | None = dataclasses.field(default=None, kw_only=True)
    implied_criteria: bool = dataclasses.field(default=True, kw_only=True)
    lower_bounds: bool = dataclasses.field(default=False, kw_only=True)
    effort: Effort = dataclasses.field(default=Effort(), kw_only=True)

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:
            raise ParameterError(f"a search needs more than 0 seconds, not {self.seconds}")

    def run(self, problem: Problem, progress: Progress | None = None) -> Solution:
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
