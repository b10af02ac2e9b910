"""What a search returns."""

from __future__ import annotations

import dataclasses

from tarnkappe.drawing import html_table
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
        optimal: whether nothing that may be released loses less: no other levels, proven by the search,
            and no other choice of classes to suppress.
        nodes: how many nodes the lattice has.
        algorithm: the name of the search.
        counters: what the search cost.
        bound: a loss that no satisfying node goes below, if one is proven; an optimal loss is its own bound.
        stopped: why the search ended early ("interrupted", "out of time"), or "" if it did not.
        passes: the nodes of all passes, where rows that one suppresses are searched again (`recoding.local`).
        assumed: what the search took to be monotone without proof, because it was told to.
        optimal_given: how classes are suppressed, where no other levels lose less as long as they are so
            suppressed, proven by the search, but another choice of classes may; else empty.
        tests: the nodes that were tested, in this order.
    """

    best: Evaluation | None
    optimal: bool
    nodes: int
    algorithm: str
    counters: Counters = Counters()
    bound: float | None = None
    stopped: str = ""
    passes: tuple[Node, ...] = ()
    assumed: tuple[str, ...] = ()
    optimal_given: str = ""
    tests: tuple[Node, ...] = dataclasses.field(default=(), compare=False, repr=False)

    @property
    def optimal_levels(self) -> bool:
        """Whether no other levels lose less, proven by the search."""
        return self.optimal or bool(self.optimal_given)

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

    @property
    def doubt(self) -> str:
        """What keeps the result from being proven, in words: an early end, something taken for granted."""
        assumed = f"{' and '.join(self.assumed)} taken to be monotone without proof" if self.assumed else ""
        return ", ".join(filter(None, (self.stopped, assumed)))

    @property
    def proof(self) -> str:
        """How far the loss is known to be the least possible, in words."""
        if self.optimal:
            return "proven optimal"
        if self.optimal_given:
            return f"no other levels lose less when {self.optimal_given}: proven; others may lose less"
        reason = f" ({self.doubt})" if self.doubt else ""
        if self.best is None:
            return f"not proven optimal{reason}"
        how_far = "how far above the least possible is not known"
        if self.gap is not None:
            how_far = (
                f"at most {self.gap:.2%} above the least possible loss, which is at least {self.bound:,.6g}"
            )
        return f"not proven optimal{reason}: a heuristic result, {how_far}"

    @property
    def gap(self) -> float | None:
        """How far the loss is above the least possible at most, as a share of the latter, if known."""
        if self.best is None or self.bound is None or self.bound > self.best.loss:
            return None
        if self.bound == self.best.loss:
            return 0.0
        return self.best.loss / self.bound - 1 if self.bound > 0 else None

    def __str__(self) -> str:
        checked = f"{self.checked:,} of {self.nodes:,} nodes checked by {self.algorithm}"
        if self.best is None:
            return f"no satisfying node found ({checked})"
        return (
            f"node {self.best.node}: loss {self.best.loss:,.6g} ({self.proof}, {checked}), "
            f"{self.best.suppressed:,} rows suppressed, {self.best.classes:,} classes"
        )

    def _repr_html_(self) -> str:
        if self.best is None:
            return html_table(("search", ""), [(self.algorithm, str(self))])
        facts = [
            ("node", " ".join(map(str, self.best.node))),
            ("loss", f"{self.best.loss:,.6g}, {self.proof}"),
            ("suppressed rows", f"{self.best.suppressed:,}"),
            ("classes", f"{self.best.classes:,}"),
            ("checked", f"{self.checked:,} of {self.nodes:,} nodes"),
            ("rolled up", f"{self.rolled_up:,}"),
        ]
        return html_table((f"search {self.algorithm}", ""), facts)
