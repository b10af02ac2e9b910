"""The classes of a release one by one: which of them lose most, and whether small ones lose less."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tarnkappe.utility.columns import ColumnWords
from tarnkappe.utility.domain import Weights
from tarnkappe.utility.plain_words import Detail

WORST = 10
"""So many classes are listed."""


@dataclasses.dataclass(frozen=True, eq=False)
class ClassFigures:
    """All classes of a release: rows that read alike in all quasi-identifiers.

    Attributes:
        sizes: how many rows each class has.
        losses: what each loses, the mean over the quasi-identifiers; None if nobody knows.
        hidden: how many quasi-identifiers each hides.
        first: a row of each class.
    """

    sizes: Weights
    losses: Weights | None
    hidden: Weights
    first: Weights

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON: sizes, the worst classes, and the loss by size."""
        if not len(self.sizes):
            return {"number": {"value": 0}}
        order = np.lexsort([self.first, self.sizes, -(self.hidden if self.losses is None else self.losses)])
        return {
            "number": {"value": len(self.sizes)},
            "least": {"value": int(self.sizes.min())},
            "median": {"value": float(np.median(self.sizes))},
            "greatest": {"value": int(self.sizes.max())},
            "worst": [self._one(place) for place in order[:WORST].tolist()],
            "loss_by_size": self._by_size(),
        }

    def _one(self, place: int) -> dict[str, Any]:
        loss = None if self.losses is None else float(self.losses[place])
        return {
            "rows": {"value": int(self.sizes[place])},
            "loss": {"value": loss},
            "hidden": {"value": int(self.hidden[place])},
        }

    def _by_size(self) -> list[dict[str, Any]]:
        """Classes in groups of doubling size."""
        group = np.floor(np.log2(self.sizes)).astype(np.int64)
        found = []
        for own in np.unique(group).tolist():
            here = group == own
            rows = float(self.sizes[here].sum())
            loss = None if self.losses is None else float(self.sizes[here] @ self.losses[here]) / rows
            found.append(
                {
                    "least": {"value": int(self.sizes[here].min())},
                    "greatest": {"value": int(self.sizes[here].max())},
                    "rows": {"value": int(rows)},
                    "loss": {"value": loss},
                }
            )
        return found


def class_figures(words: Mapping[str, ColumnWords], quasi_identifiers: Sequence[str]) -> ClassFigures:
    """The classes of a release."""
    read = [words[name] for name in quasi_identifiers if name in words]
    number = len(read[0].rows) if read else 0
    codes = np.zeros(number, np.int64)
    for own in read:
        pairs = codes * max(len(own.texts), 1) + own.rows
        codes = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    _, first, sizes = np.unique(codes, return_index=True, return_counts=True)
    hidden, losses, known = np.zeros(len(first)), np.zeros(len(first)), True
    for own in read:
        here = own.rows[first].astype(np.int64)
        hidden += np.array([detail is Detail.HIDDEN for detail in own.details], dtype=np.float64)[here]
        if own.losses is None:
            known = False
        else:
            losses += own.losses[here] / len(read)
    return ClassFigures(sizes.astype(np.float64), losses if known else None, hidden, first.astype(np.float64))
