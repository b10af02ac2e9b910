"""Practical monotonicity: to search as if criterion and loss were monotone, though it is not proven."""

from __future__ import annotations

from typing import Annotated

from tarnkappe.errors import ParameterError
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.schema import param


class PracticalSearch(Search, kw_only=True):
    """A search that may be told to rely on practical monotonicity.

    Most satisfying nodes of a criterion that is not monotone have satisfying nodes only above them, so a
    search that takes this for granted needs a fraction of the tests and often finds the optimum all the
    same (Nergiz and Clifton). When it does not, the result is a satisfying node that is not the best one:
    what is lost is the proof, never the promise. Where criterion and loss are proven to be monotone,
    nothing is taken for granted and the result stays proven.
    """

    practical_monotonicity: Annotated[
        bool, param("whether to treat criterion and loss as monotone without proof")
    ] = False

    def take_for_granted(self, traversal: Traversal) -> None:
        """Treat criterion and loss as monotone if this was asked for: the first step of such a search."""
        if self.practical_monotonicity:
            traversal.assume_monotone()


def require_case_1(name: str, traversal: Traversal) -> None:
    """Refuse a problem whose criterion or loss is not monotone."""
    if traversal.case != 1:
        unproven = traversal.not_monotone
        are = "are" if len(unproven) > 1 else "is"
        raise ParameterError(
            "lattice.search-needs-criterion-loss",
            "the search '{name}' needs a criterion and a loss that are monotone with this suppression "
            "limit, and {unproven} {are} not: use 'flash-2p' or 'auto', which are right for all, or "
            "practical_monotonicity = true for a result that is not proven to be optimal",
            name=name,
            unproven=" and ".join(unproven),
            are=are,
        )
