"""Flash in two phases: exclude by binary search along paths, then search what is left depth first."""

from __future__ import annotations

from tarnkappe.lattice.flash_paths import Paths
from tarnkappe.lattice.practical import PracticalSearch
from tarnkappe.lattice.traversal import Traversal


class FlashTwoPhase(PracticalSearch):
    """Optimal for all models and losses; it skips what the case of the decision table allows.

    Phase 1 builds long paths upward through nodes of which nothing is known and looks by binary search for
    the lowest node that meets the monotone criterion (the full one, or an implied one). Phase 2 visits
    what lies above that node, as far as it can still be better. New paths start at nodes that failed:
    they are low, and a roll-up of them is at hand. Without a monotone criterion phase 2 does all the work.
    """

    name = "flash-2p"
    cites = ("kohlmayer2012",)

    def search(self, traversal: Traversal) -> None:
        """Search the whole lattice."""
        self.take_for_granted(traversal)
        run_flash(traversal)


def run_flash(traversal: Traversal, *, first_phase: bool = True) -> None:
    """Search until every node is tested or shown to be useless.

    Args:
        traversal: the search.
        first_phase: whether to exclude nodes by binary search before visiting what is left.
    """
    paths = Paths(traversal, first_phase=first_phase)
    while (job := paths.next_job()) is not None:
        job()
