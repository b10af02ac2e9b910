"""Pseudonyms in tables: what says who it is goes, and a pseudonym comes."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.pseudonym.identity import Identity, identities
from tarnkappe.pseudonym.linkage import Decisions, Links, link
from tarnkappe.pseudonym.method import Pseudonyms
from tarnkappe.pseudonym.reversible import Reversible
from tarnkappe.pseudonym.vault import Registrar
from tarnkappe.table import Table
from tarnkappe.table.encoding import Progress

COLUMN = "pseudonym"
"""The name of the column, if nothing else is said."""


def pseudonymize(
    table: Table, columns: Sequence[str], method: Pseudonyms, *, into: str = COLUMN, shuffle: bool = True
) -> Table:
    """Replace the columns that say who somebody is by one column with a pseudonym.

    Rows of one person have one pseudonym; a row that says nothing about the person has none. Pseudonyms
    are no anonymity: what else is in the table may still give people away.

    Args:
        table: the table, which stays as it is.
        columns: the columns that together say who it is; they are not in the result.
        method: how pseudonyms are made: `OneWay`, `Reversible` or a `Registrar` of a vault.
        into: the name of the new column, which is the first one.
        shuffle: whether the rows come in a random order; their old one could tell who they are.

    >>> from tarnkappe.pseudonym import OneWay
    >>> from tarnkappe.state import Key
    >>> visits = Table(pa.table({"name": ["Ann", "Bob", "Ann ", None], "illness": list("abcd")}))
    >>> result = pseudonymize(visits, ["name"], OneWay(Key.new(), "asthma"), shuffle=False)
    >>> ann, bob, again, nobody = result.data["pseudonym"].to_pylist()
    >>> ann == again, ann == bob, nobody
    (True, False, None)
    """
    people = identities(table, columns)
    distinct = list(dict.fromkeys(person for person in people if person is not None))
    given = dict(zip(distinct, method.pseudonyms(distinct), strict=True))
    pseudonyms = [None if person is None else given[person] for person in people]
    return replaced(table, columns, pseudonyms, into, shuffle)


def pseudonymize_linked(
    tables: Sequence[Table],
    columns: Sequence[Sequence[str]],
    registrar: Registrar,
    *,
    decisions: Decisions | None = None,
    into: str = COLUMN,
    shuffle: bool = True,
    progress: Progress | None = None,
) -> tuple[list[Table], Links]:
    """The same for several sources at once: who is one person in spite of misspellings gets one pseudonym.

    Args:
        tables: the sources.
        columns: of each source, the columns that say who it is, in the order of the vault's fields.
        registrar: of a vault, which remembers all spellings of a person.
        decisions: what people have decided about doubtful pairs.
        into: the name of the new column.
        shuffle: whether the rows come in a random order.
        progress: is told how far it is.

    Returns:
        The tables, and what was linked; its doubtful pairs have got different pseudonyms.
    """
    people = [identities(table, names) for table, names in zip(tables, columns, strict=True)]
    sources = [dict.fromkeys(person for person in some if person is not None) for some in people]
    links = link(sources, registrar.fields, decisions=decisions, progress=progress)
    pseudonyms = registrar.register(links.groups)
    given = {person: name for group, name in zip(links.groups, pseudonyms, strict=True) for person in group}
    results = [
        replaced(table, names, [None if person is None else given[person] for person in some], into, shuffle)
        for table, names, some in zip(tables, columns, people, strict=True)
    ]
    return results, links


def replaced(
    table: Table, columns: Sequence[str], pseudonyms: Sequence[str | None], into: str, shuffle: bool
) -> Table:
    """A table with pseudonyms in the place of some columns."""
    kept = [name for name in table.column_names if name not in columns]
    if into in kept:
        raise ColumnError(
            "pseudonym.table-column-already-choose",
            "the table has a column '{into}' already: choose another name for the pseudonyms",
            into=into,
        )
    data = table.data.select(kept).add_column(0, into, pa.array(pseudonyms, pa.string()))
    if shuffle:
        keys = np.frombuffer(os.urandom(8 * data.num_rows), dtype=np.uint64)
        data = data.take(np.argsort(keys))
    return Table(data, {name: table.roles[name] for name in kept})


def reidentify(table: Table, names: Sequence[str], method: Reversible, *, column: str = COLUMN) -> Table:
    """Replace reversible pseudonyms by the identities that they were made of.

    Args:
        table: a table with a column of pseudonyms.
        names: what to call the parts of an identity, in the order in which they were named.
        method: with the key and the project that the pseudonyms were made with.
        column: the column with the pseudonyms.
    """
    cells = table.data.column(table.require(column)).to_pylist()
    found: dict[str, Identity] = {cell: method.identity(cell) for cell in set(cells) if cell is not None}
    wrong = {len(person) for person in found.values()} - {len(names)}
    if wrong:
        raise ParameterError(
            "pseudonym.pseudonyms-made-columns-name",
            "these pseudonyms were made of {wrong} {wrong:column|columns}: name as many",
            wrong=min(wrong),
        )
    kept = [name for name in table.column_names if name != column]
    clash = sorted(set(kept) & set(names))
    if clash:
        raise ColumnError(
            "pseudonym.table-column-already-choose-another-name",
            "the table has a column '{clash}' already: choose another name",
            clash=clash[0],
        )
    data = table.data.select(kept)
    for place, name in enumerate(names):
        values = [None if cell is None else found[cell][place] for cell in cells]
        data = data.add_column(place, name, pa.array(values, pa.string()))
    return Table(data, {name: table.roles[name] for name in kept})
