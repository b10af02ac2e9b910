"""Flash: binary search along paths, where criterion and loss are monotone."""

from __future__ import annotations

import dataclasses

from tarnkappe.errors import ParameterError
from tarnkappe.lattice.flash_two_phase import run_flash
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Traversal


@dataclasses.dataclass(frozen=True)
class Flash(Search):
    """The first phase alone (Kohlmayer et al. 2012): optimal where criterion and loss are monotone."""

    name = "flash"

    def search(self, traversal: Traversal) -> None:
        """Search the whole lattice; other cases are refused."""
        if traversal.case != 1:
            raise ParameterError(
                "the search 'flash' needs a criterion and a loss that are monotone with this suppression "
                "limit: use 'flash-2p' or 'auto', which are right for all"
            )
        run_flash(traversal)
