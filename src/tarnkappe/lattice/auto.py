"""The search that is chosen when none is named."""

from __future__ import annotations

import dataclasses

from tarnkappe.lattice.flash_two_phase import run_flash
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Traversal


@dataclasses.dataclass(frozen=True)
class Auto(Search):
    """Flash in two phases, which also skips nodes that by their levels alone cannot beat the best found.

    Each loss knows a bound that neither a node nor anything above it goes below (`Loss.lower_bound_at`), so
    the result is optimal for all models and losses.
    """

    name = "auto"

    lower_bounds: bool = dataclasses.field(default=True, kw_only=True)

    def search(self, traversal: Traversal) -> None:
        """Search the whole lattice."""
        run_flash(traversal)
