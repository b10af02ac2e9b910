"""Datafly: one level after the other, always of the column with most values, until few rows stand out.

Greedy and fast: at most as many passes as the hierarchies have levels together. One node is chosen for
all rows, and it is usually more general than it would have to be: a search finds the best node, so
Datafly is here to be compared with, and for its weights.

As long as more rows than allowed are in classes that do not meet the models, the column with the most
different labels is raised by one level; then these rows are suppressed. Allowed are k rows (not k
classes, and not more than the suppression limit), so that a few outliers do not force everything up. At
last every column is lowered again as long as no two classes come apart: a level that merges nothing only
loses.

The published flow chart counts classes with fewer than k rows. The text beside it says "at most k", which
would suppress classes that are large enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from msgspec import Meta

from tarnkappe.errors import ColumnError, NoSolutionError, Reason
from tarnkappe.lattice import Evaluation, SearchProblem
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.recode import CellTreatment, recode
from tarnkappe.schema import MANY_ROWS, MOST_NAMES, Name, Share, param
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Progress


class Datafly(Method, kw_only=True):
    """The greedy method of Sweeney (1997)."""

    name = "datafly"
    cites = ("sweeney1997",)
    summary = (
        "Raises the column with most values, level by level, until few enough rows stand out. Right where "
        "one level for each column is wanted at once on very many columns; any search loses less."
    )
    keeps_level_limits = True
    one_node = True

    change_weights: Annotated[
        Mapping[Name, Share],
        param(
            "how willingly a column is changed, from 0 (never) to 1; those not named have 1",
            kind="columns",
            max_length=MOST_NAMES,
        ),
    ] = {}
    linking_weights: Annotated[
        Mapping[Name, Share],
        param(
            "how likely a column helps to link rows to people, from 0 to 1; those not named have 1",
            kind="columns",
            max_length=MOST_NAMES,
        ),
    ] = {}
    outliers: Annotated[
        Annotated[int, Meta(ge=0, le=MANY_ROWS)] | None,
        param(
            "how many rows may be suppressed within the limit; without it, as many as a class must have",
            unit="rows",
        ),
    ] = None

    def check(self, problem: SearchProblem) -> None:
        """Refuse also weights of columns that there are not."""
        super().check(problem)
        for name in (*self.change_weights, *self.linking_weights):
            if name not in problem.quasi_identifiers:
                raise ColumnError(
                    "recoding.datafly-no-quasi-identifier",
                    "datafly: there is no quasi-identifier '{name}' to weigh",
                    name=name,
                )

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Raise columns until few enough rows stand out."""
        self.check(problem)
        names, ranges = problem.quasi_identifiers, problem.level_ranges
        node = [levels[0] for levels in ranges]
        allowed = min(problem.limit, self._outliers(problem))
        steps = []
        most_steps = sum(len(levels) - 1 for levels in ranges)
        found = problem.evaluate(tuple(node))
        while not (found.satisfied and found.suppressed <= allowed):
            raised = self._next(problem, node)
            if raised is None:
                raise NoSolutionError.because(self._stuck(problem, found, allowed))
            node[raised] += 1
            steps.append(f"{names[raised]} to level {node[raised]}, as {found.suppressed:,} rows stood out")
            found = problem.evaluate(tuple(node))
            if progress:
                progress("generalizing", len(steps), most_steps)
        steps += [
            f"{names[index]} back to level {node[index]}, which tells the same classes apart"
            for index in lowered(problem, node)
        ]
        recoded = recode(rows, names, [tuple(node)], problem.models, CellTreatment(), problem.distributions)
        levels = dict(zip(names, node, strict=True))
        return Recoding(recoded.written, recoded.released, steps=tuple(steps), levels=levels)

    def _outliers(self, problem: SearchProblem) -> int:
        if self.outliers is not None:
            return self.outliers
        return max(model.least_size(problem.tuples) for model in problem.models)

    def _next(self, problem: SearchProblem, node: Sequence[int]) -> int | None:
        """The column with the highest weighted number of labels; of equals, the first by name."""
        best, chosen = (-1.0, ""), None
        for index, column in enumerate(problem.columns):
            change = self.change_weights.get(column.name, 1.0)
            if change == 0 or node[index] == problem.level_ranges[index][-1]:
                continue
            labels = np.count_nonzero(problem.tuples.label_counts(column.name, node[index]))
            score = float(labels) * change * self.linking_weights.get(column.name, 1.0)
            if chosen is None or score > best[0] or (score == best[0] and column.name < best[1]):
                best, chosen = (score, column.name), index
        return chosen

    def _stuck(self, problem: SearchProblem, found: Evaluation, allowed: int) -> Reason:
        fixed = [name for name, weight in self.change_weights.items() if weight == 0]
        hint = (
            Reason("recoding.let-changed", " or let {fixed} be changed", fixed=", ".join(fixed))
            if fixed
            else ""
        )
        promised = ", ".join(map(str, problem.models))
        return Reason(
            "recoding.datafly-raised-every-column",
            "datafly has raised every column as far as it may, and {suppressed:,} {suppressed:row "
            "does|rows do} not meet "
            "{promised}, where {allowed:,} may be suppressed: raise the suppression limit{hint}",
            suppressed=found.suppressed,
            promised=promised,
            allowed=allowed,
            hint=hint,
        )


def lowered(problem: SearchProblem, node: list[int]) -> list[int]:
    """Lower every column as long as the classes stay the same; returns which were lowered, in that order."""
    changed = []
    whole = problem.classes(node).num_classes
    for index in sorted(range(len(node)), key=problem.quasi_identifiers.__getitem__):
        before = node[index]
        while node[index] > problem.level_ranges[index][0]:
            node[index] -= 1
            if problem.classes(node).num_classes > whole:
                node[index] += 1
                break
        if node[index] < before:
            changed.append(index)
    return changed
