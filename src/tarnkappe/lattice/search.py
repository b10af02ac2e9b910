"""What a search is: the contract of the searches in this folder, and what they return."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import ClassVar

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Evaluation, Problem
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True)
class Solution:
    """What a search found.

    Attributes:
        best: the best satisfying node, or None if there is none.
        optimal: whether no satisfying node has a smaller loss, proven by the search.
        checked: how many nodes were tested.
        nodes: how many nodes the lattice has.
        algorithm: the name of the search.
        rolled_up: how many of the tests started from the classes of a more special node.
    """

    best: Evaluation | None
    optimal: bool
    checked: int
    nodes: int
    algorithm: str
    rolled_up: int = 0

    @property
    def levels(self) -> Node | None:
        """The levels of the best node."""
        return None if self.best is None else self.best.node


@dataclasses.dataclass(frozen=True)
class Search(ABC):
    """A way to look for the best node of a lattice."""

    name: ClassVar[str]

    @abstractmethod
    def run(self, problem: Problem, progress: Progress | None = None) -> Solution:
        """Search the lattice of a problem."""
