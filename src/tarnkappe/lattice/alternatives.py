"""Nearly as good: releases that keep what the best one erases, each the best for its wish.

The optimum is one node, and often the second best keeps a column that the optimum hides for a hundredth of
the loss. For every column that the optimum generalizes, the same search is asked for the best node that keeps
it finer; and where the optimum leaves rows out, for the best that leaves out half as many, or none. So each
alternative is optimal among all nodes that grant its wish, proven as the search proves it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from enum import StrEnum

from tarnkappe.errors import ParameterError
from tarnkappe.lattice.explore import LatticeView
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import TIE, Evaluation, SearchProblem
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.solution import Solution
from tarnkappe.loss import LOSSES, ColumnLoss
from tarnkappe.privacy.exact import share_of
from tarnkappe.table.encoding import Progress

MOST = 5
"""So many are shown."""
WORSE = 0.25
"""An alternative loses at most so much more than the best, as a share."""
STEPS = 2
"""A column is asked for at so many levels below that of the best."""


class ColumnState(StrEnum):
    """How readable a column is at a level."""

    EXACT = "exact"
    COARSE = "coarse"
    HIDDEN = "hidden"


@dataclasses.dataclass(frozen=True)
class Wish:
    """What an alternative is the best for: a column at a finer level, or fewer rows left out.

    Attributes:
        column: the column that is to be kept finer, if it is one.
        level: its greatest level.
        rows: how many rows may be left out at most, if that is the wish.
    """

    column: str | None = None
    level: int | None = None
    rows: int | None = None


@dataclasses.dataclass(frozen=True)
class NodeAlternative:
    """A node that is nearly as good as the best.

    Attributes:
        evaluation: the node and what it does.
        wish: what it is the best for; the best of all has none.
        proven: whether the search proved that no node that grants the wish loses less.
        difference: how much more it loses, as a share of the least loss.
    """

    evaluation: Evaluation
    wish: Wish
    proven: bool
    difference: float

    @property
    def node(self) -> Node:
        """The levels."""
        return self.evaluation.node


Finder = Callable[[SearchProblem, Wish], tuple[Evaluation | None, bool]]
"""The best node that grants a wish, and whether that is proven."""


def node_alternatives(
    problem: SearchProblem,
    search: Search,
    *,
    best: Solution | None = None,
    most: int = MOST,
    worse: float = WORSE,
    progress: Progress | None = None,
) -> list[NodeAlternative]:
    """The best node and those that are nearly as good, by searching for each wish.

    Args:
        problem: what is to be solved.
        search: how; an optimal one proves every alternative.
        best: what it found without any wish, if that is known.
        most: how many are returned at most.
        worse: how much more an alternative may lose, as a share of the least loss.
        progress: told about the progress of the searches.
    """

    def find(wished: SearchProblem, wish: Wish) -> tuple[Evaluation | None, bool]:
        if best is not None and wish == Wish():
            return best.best, best.optimal_levels
        found = search.run(wished, progress)
        return found.best, found.optimal_levels

    return _alternatives(problem, find, most, worse)


def explored_alternatives(
    view: LatticeView, *, most: int = MOST, worse: float = WORSE
) -> list[NodeAlternative]:
    """The same from a lattice that was explored: nothing is searched again."""

    def find(wished: SearchProblem, wish: Wish) -> tuple[Evaluation | None, bool]:
        levels = {} if wish.column is None else {wish.column: wished.level_limits[wish.column]}
        return view.where(satisfied=True, levels=levels, suppressed_at_most=wish.rows).best, True

    return _alternatives(view.problem, find, most, worse)


def _alternatives(problem: SearchProblem, find: Finder, most: int, worse: float) -> list[NodeAlternative]:
    if most < 1 or worse < 0:
        raise ParameterError(
            "lattice.least-alternative-best-none",
            "there is at least one alternative, the best, and none loses less than it",
        )
    first, proven = find(problem, Wish())
    if first is None:
        return []
    found = [NodeAlternative(first, Wish(), proven, 0.0)]
    for wished, wish in _wishes(problem, first):
        node, proven = find(wished, wish)
        if node is not None and node.loss <= (1 + worse) * first.loss + TIE * max(1.0, abs(first.loss)):
            more = (node.loss - first.loss) / abs(first.loss) if first.loss else 0.0
            found.append(NodeAlternative(node, wish, proven, max(more, 0.0)))
    return _varied(problem, _undominated(problem, found), most)


def _wishes(problem: SearchProblem, best: Evaluation) -> list[tuple[SearchProblem, Wish]]:
    wishes = []
    ranges = zip(problem.quasi_identifiers, best.node, problem.level_ranges, strict=True)
    for name, level, allowed in ranges:
        for wanted in range(level - 1, max(level - 1 - STEPS, allowed[0] - 1), -1):
            limits = {**problem.level_limits, name: (allowed[0], wanted)}
            wishes.append((dataclasses.replace(problem, level_limits=limits), Wish(name, wanted)))
    if best.suppressed:
        for share in dict.fromkeys([problem.suppression_limit / 2, 0.0]):
            rows = share_of(share, problem.tuples.num_rows)
            wishes.append((dataclasses.replace(problem, suppression_limit=share), Wish(rows=rows)))
    return wishes


def kept_of_columns(problem: SearchProblem, node: Node) -> tuple[float, ...]:
    """What is kept of each column at a node, from 0 to 1: 1 - the share of the domain that a cell hides."""
    loss = LOSSES.create("loss", {})
    assert isinstance(loss, ColumnLoss)
    return tuple(
        1 - loss.of_column(problem.tuples, column, level)
        for column, level in zip(problem.columns, node, strict=True)
    )


def column_states(problem: SearchProblem, node: Node) -> tuple[ColumnState, ...]:
    """How readable each column is at a node."""
    found = []
    for column, level in zip(problem.columns, node, strict=True):
        assert column.levels is not None, "a quasi-identifier has a hierarchy"
        one_label = level > 0 and column.levels.distinct(level) == 1
        found.append(
            ColumnState.EXACT if level == 0 else ColumnState.HIDDEN if one_label else ColumnState.COARSE
        )
    return tuple(found)


def _undominated(problem: SearchProblem, found: Sequence[NodeAlternative]) -> list[NodeAlternative]:
    """Without those of which another keeps as much of every column and leaves out no more rows.

    The best of all stays, and comes first.
    """
    best, *others = found
    by_node = {best.node: best}
    for each in sorted(others, key=lambda own: (own.evaluation.loss, problem.order(own.node))):
        by_node.setdefault(each.node, each)
    kept: list[NodeAlternative] = []
    candidates = list(by_node.values())
    columns = {own.node: kept_of_columns(problem, own.node) for own in candidates}
    for number, own in enumerate(candidates):
        mine = columns[own.node]
        dominated = any(
            all(theirs >= ours for theirs, ours in zip(columns[other.node], mine, strict=True))
            and other.evaluation.suppressed <= own.evaluation.suppressed
            and (
                columns[other.node] != mine
                or other.evaluation.suppressed < own.evaluation.suppressed
                or place < number
            )
            for place, other in enumerate(candidates)
            if other is not own
        )
        if own is best or not dominated:
            kept.append(own)
    return kept


def _varied(problem: SearchProblem, found: list[NodeAlternative], most: int) -> list[NodeAlternative]:
    """No more than so many: the best, then always the one that reads most differently from those chosen."""
    best, *rest = found
    chosen = [best]
    states = {own.node: column_states(problem, own.node) for own in found}
    while rest and len(chosen) < most:
        farthest = max(
            rest,
            key=lambda own: (
                min(
                    sum(a is not b for a, b in zip(states[own.node], states[other.node], strict=True))
                    for other in chosen
                ),
                -own.evaluation.loss,
            ),
        )
        rest.remove(farthest)
        chosen.append(farthest)
    return [best, *sorted(chosen[1:], key=lambda own: (own.evaluation.loss, problem.order(own.node)))]
