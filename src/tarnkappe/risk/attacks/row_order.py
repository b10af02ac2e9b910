"""Order of rows: two releases of the same rows in the same order are joined by position."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pyarrow as pa

from tarnkappe.risk.attacks.attack import Attack, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.cells import agreeing, meet, read_cell
from tarnkappe.schema import MANY_ROWS, param
from tarnkappe.table import Column, Table, encode
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import encode_column
from tarnkappe.table.grouping import RowGrouping, group_codes


class RowOrder(Attack):
    """Join releases row by row, so that each tells what the others hide (unsorted matching).

    Victims are the rows whose joined cells are shared by fewer than k rows and by fewer than before. Releases
    that contradict this one somewhere are not in its order and are left out. A random order of the rows in
    every release stops the attack, but not joining the releases on their contents.
    """

    name = "row-order"
    cites = ("sweeney2002",)
    title = "Order of rows"
    needs = (AttackNeed.RELEASE, AttackNeed.ROWS, AttackNeed.EARLIER)
    repaired_by = ("shuffle",)
    knowledge = "An earlier release of the same people in the same order."

    k: Annotated[
        int,
        param("people among whom somebody is no victim any more", ge=2, le=MANY_ROWS, unit="people"),
    ] = 2

    @property
    def certain(self) -> bool:
        return self.k == 2

    def find(self, target: Target, shown: int | None) -> Victims:
        release = target.background.rows
        assert release is not None
        own = encode(release, release.quasi_identifiers)
        joined, in_step = dict(own), 0
        for earlier in target.background.earlier.values():
            more = self._joined(target, release, earlier, joined)
            if more is not None:
                joined, in_step = more, in_step + 1
        before, after = _groups(list(own.values())), _groups(list(joined.values()))
        sizes = np.bincount(after.ids, minlength=after.num_groups)
        were = np.bincount(before.ids)[before.ids[after.representatives]]
        victims = np.flatnonzero((sizes < self.k) & (sizes < were))
        exact = np.logical_and.reduce([_exact(column) for column in joined.values()])

        def describe(place: int) -> VictimClass:
            group = int(victims[place])
            row, size = int(after.representatives[group]), int(sizes[group])
            labels = {name: column.labels[int(column.codes[row])] for name, column in joined.items()}
            told = "every one of these values exactly" if exact[row] else "these values"
            return VictimClass(labels, size, f"{told}, which {sharers(size)}", 1 / size)

        return Victims(
            sizes=sizes[victims].astype(np.int64),
            certainties=1 / sizes[victims],
            describe=describe,
            among=release.num_rows,
            success=lambda told: f"Joined row by row, the releases take away the anonymity of {told}.",
            failure="No earlier release has its rows in the order of this one."
            if not in_step
            else "Joined row by row, the releases tell nobody apart who was not told apart before.",
            evidence={
                "releases_in_step": in_step,
                "k_of_the_join": int(sizes.min(initial=release.num_rows)),
                "rows_known_exactly": int(exact.sum()) if in_step else 0,
            },
        )

    def _joined(
        self, target: Target, release: Table, earlier: Table, joined: dict[str, Column]
    ) -> dict[str, Column] | None:
        """The cells of this and an earlier release together, or None if they are not of the same rows."""
        if earlier.num_rows != release.num_rows:
            return None
        for name in set(release.sensitive) & set(earlier.sensitive):
            ours, theirs = (encode(table, [name])[name] for table in (release, earlier))
            if not (np.array(ours.labels)[ours.codes] == np.array(theirs.labels)[theirs.codes]).all():
                return None
        result = dict(joined)
        for name, column in encode(earlier, earlier.quasi_identifiers).items():
            met = _meet_rows(joined[name], column, target) if name in joined else column
            if met is None:
                return None
            result[name] = met
        return result


def sharers(number: int) -> str:
    """How many people have something, in words."""
    return "nobody else has" if number == 1 else f"only {number} people have"


def _groups(columns: list[Column]) -> RowGrouping:
    return group_codes([column.codes for column in columns], [column.cardinality for column in columns])


def _exact(column: Column) -> Mask:
    """The rows whose cell is a value and no pattern or range."""
    return np.array([read_cell(label).plain for label in column.labels], dtype=bool)[column.codes]


def _meet_rows(ours: Column, theirs: Column, target: Target) -> Column | None:
    hierarchy = target.background.hierarchies.get(ours.name)
    pairs = group_codes([ours.codes, theirs.codes], [ours.cardinality, theirs.cardinality])
    left, right = (column.codes[pairs.representatives].tolist() for column in (ours, theirs))
    if (agreeing(ours.labels, theirs.labels, hierarchy)[left, right] == 0).any():
        return None
    labels = [meet(ours.labels[a], theirs.labels[b], hierarchy) for a, b in zip(left, right, strict=True)]
    cells = pa.array(labels, pa.string()).take(pa.array(pairs.ids))
    return encode_column(ours.name, pa.chunked_array([cells]))
