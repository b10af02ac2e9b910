"""Releases as views: which values each of them leaves the people that an attacker knows of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tarnkappe.risk.attacks.people import Fit
from tarnkappe.risk.candidates import ReleaseView, view_of


def shared_values(fits: Sequence[Fit], column: str) -> dict[str, int]:
    """One code for every value of a sensitive column that any of the releases shows."""
    labels = (label for fit in fits for label in fit.classes.distributions[column,].column.labels)
    return {label: code for code, label in enumerate(dict.fromkeys(labels))}


def release_view(fit: Fit, column: str, codes: Mapping[str, int]) -> ReleaseView:
    """How a release shows the people who fit into it."""
    distribution = fit.classes.distributions[column,]
    own = np.array([codes[label] for label in distribution.column.labels], dtype=np.int32)
    hidden = distribution.sizes < fit.classes.sizes
    number = len(fit.people.sizes)
    return view_of(number, fit.pairs, distribution.offsets, own[distribution.codes], hidden)
