"""Each value of a column at a level of its own, alike in all rows, and what such a release loses."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa

from tarnkappe.lattice import SearchProblem
from tarnkappe.privacy import satisfied
from tarnkappe.recoding.method import Recoding
from tarnkappe.recoding.recode import recoded
from tarnkappe.recoding.written import WrittenColumn
from tarnkappe.table import MISSING, Column
from tarnkappe.table.encoding import Codes


class ValueLevels:
    """The level of every value of every column.

    Args:
        problem: what is promised and minimized.
        node: the levels to start from.

    Attributes:
        levels: for each column, the level of each value.
    """

    def __init__(self, problem: SearchProblem, node: tuple[int, ...]) -> None:
        self.problem = problem
        self.levels: dict[str, Codes] = {
            column.name: np.full(column.cardinality, level, np.int32)
            for column, level in zip(problem.columns, node, strict=True)
        }
        self._texts = {column.name: _texts(column) for column in problem.columns}

    def judged(self) -> float:
        """What a release so written loses; infinite if it does not keep the promises."""
        problem = self.problem
        written = {name: self.written(name, problem.tuples.columns[name]) for name in self.levels}
        everything = np.ones(problem.tuples.num_tuples, dtype=bool)
        found = recoded(problem.tuples, Recoding(written, everything), problem.models, problem.distributions)
        if not satisfied(found.state, problem.models, problem.limit):
            return math.inf
        return problem.loss(found.state)

    def written(self, name: str, column: Column) -> WrittenColumn:
        """A column, each value at its level."""
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
