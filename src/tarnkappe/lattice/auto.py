"""The search that is chosen when none is named."""

from __future__ import annotations

import dataclasses

from tarnkappe.lattice.flash_two_phase import run_flash
from tarnkappe.lattice.problem import Problem
from tarnkappe.lattice.search import Search, Solution
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True)
class Auto(Search):
    """Flash in two phases, which also skips nodes that by their levels alone cannot beat the best found.

    Each loss knows a bound that neither a node nor anything above it goes below (`Loss.lower_bound_at`), so
    the result is optimal for all models and losses.
    """

    name = "auto"

    def run(self, problem: Problem, progress: Progress | None = None) -> Solution:
        """Search the whole lattice."""
        traversal = Traversal(problem, progress, bounded=True)
        run_flash(traversal)
        return traversal.solution(self.name, optimal=True)
