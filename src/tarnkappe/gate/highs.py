"""The exact question, asked of HiGHS (which comes with SciPy)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from tarnkappe.gate.problem import AssignmentProblem
from tarnkappe.gate.solver import FeasibleAssignment, Impossible, Solver, Unknown, Verdict

INFEASIBLE = 2
NODES = 200
"""How many nodes of the search tree count as one unit of effort: not the time, so that answers are
reproducible."""


class Highs(Solver):
    """HiGHS as a mixed-integer solver; it shows as many of the targets at once as it can."""

    def __init__(self, problem: AssignmentProblem) -> None:
        super().__init__(problem)
        rows = problem.rows
        indices = np.array([pair for row in rows for pair in row.pairs], dtype=np.int64)
        ends = np.cumsum([0, *(len(row.pairs) for row in rows)])
        self._matrix = csr_array((np.ones(len(indices)), indices, ends), shape=(len(rows), len(problem.most)))
        limit = np.array([row.limit for row in rows], dtype=np.float64)
        self._upper = np.where([row.is_floor for row in rows], np.inf, limit)
        self._lower = np.where([row.exact or row.is_floor for row in rows], limit, 0)

    def ask(self, targets: list[int], published: Mapping[int, int], effort: float | None = None) -> Verdict:
        problem = self.problem
        upper = self._upper.copy()
        for place, row in enumerate(problem.rows):
            if row.label is not None:
                upper[place] = published.get(row.label, np.inf)
        goal = np.zeros(len(problem.most))
        goal[targets] = 1
        solution = milp(
            -goal,
            constraints=[
                LinearConstraint(self._matrix, self._lower, upper),
                LinearConstraint(goal[None, :], 1, np.inf),
            ],
            bounds=Bounds(0, np.array(problem.most)),
            integrality=np.ones(len(goal), dtype=np.int64),
            options={} if effort is None else {"node_limit": max(1, int(effort * NODES))},
        )
        if solution.x is not None:
            return FeasibleAssignment(np.rint(solution.x).astype(int).tolist())
        labels = frozenset(
            row.label for row in problem.rows if row.label in published and row.label is not None
        )
        return Impossible(labels) if solution.status == INFEASIBLE else Unknown()
