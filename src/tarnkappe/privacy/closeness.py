"""What all t-closeness models with an earth mover's distance have in common."""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Annotated

from tarnkappe.privacy.earth_mover import EvenTree, Tree
from tarnkappe.privacy.exact import at_most, decimal, shown
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.keepable import NEAR, most_of_distance
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
    SensitiveModel,
    entries_of,
)
from tarnkappe.schema import ExactShare, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts

MANY_NODES = 256
"""A larger tree is not walked node by node for every class."""


class Closeness(SensitiveModel):
    """The sensitive values of every class are distributed as in the whole table, up to the distance t.

    Li, Li and Venkatasubramanian 2007. The whole table is the input, rows that are suppressed later
    included. A distance of exactly t, a decimal number or a fraction as written, passes.

    Why it survives merging: the shares of a union lie between the shares of its parts, and a sum of
    |P - Q| is convex in P, so the distance of a union is at most the larger one of its parts.

    Why it implies k-anonymity: a class of few rows has only few distributions to choose from. The
    smallest size with one that is close enough is the k (see `Tree.smallest_close_size`).
    """

    direction = Direction.AT_MOST

    t: Annotated[
        ExactShare, param("the largest distance of a class from the whole table", kind="share", start=0.3)
    ]

    @abstractmethod
    def tree(self, distribution: Distribution) -> Tree:
        """The values on the tree that defines how far apart they are."""

    @property
    def promise(self) -> str:
        return (
            f"Whoever finds somebody's group in the release learns hardly more of '{self.column}' than the "
            f"whole table tells anyway: the two distributions are at most {shown(self.t)} apart, on a scale "
            "to 1."
        )

    @property
    def bound(self) -> float:
        return float(decimal(self.t))

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            False,
            "The distance is convex, so a merged class is no farther from the table than the farther of its "
            "parts; but a class that was suppressed can pull the one it is merged with away.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        size = self.tree(self.whole(tuples)).smallest_close_size(decimal(self.t))
        return (KAnonymity(size),) if size > 1 else ()

    def measure_values(self, distribution: Distribution) -> Measure:
        return self.tree(distribution).distances(distribution)

    def values_keepable(self, distribution: Distribution) -> Counts | None:
        tree = self.tree(distribution)
        if len(tree.parents) > MANY_NODES:
            return None
        return most_of_distance(
            distribution.offsets,
            distribution.codes,
            distribution.counts,
            tree.nodes,
            tree.parents,
            tree.shares[:-1],
            float(decimal(self.t) / tree.edge) + NEAR,
            isinstance(tree, EvenTree),
        )

    def values_hold(self, distribution: Distribution) -> Mask:
        tree, t = self.tree(distribution), decimal(self.t)

        @cache  # ties come from small classes, of which there are few different ones
        def close(entries: tuple[tuple[int, int], ...]) -> bool:
            return tree.exact_distance(entries) <= t

        def exactly(index: int) -> bool:
            return close(entries_of(distribution, index))

        return at_most(tree.distances(distribution), float(t), exactly)
