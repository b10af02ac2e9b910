"""Levels and suppressed classes together: nothing that one level a column allows loses less, proven.

A search compares levels, and models on the table as a whole then have the smallest classes suppressed. Where
another choice of classes loses less, another node may be best, too. Here every node that its levels do
not exclude is looked at with its best choice of classes.
"""

from __future__ import annotations

import heapq
import math

import numpy as np

from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.lattice import AutoSearch, Evaluation, Node, SearchProblem
from tarnkappe.lattice.problem import BestNodes
from tarnkappe.lattice.suppression_choice import best_choice, require_choosable
from tarnkappe.privacy import monotone, satisfied
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.value_levels import ValueLevels
from tarnkappe.table import ClassState, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Progress

MOST_NODES = 1_000_000


class ExactSuppression(Method, kw_only=True):
    """Full-domain levels as in Samarati (2001), with the classes to suppress by a whole-number program."""

    name = "exact-suppression"
    cites = ("samarati2001",)
    summary = (
        "Chooses levels and the classes to suppress together, proven to lose least. Right where a promise "
        "is about the table as a whole, such as an average risk, and rows may be suppressed: a search "
        "suppresses the smallest classes then, which may lose more."
    )
    keeps_level_limits = True

    def check(self, problem: SearchProblem) -> None:
        """Refuse what does not add up over classes, and lattices that nobody can go through."""
        super().check(problem)
        require_choosable(problem)
        if problem.num_nodes > MOST_NODES:
            raise ParameterError(
                "recoding.exact-suppression-nodes",
                "{name} looks at single combinations of levels, and there are {num_nodes:,}: limit the "
                "levels, or take 'auto'",
                name=self.name,
                num_nodes=problem.num_nodes,
            )

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Look at every node that may be best, the least bound first."""
        self.check(problem)
        best = BestNodes(problem)
        start = AutoSearch().run(problem)
        if start.best is not None:
            best.offer(_judged(problem, start.best.node))
        looked_at = self._go_through(problem, best, progress)
        found = best.evaluation
        if found is None:
            raise NoSolutionError(
                "recoding.no-levels-to-refine",
                "{name} found no levels that meet {promised} with at most {limit} of {num_rows} rows "
                "suppressed: raise the suppression limit, or ask for less",
                name=self.name,
                promised=", ".join(map(str, problem.models)),
                limit=problem.limit,
                num_rows=problem.tuples.num_rows,
            )
        names = problem.quasi_identifiers
        levels = ", ".join(f"{n} {level}" for n, level in zip(names, found.node, strict=True))
        written = ValueLevels(problem, found.node)
        usual = "" if start.best is None else f"; smallest classes first: loss {start.best.loss:,.6g}"
        return Recoding(
            {name: written.written(name, rows.columns[name]) for name in names},
            _kept_rows(problem, rows, found.node),
            optimal=True,
            steps=(
                f"levels {levels}, {found.suppressed:,} rows suppressed: loss {found.loss:,.6g}{usual}",
                f"{looked_at:,} of {problem.num_nodes:,} combinations of levels looked at, others excluded",
            ),
        )

    def _go_through(self, problem: SearchProblem, best: BestNodes, progress: Progress | None) -> int:
        """Offer every node that may be best; how many were looked at.

        With monotone promises all nodes below one that cannot keep them cannot either.
        """
        falls_with = monotone(problem.models, suppression=problem.limit > 0)
        hopeless = np.zeros([height + 1 for height in problem.lattice.heights], dtype=bool)
        waiting = [(_bound(problem, node), problem.order(node), node) for node in problem.nodes()]
        heapq.heapify(waiting)
        looked_at = 0
        while waiting and waiting[0][0] <= best.ceiling:
            _, _, node = heapq.heappop(waiting)
            if hopeless[node]:
                continue
            evaluation = _judged(problem, node)
            best.offer(evaluation)
            looked_at += 1
            if falls_with and not evaluation.satisfied:
                hopeless[tuple(slice(level + 1) for level in node)] = True
            if progress:
                left = looked_at + len(waiting)
                progress("choosing levels and classes", looked_at, left, f"loss {best.loss:,.6g}")
        return looked_at


def _bound(problem: SearchProblem, node: Node) -> float:
    bound = problem.loss.lower_bound_at(problem.tuples, problem.columns, node)
    return -math.inf if bound is None else bound


def _judged(problem: SearchProblem, node: Node) -> Evaluation:
    classes = problem.classes(node)
    kept = best_choice(problem, classes)
    if kept is None:
        return Evaluation(node, False, math.inf, classes.num_rows, 0)
    state = ClassState(classes, kept)
    return Evaluation(
        node,
        satisfied(state, problem.models, problem.limit),
        problem.loss(state),
        state.suppressed_rows,
        state.num_kept,
    )


def _kept_rows(problem: SearchProblem, rows: Tuples, node: Node) -> Mask:
    """The rows of the classes that are kept; classes are told by their labels, so the choice is the same."""
    classes = rows.classes(problem.quasi_identifiers, node, problem.distributions)
    kept = best_choice(problem, classes)
    assert kept is not None, "the same classes were judged before"
    return np.asarray(kept[classes.ids])
