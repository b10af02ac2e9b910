"""What would leave, before anybody signs: rows, ranges, and whom the package could expose.

Everything is counted anew from the bytes that would be sent, after they were verified; nothing is believed
that only stands beside them.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections import Counter
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import ParameterError
from tarnkappe.exchange.desk.checked import Checked
from tarnkappe.exchange.desk.desk import RequestWorkflow
from tarnkappe.exchange.desk.packages import opened
from tarnkappe.exchange.desk.tables import RELEASE_LOG, RELEASES
from tarnkappe.exchange.request import DataRequest
from tarnkappe.risk.cells import read_cell
from tarnkappe.table import SUPPRESSED, Role

MOST_ROWS = 20
"""More rows are shown to nobody: a sample is for seeing what the form is."""
MOST_VALUES = 5


@dataclasses.dataclass(frozen=True)
class ColumnPreview:
    """One column of the package.

    Attributes:
        name: the column.
        title: what the catalogue calls it.
        role: what it is to an attacker; empty for the pseudonym.
        values: how many different values it has, without hidden ones.
        ends: the first and the last of its ranges, if it has numbers or ranges.
        shares: the most frequent values, with their shares of the rows.
        hidden: how many cells are hidden.
    """

    name: str
    title: str
    role: str
    values: int
    ends: tuple[str, str] | None
    shares: tuple[tuple[str, float], ...]
    hidden: int


@dataclasses.dataclass(frozen=True)
class GroupExposure:
    """The group in which a value is the most frequent: of so many rows that look alike, so many have it."""

    column: str
    count: int
    size: int


@dataclasses.dataclass(frozen=True)
class PackagePreview:
    """What somebody is shown before she signs.

    Attributes:
        number: the number of the check.
        check: stands for the check.
        package: stands for the package; None if there is none.
        bytes: its length.
        columns: its columns.
        rows: how many rows it has.
        sample: some of them.
        smallest: how many rows look alike at least.
        worst: of each sensitive column, the most telling group.
        share: the most that a package may tell of people who look alike, by the policy.
        packages: how many earlier packages had data about people of this one.
        people: about how many of them.
        recipients: who got those.
        exposed: of how many people a further value may be told to who compares all packages; None if that was
            not counted.
    """

    number: int
    check: str
    package: str | None = None
    bytes: int = 0
    columns: tuple[ColumnPreview, ...] = ()
    rows: int = 0
    sample: tuple[Mapping[str, str], ...] = ()
    smallest: int = 0
    worst: tuple[GroupExposure, ...] = ()
    share: float = 1.0
    packages: int = 0
    people: int = 0
    recipients: tuple[str, ...] = ()
    exposed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dataclasses.asdict(self)


def preview(desk: RequestWorkflow, digest: str, rows: int = 10) -> PackagePreview:
    """What the package of a request has, counted from its bytes.

    Args:
        desk: where the request is.
        digest: the request.
        rows: how many rows are shown, at most 20.
    """
    if not 0 <= rows <= MOST_ROWS:
        raise ParameterError(
            "exchange.most-rows-shown", "at most {most_rows} rows are shown", most_rows=MOST_ROWS
        )
    whole = desk.whole(digest)
    check = whole.require_check()
    if check.package is None or check.package.content is None:
        return PackagePreview(check.row.number, check.digest)
    table = opened(check.package.content)
    cells = {name: [_text(value) for value in table.column(name).to_pylist()] for name in table.column_names}
    roles = check.package.roles
    groups = list(zip(*(cells[n] for n, role in roles.items() if role == Role.QUASI_IDENTIFIER), strict=True))
    groups = groups or [()] * table.num_rows
    sensitive = [name for name, role in roles.items() if role == Role.SENSITIVE]
    drawn = secrets.SystemRandom().sample(range(table.num_rows), min(rows, table.num_rows))
    purpose = whole.request.purpose
    packages, people, recipients = _earlier(desk, digest, check)
    return PackagePreview(
        number=check.row.number,
        check=check.digest,
        package=check.package.digest,
        bytes=len(check.package.content),
        columns=tuple(_column(desk, name, cells[name], roles.get(name, "")) for name in cells),
        rows=table.num_rows,
        sample=tuple({name: cells[name][row] for name in cells} for row in drawn),
        smallest=min(Counter(groups).values(), default=0),
        worst=tuple(_worst(name, cells[name], groups) for name in sensitive),
        share=desk.around.policy.thresholds_for(purpose).share,
        packages=packages,
        people=people,
        recipients=recipients,
        exposed=_exposed(desk, digest, check, whole.request),
    )


def _exposed(desk: RequestWorkflow, digest: str, check: Checked, request: DataRequest) -> int | None:
    if check.content.get("told") is None:
        return None
    limits = desk.around.policy.thresholds_for(request.purpose)
    with desk.store.reading() as connection:
        told = desk.earlier.noted(connection, digest, check.content["told"])
        return desk.earlier.exposed(connection, told, limits, request.institution)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _column(desk: RequestWorkflow, name: str, cells: list[str], role: str) -> ColumnPreview:
    counts = Counter(cell for cell in cells if cell != SUPPRESSED)
    ordered = sorted(counts, key=lambda cell: (-counts[cell], cell))
    sizes = {cell: _beginning(cell) for cell in counts if cell}
    known = {cell: size for cell, size in sizes.items() if size is not None}
    ends = None
    if known and len(known) == len(sizes):
        by_size = sorted(known, key=lambda cell: (known[cell], cell))
        ends = by_size[0], by_size[-1]
    shares = tuple((cell, counts[cell] / len(cells)) for cell in ordered[:MOST_VALUES])
    catalogue = desk.around.catalogue
    title = catalogue[name].called if name in catalogue else name
    return ColumnPreview(name, title, role, len(counts), ends, shares, cells.count(SUPPRESSED))


def _beginning(cell: str) -> float | None:
    """Where a number or a range begins; None if it is neither."""
    found = read_cell(cell).range
    if found is not None:
        return float(found.low)
    try:
        return float(cell)
    except ValueError:
        return None


def _worst(name: str, cells: list[str], groups: list[tuple[str, ...]]) -> GroupExposure:
    sizes = Counter(groups)
    pairs = Counter((group, cell) for group, cell in zip(groups, cells, strict=True) if cell != SUPPRESSED)
    if not pairs:
        return GroupExposure(name, 0, len(cells))
    (group, _), count = max(pairs.items(), key=lambda item: (item[1] / sizes[item[0][0]], item[1]))
    return GroupExposure(name, count, sizes[group])


def _earlier(desk: RequestWorkflow, digest: str, check: Checked) -> tuple[int, int, tuple[str, ...]]:
    mine = {bytes(mark) for mark in check.marks}
    query = sa.select(RELEASE_LOG.c.mark, RELEASES.c.digest, RELEASES.c.recipient).join(
        RELEASES, RELEASES.c.digest == RELEASE_LOG.c.digest
    )
    with desk.store.reading() as connection:
        rows = connection.execute(query.where(RELEASES.c.digest != digest)).all()
    found = [row for row in rows if bytes(row.mark) in mine]
    people = {bytes(row.mark) for row in found}
    return len({row.digest for row in found}), len(people), tuple(sorted({row.recipient for row in found}))
