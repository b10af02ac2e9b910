"""Exhaustive search: test every node. Right for every model and loss, and the yardstick of all others."""

from __future__ import annotations

import dataclasses

from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Traversal


@dataclasses.dataclass(frozen=True)
class Exhaustive(Search):
    """Test all nodes and return the best; optimal whatever the models and the loss."""

    name = "exhaustive"

    def search(self, traversal: Traversal) -> None:
        """Test every node that may be chosen."""
        for node in traversal.problem.nodes():
            traversal.check(node)
