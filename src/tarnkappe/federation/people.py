"""Whether somebody has several rows at a site: the models count rows, so he or she would count several
times.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from tarnkappe.errors import ColumnError
from tarnkappe.federation.contract import Contract
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import as_text


def refuse_repeated_people(table: Table, contract: Contract) -> None:
    """Refuse rows of which several are of one person, by the columns that the contract declares."""
    if contract.key is not None or not contract.person:
        return
    for name in contract.person:
        if table.data.column(table.require(name)).null_count:
            raise ColumnError(
                "federation.tells-row-about-missing",
                "'{name}' tells who a row is about and is missing in some rows: complete it, or leave them "
                "out",
                name=name,
            )
    if _has_repeats(table, contract.person):
        raise ColumnError(
            "federation.somebody-several-rows-keep",
            "somebody has several rows, by {person}: keep one row for each person",
            person=", ".join(contract.person),
        )


def refuse_repeated_identifiers(table: Table, contract: Contract) -> None:
    """Refuse rows with the same identifier, where the contract does not say what tells people apart."""
    if contract.key is not None or contract.person:
        return
    for name in table.column_names:
        if table.roles[name] is Role.IDENTIFIER and _has_repeats(table, [name]):
            raise ColumnError(
                "federation.identifies-people-repeats-person",
                "'{name}' identifies people and repeats: one person may have several rows, which the "
                "contract would count as several people. Keep one row for each person, name what tells "
                "people apart in the contract (person = [...]), or say accept_repeated_people in [policy]",
                name=name,
            )


def _has_repeats(table: Table, names: Sequence[str]) -> bool:
    rows = people_of(table, names)
    return len(set(rows)) < len(rows)


def people_of(table: Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Who each row is about, as it is compared; rows in which a column is missing are left out."""
    columns = [as_text(table.data.column(name).combine_chunks()).to_pylist() for name in names]
    return [
        tuple(map(normalized, row))
        for row in zip(*columns, strict=True)
        if all(each is not None for each in row)
    ]


def normalized(text: str) -> str:
    """A name or number as it is compared: letters in one form, in lower case, with single spaces.

    >>> normalized(" Ann  LEE ") == normalized("ann lee")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
