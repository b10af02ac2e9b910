"""Complementary releases joined on a sensitive column: rare values link rows as well as positions do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.risk.attacks.attack import Attack
from tarnkappe.risk.attacks.release_join import Joined, ReleaseJoin
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.candidates import ranges
from tarnkappe.risk.common_members import certain_shares
from tarnkappe.risk.pairs import Pairs
from tarnkappe.schema import Name, param
from tarnkappe.table import Classes, Distribution


class SensitiveJoin(ReleaseJoin, kw_only=True):
    """Join the rows of releases that have the same sensitive value and do not contradict each other.

    Random order of the rows does not stop it. A release whose every class is a union of classes of the
    earlier one does: the join is then the earlier release.
    """

    name = "sensitive-join"
    cites = ("sweeney2002",)
    title = "Joined on a sensitive column"

    column: Annotated[Name, param("the sensitive column", kind="column")]

    @classmethod
    def usual(cls, target: Target) -> Sequence[Attack]:
        earlier = target.background.earlier.values()
        return [cls(column=c) for c in target.sensitive if any(c in table.sensitive for table in earlier)]

    def joins(self, target: Target, name: str, pairs: Pairs) -> Sequence[Joined] | None:
        ours, earlier = target.distribution(self.column), target.earlier_classes[name]
        theirs = earlier.distributions.get((self.column,))
        if theirs is None or _hides(target.classes, ours) or _hides(earlier, theirs):
            return None
        entries = _same_value(pairs, ours, theirs)
        counts = np.where(target.kept[ours.class_of_entry], ours.counts, 0)
        shares = certain_shares(counts, theirs.counts, entries)
        if shares is None:
            return None
        together: dict[tuple[int, int], list[tuple[str, int]]] = {}
        left, right = ours.class_of_entry[entries.left], theirs.class_of_entry[entries.right]
        values = [ours.column.labels[code] for code in ours.codes[entries.left].tolist()]
        for a, b, value, share in zip(left.tolist(), right.tolist(), values, shares.tolist(), strict=True):
            together.setdefault((a, b), []).append((value, share))
        return [
            Joined(name, a, b, sum(share for _, share in shared), self._learned(shared))
            for (a, b), shared in together.items()
            # Where a share is not certain, more people may be together than are known to be.
            if all(share >= 0 for _, share in shared)
        ]

    def _learned(self, shared: Sequence[tuple[str, int]]) -> str:
        return (
            f"these values and {self.column} {' or '.join(sorted(value for value, share in shared if share))}"
        )

    def success(self, victims: str) -> str:
        return f"Joined on '{self.column}', the releases take away the anonymity of {victims}."


def _hides(classes: Classes, distribution: Distribution) -> bool:
    """Whether some cells are suppressed: it is then not certain that the shown ones are the same people's."""
    return bool((distribution.sizes < classes.sizes).any())


def _same_value(pairs: Pairs, ours: Distribution, theirs: Distribution) -> Pairs:
    """The entries of both releases that have the same value, in classes that can have a member in common."""
    codes = {label: code for code, label in enumerate(theirs.column.labels)}
    translated = np.array([codes.get(label, -1) for label in ours.column.labels], dtype=np.int64)
    begin, end = ours.offsets[pairs.left], ours.offsets[pairs.left + 1]
    left = ranges(begin, end)
    wanted = np.repeat(pairs.right, end - begin) * theirs.column.cardinality + translated[ours.codes[left]]
    known = theirs.class_of_entry * np.int64(theirs.column.cardinality) + theirs.codes
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known, wanted, sorter=order), max(len(order) - 1, 0))
    same = (translated[ours.codes[left]] >= 0) & (known[order[place]] == wanted)
    return Pairs(left[same], order[place][same])
