"""A choice of levels that one row can hardly change (docs/explanation/private-levels.md).

The search of SafePub (Bild, Kuhn and Prasser 2018): from the top of the lattice it goes from node to node,
each drawn by the exponential mechanism of McSherry and Talwar (2007) among the nodes right below those that
it has been at. In the end one of these is drawn in the same way; taking the best of them by its true score,
as is sometimes done, would be one more look at the data that nobody accounts for.

Everything here is whole numbers and fractions: scores are integers, and the coins are thrown exactly
(Canonne, Kamath and Steinke 2020, algorithm 1), since rounded probabilities have been attacked.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import scipy

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import SearchProblem
from tarnkappe.privacy import DifferentialPrivacy
from tarnkappe.privacy.exact import decimal
from tarnkappe.table.encoding import Counts, Progress

SCALE = 1 << 20
"""A row that is released as it is counts so much in a score."""

Below = Callable[[int], int]
"""A random whole number from 0 to below a number, every one as likely."""


def choose_node(
    problem: SearchProblem, promise: DifferentialPrivacy, progress: Progress | None = None
) -> Node:
    """Choose levels for all rows of a table within the search budget of a promise."""
    score = ReleaseScore(problem, promise)
    return walk(
        score,
        score.sensitivity,
        [range(each.start, each.stop) for each in problem.level_ranges],
        promise.search_steps,
        decimal(promise.search_budget),
        secrets.randbelow,
        progress,
    )


class ReleaseScore:
    """What a node is worth: the precision that is expected to be left, in rows.

    A class of n rows gets j of them drawn and is released if j >= k, so of it E[j; j >= k] rows are expected
    (`expected_rows`), each worth the mean over the columns of 1 - level / height. The score is the sum over
    all classes. One more row makes one class larger by one, so the score rises, by no more than the steepest
    step of `expected_rows` times the greatest worth. Nothing in it but the sizes of the classes depends on
    the rows: heights are those of public hierarchies.
    """

    def __init__(self, problem: SearchProblem, promise: DifferentialPrivacy) -> None:
        self._problem = problem
        self._rows, self._slope = expected_rows(promise.k, promise.sampling_rate)
        heights = problem.lattice.heights
        common = math.lcm(*(max(height, 1) for height in heights))
        self._worth = [[(top - level) * common // max(top, 1) for level in range(top + 1)] for top in heights]
        most = sum(
            worth[levels.start] for worth, levels in zip(self._worth, problem.level_ranges, strict=True)
        )
        steepest = max(int(np.diff(self._rows).max(initial=0)), self._slope)
        self.sensitivity = max(1, steepest * most)

    def __call__(self, node: Node) -> int:
        """The score of a node."""
        worth = sum(each[level] for each, level in zip(self._worth, node, strict=True))
        if not worth:
            return 0
        sizes = self._problem.tuples.classes(self._problem.quasi_identifiers, node).sizes
        last = len(self._rows) - 1
        listed = self._rows[np.minimum(sizes, last)]
        beyond = np.maximum(sizes - last, 0).astype(object) * self._slope
        return int(worth * (sum(listed.tolist()) + int(beyond.sum())))


def expected_rows(k: int, rate: float) -> tuple[Counts, int]:
    """E[j; j >= k] for j of Binomial(n, rate), for n from 0 on, in units of 1 / SCALE; and its further slope.

    E[j; j >= k] = n rate P(Binomial(n - 1, rate) >= k - 1). Where n is so large that nearly every class is
    released it goes on as a straight line. Any function would be private here, so rounding does no harm,
    as long as it never falls.
    """
    last = math.ceil((k + 10 * math.sqrt(k) + 30) / rate)
    n = np.arange(1, last + 1, dtype=np.float64)
    enough = np.ones_like(n)
    if k > 1:
        can = n - 1 >= k - 1
        enough = np.where(can, scipy.special.betainc(k - 1.0, np.where(can, n - k + 1, 1.0), rate), 0.0)
    rows = np.concatenate([[0], np.floor(SCALE * n * rate * enough)]).astype(np.int64)
    return np.maximum.accumulate(rows), math.ceil(SCALE * rate)


def walk(
    score: Callable[[Node], int],
    sensitivity: int,
    ranges: Sequence[range],
    steps: int,
    budget: Fraction,
    below: Below,
    progress: Progress | None = None,
) -> Node:
    """Go down from the top, and choose one of the nodes on the way.

    Each of the at most steps + 1 draws takes an equal part of the budget. Which nodes are drawn from
    follows from what was drawn before alone.
    """
    part = budget / (steps + 1)
    node = tuple(levels[-1] for levels in ranges)
    scores = {node: score(node)}
    been: list[Node] = [node]
    open_nodes: dict[Node, int] = {}
    for step in range(steps):
        for lower in predecessors(node, ranges):
            if lower not in scores:
                scores[lower] = open_nodes[lower] = score(lower)
        if not open_nodes:
            break
        node = draw(open_nodes, sensitivity, part, below)
        del open_nodes[node]
        been.append(node)
        if progress:
            progress("choosing levels privately", step + 1, steps)
    return draw({node: scores[node] for node in been}, sensitivity, part, below)


def predecessors(node: Node, ranges: Sequence[range]) -> Iterable[Node]:
    """The nodes that have one level less in one column."""
    for index, levels in enumerate(ranges):
        if node[index] > levels[0]:
            yield (*node[:index], node[index] - 1, *node[index + 1 :])


def draw(scores: Mapping[Node, int], sensitivity: int, budget: Fraction, below: Below) -> Node:
    """Draw a node with a probability in proportion to exp(budget * score / sensitivity).

    One row more raises every score, by the sensitivity at most, so every weight grows by a factor from 1 to
    e^budget, and so does their sum: a probability changes by no more than that factor. (Scores that might
    rise and fall would need twice the sensitivity.) Drawn is by rejection: any node, kept with the
    probability exp(budget * (score - best) / sensitivity).
    """
    nodes = sorted(scores)
    best = max(scores.values())
    while True:
        node = nodes[below(len(nodes))]
        if coin(budget * (best - scores[node]) / sensitivity, below):
            return node


def coin(gamma: Fraction, below: Below) -> bool:
    """Whether something happened that has exactly the probability exp(-gamma)."""
    whole = math.floor(gamma)
    return all(_short_coin(Fraction(1), below) for _ in range(whole)) and _short_coin(gamma - whole, below)


def _short_coin(gamma: Fraction, below: Below) -> bool:
    """`coin` for a gamma of at most 1: how long gamma / 1, gamma / 2, ... all come true is odd or even."""
    k = 1
    while below(gamma.denominator * k) < gamma.numerator:
        k += 1
    return k % 2 == 1
