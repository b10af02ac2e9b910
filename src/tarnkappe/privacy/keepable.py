"""How many rows of a class can be kept at most, here or wherever labels are less general.

At lower levels a class E falls into parts, and some of them are kept. Where good classes stay good when
they are merged, the rows of E that are kept are together good too. So there are at most kappa(E) of them, the
size of the largest part of E, whichever rows it takes, that meets the model; and at least the sum of
|E| - kappa(E) over all classes is suppressed here and everywhere below. What is computed here is never less
than kappa(E); ties are decided in favour of keeping.

Explained in docs/explanation/monotonicity.md.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.privacy.model import Model, SensitiveModel, divide
from tarnkappe.table import Classes
from tarnkappe.table.grouping import Codes, Counts

NEAR = 1e-9
"""What misses a bound by so little may be rounding."""

MILLION = 10**6

Shares = npt.NDArray[np.float64]


def keepable(model: Model, classes: Classes) -> Counts | None:
    """At most so many rows of each class are kept, here or wherever labels are less general; if known.

    Where given columns divide the classes, the kept rows of each division are good by themselves. Rows
    without a visible value are kept beside others only.
    """
    if not isinstance(model, SensitiveModel):
        return None
    joint = classes.distributions[model.column, *model.given]
    distribution, parents = divide(joint) if model.given else (joint, None)
    most = model.values_keepable(distribution)
    if most is None:
        return None
    if parents is not None:
        most = np.bincount(parents, weights=most, minlength=classes.num_classes).astype(np.int64)
    return np.where(most > 0, most + classes.sizes - joint.sizes, 0)


@compiled
def capped_size(counts: Counts, cap: int) -> int:
    """How many rows are left where no value has more rows than a cap."""
    # Together with the cap t + 1 it bounds what can be kept from above; whole numbers, so the bound is not
    # one too small. One pass over the entries of a class.
    size = 0
    for count in counts:
        size += min(count, cap)
    return size


@compiled
def capped_entropy(counts: Counts, cap: int) -> float:
    """The entropy of counts under a cap."""
    # log n - (sum of c log c) / n, in one pass and without dividing each count. Counts and cap are at least
    # 1, or the logarithm would not exist; entries of a class are never 0. It falls with the cap: the callers
    # halve by it.
    size, terms = 0.0, 0.0
    for count in counts:
        left = float(min(count, cap))
        size += left
        terms += left * np.log(left)
    return math.log(size) - terms / size


@compiled
def most_of_entropy(offsets: Counts, counts: Counts, least: float) -> Counts:
    """The rows of each class that can be kept where the entropy must reach a bound.

    Of all choices of as many rows, the one in which no value has more than some cap is the most even, so its
    entropy is the greatest; and a lower cap is more even. With t the highest cap that reaches the bound, a
    choice as large as that under the cap t + 1 does not reach it.
    """
    most = np.zeros(len(offsets) - 1, np.int64)
    for index in range(len(most)):
        own = counts[offsets[index] : offsets[index + 1]]
        if len(own) == 0 or capped_entropy(own, 1) < least - NEAR:
            continue
        good, bad = 1, own.max()
        if capped_entropy(own, bad) >= least - NEAR:
            most[index] = own.sum()
            continue
        while bad - good > 1:
            cap = (good + bad) // 2
            if capped_entropy(own, cap) >= least - NEAR:
                good = cap
            else:
                bad = cap
        most[index] = capped_size(own, bad) - 1
    return most


@compiled
def odds_hold(descending: Counts, cap: int, c: int, l: int) -> bool:
    """Whether r1 < c (rl + ... + rd) for counts under a cap; c is given in millionths."""
    # Under a cap the order of descending counts stays, so the tail is from place l - 1 on. Compared in whole
    # numbers of millionths: a float could call a class kept whose odds are exactly c.
    tail = 0
    for place in range(l - 1, len(descending)):
        tail += min(descending[place], cap)
    return int(min(descending[0], cap)) * MILLION < c * tail


@compiled
def most_of_odds(offsets: Counts, counts: Counts, c: int, l: int) -> Counts:
    """The rows of each class that can be kept where r1 < c (rl + ... + rd), counts in descending order.

    Of all choices of as many rows, the one under a cap has the least r1 and the least sum of the l - 1
    largest counts, so the greatest rest. With a lower cap t' instead of t the rest falls to no less than
    t' / t of it, so what holds under a cap holds under every lower one. With t the highest cap under which
    it holds, it does not hold for a choice as large as that under the cap t + 1. Here c is in millionths.
    """
    most = np.zeros(len(offsets) - 1, np.int64)
    for index in range(len(most)):
        own = -np.sort(-counts[offsets[index] : offsets[index + 1]])
        if len(own) == 0 or not odds_hold(own, 1, c, l):
            continue
        good, bad = 1, own[0]
        if odds_hold(own, bad, c, l):
            most[index] = own.sum()
            continue
        while bad - good > 1:
            cap = (good + bad) // 2
            if odds_hold(own, cap, c, l):
                good = cap
            else:
                bad = cap
        most[index] = capped_size(own, bad) - 1
    return most


@compiled
def least_gap(below: Counts, shares: Shares, rows: int, size: int, even: bool) -> float:
    """No `size` of the rows of a class have a smaller sum of |P - Q| over the nodes of a tree."""
    # The class cannot have more than `below` rows under a node, nor fewer than are left when all others are
    # used up: what is lacking in either way is a gap of any choice. It grows with `size`, or halving would be
    # wrong.
    gap = 0.0
    for node in range(len(shares)):
        lack = shares[node] - below[node] / size
        if even:
            gap += 2 * max(lack, 0.0)
        else:
            gap += max(lack, 1 - shares[node] - (rows - below[node]) / size, 0.0)
    return gap


@compiled
def most_of_distance(
    offsets: Counts,
    codes: Codes,
    counts: Counts,
    nodes: Codes,
    parents: Codes,
    shares: Shares,
    most_gap: float,
    even: bool,
) -> Counts:
    """The rows of each class that can be kept where the sum of |P - Q| over the nodes of a tree is bounded.

    A choice of N rows, n of which the class has below a node, has a share P of at most n / N there, and of at
    least 1 - (rows of the class - n) / N. Where all nodes of a depth divide the rows among them (`even`), the
    sum of |P - Q| is twice that of Q - P > 0. Both bounds grow with N.
    """
    most = np.zeros(len(offsets) - 1, np.int64)
    below = np.zeros(len(parents) + 1, np.int64)
    for index in range(len(most)):
        below[:] = 0
        rows = 0
        for entry in range(offsets[index], offsets[index + 1]):
            below[nodes[codes[entry]]] += counts[entry]
            rows += counts[entry]
        for node in range(len(parents)):
            below[parents[node]] += below[node]
        if rows == 0 or least_gap(below, shares, rows, 1, even) > most_gap:
            continue
        good, bad = 1, rows + 1
        if least_gap(below, shares, rows, rows, even) <= most_gap:
            good = rows
        while bad - good > 1:
            size = (good + bad) // 2
            if least_gap(below, shares, rows, size, even) <= most_gap:
                good = size
            else:
                bad = size
        most[index] = good
    return most
