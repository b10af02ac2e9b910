"""Base on the earlier releases: every class becomes a union of classes of each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy  # its parts are loaded when they are used

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.risk.attacks import Attack, AttackNeed, Target
from tarnkappe.risk.cells import covering, widen
from tarnkappe.risk.repairs.repair import (
    Repair,
    RepairProposal,
    changed_cells,
    released_rows,
    replay,
    stopped,
    with_cells,
)
from tarnkappe.table import MISSING, SUPPRESSED, Table


class BaseOnEarlier(Repair):
    """Merge classes until each is a union of classes of every earlier release.

    Then what all releases leave somebody together is what one of the earlier ones left her alone. The merged
    classes are the finest that are unions both of the classes of this release and of the earlier ones, so no
    class is larger than it must be for that. Needs to know the people in the releases.
    """

    name = "base-on-earlier"

    @classmethod
    def propose(cls, attack: Attack, target: Target) -> RepairProposal | None:
        if not target.has(AttackNeed.PEOPLE) or not target.has(AttackNeed.EARLIER):
            return None
        table = released_rows(target)
        part = common_parts(target)
        changed = _merged(table, target, part)
        after = replay(attack, target, changed)
        if not stopped(after):
            return None
        classes = len(np.unique(part[target.kept]))
        told = f"Merge the classes into {classes:,} that are unions of classes of all earlier releases."
        return RepairProposal(cls.name, told, changed, 0, changed_cells(table, changed), True, after)


def common_parts(target: Target) -> npt.NDArray[np.int32]:
    """For each class of the release the part it is in: parts are the finest common unions of classes.

    Classes of two releases are in one part if somebody fits both.
    """
    offset = target.classes.num_classes
    fits = [target.fit, *target.earlier_fits.values()]
    people = len(target.people.sizes)
    starts, ends = [], []
    nodes = people
    for fit in fits:
        starts.append(fit.pairs.left)
        ends.append(fit.pairs.right + nodes)
        nodes += fit.classes.num_classes
    start, end = np.concatenate(starts), np.concatenate(ends)
    graph = scipy.sparse.coo_array((np.ones(len(start), np.int8), (start, end)), shape=(nodes, nodes))
    _, part = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return np.asarray(part[people : people + offset], dtype=np.int32)


def _merged(table: Table, target: Target, part: npt.NDArray[np.int32]) -> Table:
    """Every row with cells that stand for all of its part."""
    classes = target.classes
    rows = part[classes.ids[: table.num_rows]]
    members = [np.flatnonzero((part == number) & target.kept) for number in np.unique(rows)]
    numbers = {int(part[some[0]]): place for place, some in enumerate(members)}
    place = pa.array([numbers[number] for number in rows.tolist()], pa.int64())
    cells = {}
    for index, column in enumerate(classes.quasi_identifiers):
        codes = classes.label_codes(index)
        labels = [
            _common(
                [column.labels[code] for code in np.unique(codes[some]).tolist()],
                target.background.hierarchies.get(column.name),
            )
            for some in members
        ]
        cells[column.name] = pa.array(labels, pa.string()).take(place)
    return with_cells(table, cells)


def _common(labels: Sequence[str], hierarchy: Hierarchy | None) -> str:
    """One cell for some cells: the lowest label above all of them, or a pattern or range."""
    if len(labels) == 1:
        return labels[0]
    if hierarchy is None:
        return widen(labels)
    values = [MISSING if value is None else value for value in hierarchy.values]
    under = covering(labels, values, hierarchy).toarray().any(axis=0)
    for codes, names in zip(hierarchy.maps, hierarchy.names, strict=True):
        found = np.unique(codes[under])
        if len(found) == 1:
            return names[int(found[0])]
    return SUPPRESSED
