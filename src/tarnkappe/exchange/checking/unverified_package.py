"""A package before anybody has verified it, and the columns that it may not keep."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.exchange.checking.rarity import KnownAttribute
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.privacy.several_sensitive import protect_several
from tarnkappe.table import Table, encode
from tarnkappe.table.grouping import group_codes

Rows = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class UnverifiedPackage:
    """A package that nobody has verified yet.

    Attributes:
        release: the rows, in a random order, with the roles of their columns.
        source_rows: the row of the selection that each was made from. It never leaves the house.
        withheld: the columns that had to be withheld to protect the others.
        levels: the level of each quasi-identifier; empty where intervals were made.
        told: what was done, in sentences.
    """

    release: Table
    source_rows: Rows
    withheld: tuple[str, ...]
    levels: Mapping[str, int]
    told: tuple[str, ...]

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that an attacker may know."""
        return self.release.quasi_identifiers


def class_ids(release: Table) -> Rows:
    """The group of every row of a package, by its quasi-identifiers."""
    if not release.quasi_identifiers:
        return np.zeros(release.num_rows, np.int64)
    own = encode(release, release.quasi_identifiers).values()
    return group_codes([c.codes for c in own], [c.cardinality for c in own]).ids.astype(np.int64)


def without_constant(draft: UnverifiedPackage, known: Sequence[KnownAttribute]) -> UnverifiedPackage:
    """The draft without the columns that were generalized to the root: they tell nothing."""
    roots = {each.name: each.levels.labels[each.levels.height][0] for each in known}
    gone = [
        name
        for name in draft.quasi_identifiers
        if draft.release.data.column(name).unique().to_pylist() == [roots[name]]
    ]
    if not gone:
        return draft
    data = draft.release.data.drop_columns(gone)
    roles = {name: role for name, role in draft.release.roles.items() if name not in gone}
    levels = {name: level for name, level in draft.levels.items() if name not in gone}
    return dataclasses.replace(
        draft, release=Table(data, roles), withheld=(*draft.withheld, *gone), levels=levels
    )


def without_telling_others(
    draft: UnverifiedPackage, sensitive: Sequence[str], limits: Thresholds, seed: int | None
) -> UnverifiedPackage:
    """Further sensitive columns lose cells, so that none tells another, or are withheld if they still do."""
    main, others = sensitive[:1], list(sensitive[1:])
    if not others:
        return draft
    protected = protect_several(
        draft.release.data, pa.array(class_ids(draft.release)), main[0], others, limits.l, seed=seed
    )
    if protected.safe:
        told = f"Cells of {', '.join(others)} were suppressed, so that no sensitive value tells another."
        release = Table(protected.data, draft.release.roles)
        return dataclasses.replace(draft, release=release, told=(*draft.told, told))
    roles = {name: role for name, role in draft.release.roles.items() if name not in others}
    told = f"{', '.join(others)} would tell another sensitive value, so nothing of it is released."
    return dataclasses.replace(
        draft,
        release=Table(draft.release.data.drop_columns(others), roles),
        withheld=(*draft.withheld, *others),
        told=(*draft.told, told),
    )
