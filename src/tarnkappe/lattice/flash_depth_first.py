"""Flash, depth first: the second phase alone."""

from __future__ import annotations

from tarnkappe.lattice.flash_two_phase import run_flash
from tarnkappe.lattice.practical import PracticalSearch
from tarnkappe.lattice.traversal import Traversal


class FlashDepthFirst(PracticalSearch):
    """The second phase alone, from the bottom: optimal for all models and losses.

    Made for cases 5 and 6 of the decision table, where there is nothing to search for along a path; in the
    others it skips what they allow and needs about as many tests as Flash in two phases. The tests and
    their order are those of `dfs`; as one of the Flash family it can also skip by lower bounds and by
    practical monotonicity.
    """

    name = "flash-dfs"
    cites = ("kohlmayer2012",)

    def search(self, traversal: Traversal) -> None:
        """Search the whole lattice."""
        self.take_for_granted(traversal)
        run_flash(traversal, first_phase=False)
