"""Value suppression: a value is shown in all rows or in none.

It starts with a table in which every quasi-identifier is hidden, and shows one value of one column after
the other wherever it occurs, as long as the promises hold and the loss falls. So a value that is shown is
exact, a rare one is `*` in all rows, and nobody needs a hierarchy.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np

from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice import SearchProblem
from tarnkappe.lattice.problem import TIE
from tarnkappe.privacy import monotone
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.value_levels import ValueLevels
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Progress


class ValueSuppression(Method, kw_only=True):
    """Values are disclosed one by one from a suppressed table (Fung, Wang and Yu 2007), by the job's loss."""

    name = "value-suppression"
    cites = ("fung2007",)
    summary = (
        "Hides rare values wherever they occur and keeps all others exact. Right for columns of categories "
        "without a good hierarchy, where readers must not meet a value in one row and `*` in another."
    )

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Show values while that is allowed."""
        self.check(problem)
        run = Disclosure(problem)
        if math.isinf(run.loss):
            raise NoSolutionError(
                "recoding.not-even-suppressed",
                "{name} found nothing that meets {promised} with at most {limit} of {num_rows} rows left out,"
                " not even with all values hidden: raise the suppression limit, or ask for less",
                name=self.name,
                promised=", ".join(map(str, problem.models)),
                limit=problem.limit,
                num_rows=problem.tuples.num_rows,
            )
        run.disclose(progress)
        shown = {name: int(np.count_nonzero(levels == 0)) for name, levels in run.levels.items()}
        values = ", ".join(f"{name} {count} of {len(run.levels[name])}" for name, count in shown.items())
        return Recoding(
            {name: run.written(name, rows.columns[name]) for name in problem.quasi_identifiers},
            np.ones(rows.num_tuples, dtype=bool),
            steps=(f"values shown: {values}; {run.tried:,} tried", f"loss {run.loss:,.6g}"),
        )


class ValueStep(NamedTuple):
    """A value that may be shown; the first of the least is tried first, the most frequent of equal ones."""

    minus_gain: float
    minus_rows: int
    column: str
    label: str
    code: int


class Disclosure(ValueLevels):
    """Which values are shown, and what is lost.

    Attributes:
        loss: with what is shown now.
        tried: how often it was looked whether a value can be shown.
    """

    def __init__(self, problem: SearchProblem) -> None:
        super().__init__(problem, problem.lattice.top)
        self.loss = self.judged()
        self.tried = 0
        self._steps = [
            ValueStep(-math.inf, -int(rows), column.name, column.labels[code], code)
            for column in problem.columns
            for code, rows in enumerate(
                np.bincount(column.codes, problem.tuples.counts, minlength=column.cardinality)
            )
        ]
        heapq.heapify(self._steps)

    def disclose(self, progress: Progress | None = None) -> None:
        """Show values until none can be shown that lowers the loss.

        A gain that was found earlier is looked at again before it counts. A value that cannot be shown is
        tried again after others were, unless the models are monotone: then what fails goes on failing when
        more is told.
        """
        tries_again = not monotone(self.problem.models, suppression=self.problem.limit > 0)
        refused: list[ValueStep] = []
        while self._steps:
            step = heapq.heappop(self._steps)
            levels = self.levels[step.column]
            hidden = levels[step.code]
            levels[step.code] = 0
            loss = self.judged()
            self.tried += 1
            if progress:
                progress(
                    "showing values", self.tried, self.tried + len(self._steps), f"loss {self.loss:,.6g}"
                )
            gain = self.loss - loss
            if gain <= TIE * max(1.0, abs(self.loss)):
                levels[step.code] = hidden
                refused.append(step)
                continue
            again = step._replace(minus_gain=-gain)
            if self._steps and self._steps[0] < again:
                levels[step.code] = hidden
                heapq.heappush(self._steps, again)
                continue
            self.loss = loss
            if tries_again:
                for each in refused:
                    heapq.heappush(self._steps, each._replace(minus_gain=-math.inf))
                refused.clear()
