"""What a search returns."""

from __future__ import annotations

import dataclasses

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Evaluation


@dataclasses.dataclass(frozen=True)
class Counters:
    """What the tests of a search cost.

    Attributes:
        checked: how many nodes were tested.
        rolled_up: how many of the tests started from the classes of a more special node.
        from_snapshots: how many of these took them from the history.
        groups: how many groups of rows the tests went through in all.
    """

    checked: int = 0
    rolled_up: int = 0
    from_snapshots: int = 0
    groups: int = 0


@dataclasses.dataclass(frozen=True)
class Solution:
    """What a search found.

    Attributes:
        best: the best satisfying node, or None if none was found.
        optimal: whether no satisfying node has a smaller loss, proven by the search.
        nodes: how many nodes the lattice has.
        algorithm: the name of the search.
        counters: what the search cost.
        bound: a loss that no satisfying node goes below, if one is proven; an optimal loss is its own bound.
        stopped: why the search ended early ("interrupted", "out of time"), or "" if it did not.
    """

    best: Evaluation | None
    optimal: bool
    nodes: int
    algorithm: str
    counters: Counters = Counters()
    bound: float | None = None
    stopped: str = ""

    @property
    def levels(self) -> Node | None:
        """The levels of the best node."""
        return None if self.best is None else self.best.node

    @property
    def checked(self) -> int:
        """How many nodes were tested."""
        return self.counters.checked

    @property
    def rolled_up(self) -> int:
        """How many of the tests started from the classes of a more special node."""
        return self.counters.rolled_up
