"""What a repair is: the smallest change of one kind that stops an attack, applied and checked again."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.risk.attacks import Attack, AttackResult, Target
from tarnkappe.table import Table

MOST_TRIES = 2000
"""How many changes are tried before a repair is content with one that is not proven to be the smallest."""


@dataclasses.dataclass(frozen=True, eq=False)
class RepairProposal:
    """A change of a release that stops an attack.

    Attributes:
        repair: the kind of change.
        description: what is to be done, in a sentence.
        table: the release after the change.
        removed_rows: how many rows it loses.
        changed_cells: how many cells change, those of removed rows included.
        smallest: whether no smaller change of this kind stops the attack, proven.
        after: what the attack achieves on the changed release.
    """

    repair: str
    description: str
    table: Table
    removed_rows: int
    changed_cells: int
    smallest: bool
    after: AttackResult

    def to_dict(self) -> dict[str, Any]:
        """The proposal, for JSON; without the table."""
        return {
            "repair": self.repair,
            "description": self.description,
            "removed_rows": self.removed_rows,
            "changed_cells": self.changed_cells,
            "smallest": self.smallest,
        }


class Repair(ABC):
    """A kind of change of a release."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def propose(cls, attack: Attack, target: Target) -> RepairProposal | None:
        """The smallest change of this kind that stops an attack on a release, if there is any."""


def replay(attack: Attack, target: Target, table: Table) -> AttackResult:
    """Run an attack on a changed release, everything else being as it was."""
    background = dataclasses.replace(target.background, rows=table)
    return attack.run(Target.of(table, background))


def stopped(result: AttackResult) -> bool:
    """Whether an attack has no victims but those that no change of this release can protect."""
    return result.victims <= int(result.evidence.get("unavoidable", 0))


def released_rows(target: Target) -> Table:
    """The release that is to be changed."""
    rows = target.background.rows
    assert rows is not None, "only a release whose rows are known can be changed"
    return rows


def changed_cells(before: Table, after: Table) -> int:
    """How many cells differ between two tables with the same rows in the same order."""
    total = 0
    for name in before.column_names:
        old, new = (table.data.column(name).cast(pa.string()) for table in (before, after))
        same = pc.fill_null(pc.equal(old, new), False)
        both_missing = pc.and_(pc.is_null(old), pc.is_null(new))
        total += before.num_rows - int(pc.sum(pc.or_(same, both_missing)).as_py() or 0)
    return total


def with_cells(table: Table, cells: dict[str, pa.Array]) -> Table:
    """The same table with other cells in some columns."""
    data = table.data
    for name, column in cells.items():
        data = data.set_column(data.column_names.index(name), name, column)
    return Table(data, table.roles)
