"""Subtrees: the proven optimum of one level a column, with parts of the hierarchies brought down again.

Levels for a whole column are coarse: one rare value lifts all the others. A *cut* of a hierarchy has one
label above every value, and no label of it lies under another (full-subtree recoding). The levels of a node
are cuts. From those of the best node, one label at a time is replaced by the labels under it, for all rows,
where the promises still hold and the loss falls, the greatest gain first. So each value is written alike in
all rows, and no release of one level a column loses less.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np

from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice import AutoSearch, SearchProblem
from tarnkappe.lattice.problem import TIE
from tarnkappe.privacy import monotone
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.value_levels import ValueLevels
from tarnkappe.table import Column, Tuples
from tarnkappe.table.encoding import Counts, Progress


class Subtrees(Method, kw_only=True):
    """Full-subtree recoding from the best node (LeFevre, DeWitt and Ramakrishnan 2005; Fung et al. 2005)."""

    name = "subtrees"
    cites = ("lefevre2005", "fung2005")
    summary = (
        "Finds the best levels, proven, and then brings single branches of the hierarchies down again while "
        "the promises hold. Right where a value must be written alike in all rows, with labels of the "
        "hierarchy, and one level for a whole column hides too much."
    )
    keeps_level_limits = True

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Find the best node, and refine it."""
        self.check(problem)
        found = AutoSearch().run(problem, progress)
        if found.best is None:
            promised = ", ".join(map(str, problem.models))
            raise NoSolutionError(
                "recoding.no-levels-to-refine",
                "{name} found no levels that meet {promised} with at most {limit} of {num_rows} rows "
                "suppressed: raise the suppression limit, or ask for less",
                name=self.name,
                promised=promised,
                limit=problem.limit,
                num_rows=problem.tuples.num_rows,
            )
        run = SubtreeRefinement(problem, found.best.node)
        start = run.loss
        node = zip(problem.quasi_identifiers, found.best.node, strict=True)
        levels = ", ".join(f"{name} {level}" for name, level in node)
        run.refine(progress)
        return Recoding(
            {name: run.written(name, rows.columns[name]) for name in problem.quasi_identifiers},
            np.ones(rows.num_tuples, dtype=bool),
            steps=(
                f"levels {levels}: loss {start:,.6g} ({found.proof})",
                f"{run.accepted:,} labels replaced by those under them, {run.tried:,} tried: "
                f"loss {run.loss:,.6g}",
            ),
        )


class Step(NamedTuple):
    """A label of a cut that may be replaced by the labels under it; the first of the least is tried first."""

    minus_gain: float
    column: str
    level: int
    label: str
    code: int
    """Of the label on its level."""


class SubtreeRefinement(ValueLevels):
    """The cut of every column, and what it loses.

    Args:
        problem: what is promised and minimized.
        node: the levels to start from.

    Attributes:
        loss: of the cuts.
        accepted: how many labels were replaced.
        tried: how often it was looked whether one can be.
    """

    def __init__(self, problem: SearchProblem, node: tuple[int, ...]) -> None:
        super().__init__(problem, node)
        ranges = zip(problem.columns, problem.level_ranges, strict=True)
        self._least = {column.name: allowed[0] for column, allowed in ranges}
        self._steps: list[Step] = []
        self.accepted = self.tried = 0
        self.loss = self.judged()
        for column, level in zip(problem.columns, node, strict=True):
            self._offer(column, level, np.arange(column.cardinality))

    def refine(self, progress: Progress | None = None) -> None:
        """Replace labels until none can be replaced that lowers the loss.

        A gain that was found earlier is looked at again before it counts. A label that cannot be replaced
        is tried again after others were, unless the models are monotone: then what fails goes on failing
        when more is told.
        """
        tries_again = not monotone(self.problem.models, suppression=self.problem.limit > 0)
        refused: list[Step] = []
        while self._steps:
            step = heapq.heappop(self._steps)
            before = self.accepted
            kept_for_later = self._try(step)
            if progress:
                progress("refining", self.tried, self.tried + len(self._steps), f"loss {self.loss:,.6g}")
            if kept_for_later:
                refused.append(step)
            if self.accepted > before and tries_again:
                for each in refused:
                    heapq.heappush(self._steps, each._replace(minus_gain=-math.inf))
                refused.clear()

    def _try(self, step: Step) -> bool:
        """Replace a label if that is allowed and still the best; whether it is refused for now."""
        column = self.problem.tuples.columns[step.column]
        assert column.levels is not None, "a quasi-identifier has a hierarchy"
        own = self.levels[step.column]
        under = np.flatnonzero((own == step.level) & (column.levels.maps[step.level] == step.code))
        own[under] = step.level - 1
        loss = self.judged()
        self.tried += 1
        gain, equal = self.loss - loss, TIE * max(1.0, abs(self.loss))
        # A label with one label under it tells the same; what lies under that may still tell more.
        is_alone = len(np.unique(column.levels.maps[step.level - 1][under])) == 1
        if gain > equal or (is_alone and gain >= -equal):
            if self._steps and self._steps[0] < step._replace(minus_gain=-gain):
                heapq.heappush(self._steps, step._replace(minus_gain=-gain))
                own[under] = step.level
                return False
            self.loss = loss
            self.accepted += 1
            self._offer(column, step.level - 1, under)
            return False
        own[under] = step.level
        return True

    def _offer(self, column: Column, level: int, values: Counts) -> None:
        """List the labels of a level over some values that may be replaced."""
        if level <= self._least[column.name]:
            return
        assert column.levels is not None, "a quasi-identifier has a hierarchy"
        for code in np.unique(column.levels.maps[level][values]).tolist():
            label = column.levels.labels[level][code]
            heapq.heappush(self._steps, Step(-math.inf, column.name, level, label, code))
