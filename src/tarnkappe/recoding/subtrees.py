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
import pyarrow as pa

from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice import AutoSearch, SearchProblem
from tarnkappe.lattice.problem import TIE
from tarnkappe.privacy import monotone, satisfied
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.recode import recoded
from tarnkappe.recoding.written import WrittenColumn
from tarnkappe.table import MISSING, Column, Tuples
from tarnkappe.table.encoding import Codes, Counts, Progress


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


class SubtreeRefinement:
    """The cut of every column, and what it loses.

    Args:
        problem: what is promised and minimized.
        node: the levels to start from.

    Attributes:
        levels: for each column, the level of each value.
        loss: of the cuts.
        accepted: how many labels were replaced.
        tried: how often it was looked whether one can be.
    """

    def __init__(self, problem: SearchProblem, node: tuple[int, ...]) -> None:
        self._problem = problem
        self.levels: dict[str, Codes] = {
            column.name: np.full(column.cardinality, level, np.int32)
            for column, level in zip(problem.columns, node, strict=True)
        }
        self._texts = {column.name: _texts(column) for column in problem.columns}
        ranges = zip(problem.columns, problem.level_ranges, strict=True)
        self._least = {column.name: allowed[0] for column, allowed in ranges}
        self._steps: list[Step] = []
        self.accepted = self.tried = 0
        self.loss = self._judged()
        for column, level in zip(problem.columns, node, strict=True):
            self._offer(column, level, np.arange(column.cardinality))

    def refine(self, progress: Progress | None = None) -> None:
        """Replace labels until none can be replaced that lowers the loss.

        A gain that was found earlier is looked at again before it counts. A label that cannot be replaced
        is tried again after others were, unless the models are monotone: then what fails goes on failing
        when more is told.
        """
        tries_again = not monotone(self._problem.models, suppression=self._problem.limit > 0)
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
        column = self._problem.tuples.columns[step.column]
        assert column.levels is not None, "a quasi-identifier has a hierarchy"
        own = self.levels[step.column]
        under = np.flatnonzero((own == step.level) & (column.levels.maps[step.level] == step.code))
        own[under] = step.level - 1
        loss = self._judged()
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

    def _judged(self) -> float:
        """What the cuts lose; infinite if they do not keep the promises."""
        problem = self._problem
        written = {name: self.written(name, problem.tuples.columns[name]) for name in self.levels}
        everything = np.ones(problem.tuples.num_tuples, dtype=bool)
        found = recoded(problem.tuples, Recoding(written, everything), problem.models, problem.distributions)
        if not satisfied(found.state, problem.models, problem.limit):
            return math.inf
        return problem.loss(found.state)

    def written(self, name: str, column: Column) -> WrittenColumn:
        """A column at its cut."""
        values, codes = self._texts[name]
        of_value = codes[self.levels[name], np.arange(column.cardinality)]
        return WrittenColumn(of_value[column.codes], values)


def _texts(column: Column) -> tuple[pa.Array, Codes]:
    """All labels of a hierarchy, each once, and for each level the code of each value's label among them.

    A label that stands on two levels is one word, as its readers see it.
    """
    own = column.levels
    assert own is not None, "a quasi-identifier has a hierarchy"
    place: dict[str, int] = {}
    rows = []
    for level in range(own.height + 1):
        for label in own.labels[level]:
            place.setdefault(label, len(place))
        rows.append(np.array([place[label] for label in own.labels[level]], np.int32)[own.maps[level]])
    is_missing = column.values.null_count > 0
    texts = pa.array([None if is_missing and text == MISSING else text for text in place], pa.string())
    return texts, np.stack(rows)
