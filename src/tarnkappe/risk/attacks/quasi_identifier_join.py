"""Complementary releases joined on the quasi-identifiers: two generalizations tell more than either."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.risk.attacks.release_join import Joined, ReleaseJoin
from tarnkappe.risk.attacks.row_order import sharers
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.common_members import certain_shares
from tarnkappe.risk.pairs import Pairs


class QuasiIdentifierJoin(ReleaseJoin):
    """Tell people apart by joining releases on their quasi-identifiers alone.

    Classes that contradict each other have nobody in common; with the sizes of all classes this may force
    how many people two classes share. A release whose every class is a union of classes of the earlier one
    stops the attack.
    """

    name = "quasi-identifier-join"
    cites = ("sweeney2002",)
    title = "Joined on quasi-identifiers"

    def joins(self, target: Target, name: str, pairs: Pairs) -> Sequence[Joined] | None:
        sizes = np.where(target.kept, target.classes.sizes, 0)
        shares = certain_shares(sizes, target.earlier_classes[name].sizes, pairs)
        if shares is None:
            return None
        return [
            Joined(name, ours, theirs, share, f"these values, which {sharers(share)}")
            for ours, theirs, share in zip(
                pairs.left.tolist(), pairs.right.tolist(), shares.tolist(), strict=True
            )
            if share > 0
        ]

    def success(self, victims: str) -> str:
        return f"Joined on their quasi-identifiers, the releases take away the anonymity of {victims}."
