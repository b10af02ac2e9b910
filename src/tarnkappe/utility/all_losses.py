"""What a release loses by every loss that can measure it, also as a share between untouched and top."""

from __future__ import annotations

from typing import Any

import numpy as np

from tarnkappe.errors import TarnkappeError
from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.table import ClassState
from tarnkappe.table.classes import release_everything


def all_losses(problem: SearchProblem, state: ClassState, *, one_node: bool) -> dict[str, Any]:
    """The loss of a state by every loss that needs no parameters and is defined for it.

    Args:
        problem: what was solved.
        state: the classes of the release.
        one_node: whether each column has one level in all rows; otherwise losses must measure cells.
    """
    bottom = problem.lattice.bottom
    untouched, top = (release_everything(problem.classes(node)) for node in (bottom, problem.lattice.top))
    found: dict[str, Any] = {}
    for kind in LOSSES:
        try:
            loss = LOSSES.create(kind.name, {})
        except TarnkappeError:  # it needs a parameter
            continue
        if one_node or loss.measures_cells:
            loss.check(problem.tuples, problem.quasi_identifiers)
            value, least, most = (float(loss(own)) for own in (state, untouched, top))
            if np.isfinite(value):
                share = (value - least) / (most - least) if most > least else None
                found[kind.name] = {"value": value, "share": share}
    return found
