"""The exact question, asked of CP-SAT (OR-tools)."""

from __future__ import annotations

from collections.abc import Mapping

from ortools.sat.python import cp_model

from tarnkappe.gate.problem import AssignmentProblem
from tarnkappe.gate.solver import FeasibleAssignment, Impossible, Solver, Unknown, Verdict


class CpSat(Solver):
    """CP-SAT on one thread with a fixed seed and a deterministic budget, so that answers are reproducible.

    The limits of the open result hang on one assumption for each label. If the question is impossible, the
    solver names assumptions that suffice for it: the labels of which more would have to be published.
    """

    def __init__(self, problem: AssignmentProblem) -> None:
        super().__init__(problem)
        self._model = model = cp_model.CpModel()
        self._counts = [
            model.new_bool_var("") if most == 1 else model.new_int_var(0, most, "") for most in problem.most
        ]
        self._total: dict[int, cp_model.LinearExpr] = {}
        for row in problem.rows:
            terms = [self._counts[pair] for pair in row.pairs]
            if row.is_floor:
                model.add(cp_model.LinearExpr.sum(terms) >= row.limit)
            elif row.label is not None:
                self._total[row.label] = cp_model.LinearExpr.sum(terms)
            elif row.limit == 1 and all(problem.most[pair] == 1 for pair in row.pairs):
                (model.add_exactly_one if row.exact else model.add_at_most_one)(terms)
            elif row.exact:
                model.add(cp_model.LinearExpr.sum(terms) == row.limit)
            else:
                model.add(cp_model.LinearExpr.sum(terms) <= row.limit)

    def ask(self, targets: list[int], published: Mapping[int, int], effort: float | None = None) -> Verdict:
        model = self._model.clone()
        model.add(cp_model.LinearExpr.sum([self._counts[pair] for pair in targets]) >= 1)
        assumed: dict[int, int] = {}
        for label, count in published.items():
            if label in self._total:
                holds = model.new_bool_var("")
                model.add(self._total[label] <= count).only_enforce_if(holds)
                model.add_assumption(holds)
                assumed[holds.index] = label
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.cp_model_presolve = False
        if effort is not None:
            solver.parameters.max_deterministic_time = effort
        status = solver.solve(model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return FeasibleAssignment([int(solver.value(count)) for count in self._counts])
        if status == cp_model.INFEASIBLE:
            core = solver.sufficient_assumptions_for_infeasibility()
            return Impossible(frozenset(assumed[literal] for literal in core))
        return Unknown()
