"""Flash: binary search along paths, where criterion and loss are monotone."""

from __future__ import annotations

from tarnkappe.lattice.flash_two_phase import run_flash
from tarnkappe.lattice.practical import PracticalSearch, require_case_1
from tarnkappe.lattice.traversal import Traversal


class Flash(PracticalSearch):
    """The first phase alone (Kohlmayer et al. 2012): optimal where criterion and loss are monotone."""

    name = "flash"
    cites = ("kohlmayer2012",)

    def search(self, traversal: Traversal) -> None:
        """Search the whole lattice; other cases are refused."""
        self.take_for_granted(traversal)
        require_case_1(self.name, traversal)
        run_flash(traversal)
