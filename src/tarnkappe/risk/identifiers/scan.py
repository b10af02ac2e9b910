"""Looks at every column of a table for identifiers and proposes a role for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tarnkappe.risk.identifiers.contacts import CONTACTS
from tarnkappe.risk.identifiers.dates import DATES
from tarnkappe.risk.identifiers.detector import Certainty, Detector, IdentifierFinding, IdentifierKind
from tarnkappe.risk.identifiers.free_text import FREE_TEXT
from tarnkappe.risk.identifiers.media import MEDIA
from tarnkappe.risk.identifiers.names import NAMES
from tarnkappe.risk.identifiers.numbers import NUMBERS
from tarnkappe.risk.identifiers.pairs import OneToOne, beside, one_to_one_in
from tarnkappe.risk.identifiers.places import PLACES, Postcodes
from tarnkappe.risk.identifiers.roles import ProposedRole, is_explained, propose_role
from tarnkappe.risk.identifiers.unique_codes import UNIQUE_CODES
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress
from tarnkappe.table.parallel import in_order

DETECTORS: tuple[Detector, ...] = (
    *CONTACTS,
    *NUMBERS,
    *MEDIA,
    *DATES,
    *NAMES,
    *PLACES,
    *FREE_TEXT,
    *UNIQUE_CODES,
)
"""All detectors; those that tell least come last: a column that one explains is not shown to later ones."""

OF_ANYTHING = frozenset(["street", *(each.name for each in (*NAMES, *FREE_TEXT, *UNIQUE_CODES))])
"""Detectors of whatever differs: they say nothing about values that say themselves what they are."""

DETECTOR_NAMES = tuple(detector.name for detector in DETECTORS)
"""What can be accepted for a column."""


@dataclasses.dataclass(frozen=True)
class ColumnScan:
    """What a column holds and what it should be.

    Attributes:
        column: the column.
        findings: the identifiers in it.
        role: the proposed role.
        reason: why this role, in a sentence that quotes no cell.
        certainty: whether the values prove it, header and values agree, or it is a guess.
    """

    column: str
    findings: tuple[IdentifierFinding, ...]
    role: Role
    reason: str
    certainty: Certainty = Certainty.GUESS

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "role": self.role,
            "reason": self.reason,
            "certainty": self.certainty,
            "findings": [
                {
                    "kinds": [int(kind) for kind in found.kinds],
                    "titles": [kind.title for kind in found.kinds],
                    "detector": found.detector,
                    "cells": found.cells,
                    "reason": found.reason,
                }
                for found in self.findings
            ],
        }


@dataclasses.dataclass(frozen=True)
class IdentifierScan:
    """The identifiers of the safe harbor rule in a table, and a proposed role for every column."""

    columns: tuple[ColumnScan, ...]

    @property
    def holds(self) -> bool:
        """Whether the table is free of all 18 identifiers, as far as the detectors see."""
        return not self.kinds

    @property
    def kinds(self) -> frozenset[IdentifierKind]:
        """The kinds that were found."""
        return frozenset(k for column in self.columns for found in column.findings for k in found.kinds)

    @property
    def roles(self) -> dict[str, Role]:
        """The proposed roles, as `Table.with_roles` takes them."""
        return {column.column: column.role for column in self.columns}

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "holds": self.holds,
            "kinds": sorted(map(int, self.kinds)),
            "columns": {column.column: column.to_dict() for column in self.columns},
        }


def find_identifiers(
    table: Table,
    *,
    postcode_areas: Mapping[str, int] | None = None,
    accepted: Mapping[str, Collection[str]] | None = None,
    progress: Progress | None = None,
) -> IdentifierScan:
    """Look for the 18 identifiers of the safe harbor rule in every column, and propose roles.

    Cells are judged before headers, so that a misleading header hides nothing. A scan can show that a table
    holds identifiers; that it finds none is no proof, least of all for free text.

    Args:
        table: the table.
        postcode_areas: how many people live where ZIP codes begin with these three digits.
        accepted: for some columns, detectors that are wrong about them: what they find does not hide what
            others find.
        progress: told about the progress of long work.

    >>> import pyarrow as pa
    >>> people = pa.table({"colour": ["ann@example.org", "bob@example.org"], "illness": ["flu", "cold"]})
    >>> scan = find_identifiers(Table(people))
    >>> [(column.column, column.role.value, column.reason) for column in scan.columns][0]
    ('colour', 'identifier', 'all of the values are e-mail addresses, whatever the header says')
    """
    detectors = tuple(
        dataclasses.replace(d, areas=postcode_areas) if isinstance(d, Postcodes) else d for d in DETECTORS
    )
    views = [view_of(table, name) for name in table.column_names]
    return scan_views(views, one_to_one_in(table.data), detectors, accepted=accepted, progress=progress)


def scan_views(
    views: Sequence[ColumnView],
    one_to_one: OneToOne,
    detectors: Sequence[Detector] = DETECTORS,
    *,
    accepted: Mapping[str, Collection[str]] | None = None,
    progress: Progress | None = None,
) -> IdentifierScan:
    """Look at columns wherever their rows are; `one_to_one` is asked what the rows of two columns tell."""
    looked: list[_Look] = []
    passed = accepted or {}
    for look in in_order(lambda view: _look(view, detectors, passed.get(view.name, ())), views):
        looked.append(look)
        if progress:
            progress("looking for identifiers", len(looked), len(views))
    return IdentifierScan(_with_pairs(looked, one_to_one))


def propose_roles(table: Table, *, progress: Progress | None = None) -> tuple[ColumnScan, ...]:
    """A role for every column of a table, in its order: with the reason, and how certain it is.

    >>> import pyarrow as pa
    >>> people = pa.table({"e-mail": ["ann@example.org", "bob@example.org"], "sex": ["f", "m"]})
    >>> [(each.column, each.role.value, each.certainty.value) for each in propose_roles(Table(people))]
    [('e-mail', 'identifier', 'sure'), ('sex', 'quasi-identifier', 'sure')]
    """
    return find_identifiers(table, progress=progress).columns


def with_proposed_roles(
    table: Table, stated: Mapping[str, Role] | None = None, *, progress: Progress | None = None
) -> tuple[Table, tuple[ColumnScan, ...]]:
    """A table with proposed roles, and the proposals; where a role is stated, it stays."""
    proposed = propose_roles(table, progress=progress)
    roles = {column.column: column.role for column in proposed} | dict(stated or {})
    return table.with_roles(roles), proposed


def view_of(table: Table, name: str) -> ColumnView:
    """A column as detectors see it."""
    spelling = None if table.reading is None else table.reading.spelling(name)
    return ColumnView(name, table.data.column(name), spelling, "" if spelling is None else spelling.label)


@dataclasses.dataclass(frozen=True)
class _Look:
    """One column after it was looked at by itself."""

    view: ColumnView
    findings: tuple[IdentifierFinding, ...]
    proposed: ProposedRole

    @property
    def scan(self) -> ColumnScan:
        said = self.proposed
        return ColumnScan(self.view.name, self.findings, said.role, said.reason, said.certainty)


def _look(view: ColumnView, detectors: Sequence[Detector], accepted: Collection[str]) -> _Look:
    findings: list[IdentifierFinding] = []
    explained = is_explained(view)
    known = False
    for look, by_cells in (*((d.look, True) for d in detectors), *((d.guess, False) for d in detectors)):
        if not by_cells and any(found.whole for found in findings):
            break  # what is accepted explains the cells: weaker signs tell nothing
        found = look(view)
        if found is None or (found.whole and (known or (explained and found.detector in OF_ANYTHING))):
            continue
        findings.append(found)
        if found.whole and found.detector not in accepted:
            if found.role is Role.IDENTIFIER:
                break  # the cells are explained; what others see in them is seen wrongly
            known = True  # they are dates, towns or postcodes: what hides inside some is still looked for
    return _Look(view, tuple(findings), propose_role(view, findings))


def _with_pairs(looked: Sequence[_Look], one_to_one: OneToOne) -> tuple[ColumnScan, ...]:
    """The columns, with what only those beside them show."""
    shown = beside(
        [look.view for look in looked],
        {look.view.name: look.findings for look in looked},
        {look.view.name for look in looked if look.proposed.is_open},
        {look.view.name for look in looked if look.proposed.is_organisation},
        one_to_one,
    )
    columns = []
    for look in looked:
        if look.view.name in shown:
            found, certainty = shown[look.view.name]
            named = (*look.findings, found)
            columns.append(ColumnScan(look.view.name, named, found.role, found.reason, certainty))
        else:
            columns.append(look.scan)
    return tuple(columns)
