"""Which nodes prove that no other loses less: as few as possible of those that a search has tested.

A certificate lists them, and whoever has the input tests them again. A node speaks for everything below it if
more rows than may be suppressed are in classes no part of which can be good; otherwise for itself. What the
levels alone show needs no node.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice.checker import Checker
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import TIE, SearchProblem
from tarnkappe.privacy import Model
from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.entropy_diversity import EntropyDiversity
from tarnkappe.privacy.exact import decimal
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.recursive_diversity import RecursiveDiversity

MOST_NODES = 2_000_000
"""So many combinations of levels can be laid out."""

MOST_LISTED = 20_000
"""A proof of more nodes would take whoever checks it too long."""

Open = npt.NDArray[np.bool_]
Box = tuple[slice, ...]


@dataclasses.dataclass(frozen=True)
class ProofNodes:
    """The nodes of a proof.

    Attributes:
        below: those that fail together with everything below them.
        alone: those that break a promise or lose no less themselves.
    """

    below: tuple[Node, ...]
    alone: tuple[Node, ...]


def cover(problem: SearchProblem, least: float, best: Node, tested: Iterable[Node]) -> ProofNodes | None:
    """Nodes that prove that no other than the best loses less than `least`; None if they would be too many.

    Args:
        problem: what was solved, with a loss that, while all rows are kept, never falls on the way up.
        least: what no other loses less than.
        best: the node that was found.
        tested: nodes to choose from, those that a search has tested; what they leave is tested here.
    """
    if problem.num_nodes > MOST_NODES:
        return None
    is_open = _open(problem, least, best)
    tester = Checker(problem, _hopeless(problem) if problem.limit else ())
    low = np.array([levels[0] for levels in problem.level_ranges])

    def box(node: Node) -> Box:
        return tuple(slice(0, int(level) + 1) for level in np.array(node) - low)

    def fails(node: Node) -> bool:
        found = tester.check(node)
        return not (found.sub_good if problem.limit else found.evaluation.satisfied)

    def raised(node: Node) -> Node:
        """A node above that fails as well, as high as can be: it speaks for most, and has few classes."""
        for place, levels in enumerate(problem.level_ranges):
            while node[place] < levels[-1]:
                above = (*node[:place], node[place] + 1, *node[place + 1 :])
                if not fails(above):
                    break
                node = above
        return node

    below: list[Node] = []
    alone: list[Node] = []
    for node in _by_gain(is_open, [node for node in dict.fromkeys(tested) if fails(node)], box):
        below.append(raised(node))
        is_open[box(below[-1])] = False
    rest = np.argwhere(is_open)
    for place in rest[np.argsort(-rest.sum(axis=1), kind="stable")]:
        if not is_open[tuple(place)]:
            continue
        if len(below) + len(alone) >= MOST_LISTED:
            return None
        node = tuple((place + low).tolist())
        if fails(node):
            below.append(raised(node))
            is_open[box(below[-1])] = False
        else:
            alone.append(node)
            is_open[tuple(place)] = False
    return ProofNodes(tuple(sorted(below)), tuple(sorted(alone)))


def _open(problem: SearchProblem, least: float, best: Node) -> Open:
    """The nodes that their levels do not exclude; half of the tolerance is left to who checks."""
    bounds = problem.loss.lower_bounds(problem.tuples, problem.columns, problem.level_ranges)
    shape = [len(levels) for levels in problem.level_ranges]
    is_open = (
        np.ones(shape, dtype=bool) if bounds is None else bounds < least - TIE / 2 * max(1.0, abs(least))
    )
    is_open[tuple(level - levels[0] for level, levels in zip(best, problem.level_ranges, strict=True))] = (
        False
    )
    return is_open


def _by_gain(is_open: Open, nodes: list[Node], box: Callable[[Node], Box]) -> Iterator[Node]:
    """Nodes in the order of how much is open below them, which who takes one closes; none without any."""
    queue = [(-int(is_open[box(node)].sum()), node) for node in nodes]
    heapq.heapify(queue)
    while queue:
        _, node = heapq.heappop(queue)
        gain = int(is_open[box(node)].sum())
        if gain and queue and gain < -queue[0][0]:
            heapq.heappush(queue, (-gain, node))  # others may exclude more by now
        elif gain:
            yield node


def _hopeless(problem: SearchProblem) -> tuple[Model, ...]:
    """Criteria that a class fails together with all its parts: too few rows, too few different values."""
    found: list[Model] = []
    for part in (part for model in problem.models for part in model.parts):
        if isinstance(part, KAnonymity):
            found.append(part)
        elif isinstance(part, DistinctDiversity | EntropyDiversity | RecursiveDiversity) and not part.given:
            found.append(DistinctDiversity(part.column, math.ceil(decimal(part.l))))
    return tuple(dict.fromkeys(found))
