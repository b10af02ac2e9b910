"""What a party does with its own table before anything leaves it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError, HierarchyError, ProtocolError
from tarnkappe.federation.contract import Contract, SharedColumn
from tarnkappe.federation.people import refuse_repeated_people
from tarnkappe.federation.share import PartyShare, ShareColumn, Tokens
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import SUPPRESSED, Role, Table
from tarnkappe.table.encoding import Codes, as_text, encode_column

Rule = Callable[[str | None], Sequence[str]]
"""A function from a value (None for a missing one) to its labels from level 1 to the root."""

ABSENT, PRESENT, MADE_UP = b"\0", b"\1", b"\2"


def canonical(text: str | None) -> bytes:
    """A value as all parties write it: equal values are equal bytes, whatever machine they come from.

    >>> canonical("Zoë") == canonical("Zoe\u0308"), canonical(None) == canonical("")
    (True, False)
    """
    return ABSENT if text is None else PRESENT + unicodedata.normalize("NFC", text).encode()


def readable(token: bytes) -> str | None:
    """The value again."""
    return None if token == ABSENT else token[1:].decode()


def local_share(
    table: Table | None, party: str, contract: Contract, hierarchies: Mapping[str, Hierarchy | Rule]
) -> PartyShare:
    """The columns of a table that the contract names, in plain, with the rules that their values need.

    Whatever else the table has stays where it is. A party without data has an empty share.
    """
    columns = contract.columns_of(party)
    if table is None:
        empty = np.empty(0, np.int32)
        parts = {
            c.name: ShareColumn([], empty, np.empty((0, c.height + 1), np.int32) if c.height else None)
            for c in columns
        }
        return PartyShare(parts, 0, [] if contract.key is not None else None)
    for column in columns:
        if table.roles[table.require(column.name)] is Role.IDENTIFIER:
            raise ColumnError(
                "federation.contract-names-identifies-people",
                "the contract names '{column}', which identifies people: refuse it",
                column=column.name,
            )
    refuse_repeated_people(table, contract)
    keys = None
    if contract.key is not None:
        table = without_repeats(table, contract, party)
        keys = key_tokens(table, contract.key)
    members = None
    if contract.member is not None and contract.member in table.column_names:
        members = _members(table, contract.member)
    parts = {c.name: _part(table, c, hierarchies.get(c.name), fill=contract.fill_absent) for c in columns}
    return PartyShare(parts, table.num_rows, keys, members=members)


def _members(table: Table, name: str) -> npt.NDArray[np.bool_]:
    try:
        said = table.data.column(name).cast(pa.bool_())
    except pa.ArrowException:
        raise ColumnError(
            "federation.tells-released-other-values",
            "'{name}' tells who is released: it has other values than true and false",
            name=name,
        ) from None
    return np.asarray(pc.fill_null(said, False).to_numpy())


def without_repeats(table: Table, contract: Contract, party: str) -> Table:
    """A table in which nobody occurs twice: rows that say the same of a person are one row.

    Rows that contradict each other stay, and are refused when keys are read.
    """
    assert contract.key is not None
    names = [contract.key, *(column.name for column in contract.columns_of(party))]
    names += [contract.member] if contract.member in table.column_names else []
    columns = [as_text(table.data.column(table.require(name)).combine_chunks()).to_pylist() for name in names]
    seen: dict[tuple[str | None, ...], int] = {}
    for index, row in enumerate(zip(*columns, strict=True)):
        seen.setdefault((None if row[0] is None else row[0].strip(), *row[1:]), index)
    if len(seen) == table.num_rows:
        return table
    return table.with_data(table.data.take(pa.array(list(seen.values()))))


def key_tokens(table: Table, name: str) -> Tokens:
    """The keys of all rows in plain; they must be there and differ."""
    texts = as_text(table.data.column(table.require(name)).combine_chunks()).to_pylist()
    keys = [canonical(None if text is None else text.strip()) for text in texts]
    if ABSENT in keys:
        raise ColumnError(
            "federation.key-missing-some-rows",
            "the key '{name}' is missing in some rows: nobody can be joined by it",
            name=name,
        )
    if len(set(keys)) < len(keys):
        raise ColumnError(
            "federation.key-occurs-more-once",
            "the key '{name}' occurs more than once with different values: say first which rows are right",
            name=name,
        )
    return keys


def _part(table: Table, column: SharedColumn, rules: Hierarchy | Rule | None, *, fill: bool) -> ShareColumn:
    encoded = encode_column(column.name, table.data.column(column.name))
    texts = as_text(encoded.values).to_pylist()
    if column.role is not Role.QUASI_IDENTIFIER and SUPPRESSED in texts:
        raise ColumnError(
            "federation.suppressed-cells-ciphertexts-cannot-show",
            "'{column}' has suppressed cells ('{suppressed}'), which ciphertexts cannot show: drop them",
            column=column.name,
            suppressed=SUPPRESSED,
        )
    lines = {text: [canonical(text)] for text in [*texts, *([None] if fill else [])]}
    if column.height:
        for text, line in lines.items():
            line += map(canonical, _labels(column, rules, text))
    least = column.least_level
    shown = {text: [line[least]] * (least + 1) + line[least + 1 :] for text, line in lines.items()}
    place: dict[bytes, int] = {}
    for line in shown.values():
        for token in line:
            place.setdefault(token, len(place))
    first = np.array([place[shown[text][0]] for text in texts], np.int32)
    numbered = {tuple(place[token] for token in line) for line in shown.values()}
    return ShareColumn(
        list(place),
        first[encoded.codes] if len(first) else encoded.codes,
        _as_rules(sorted(numbered), column) if column.height else None,
    )


def _as_rules(lines: list[tuple[int, ...]], column: SharedColumn) -> Codes:
    if len({line[0] for line in lines}) < len(lines):
        raise HierarchyError(
            "federation.two-values-written-same",
            "two values of '{column}' that are written the same generalize differently",
            column=column.name,
        )
    return np.array(lines, np.int32).reshape(len(lines), column.height + 1)


def _labels(column: SharedColumn, rules: Hierarchy | Rule | None, text: str | None) -> list[str]:
    if rules is None:
        raise HierarchyError(
            "federation.contract-says-how-high",
            "the contract says how high the hierarchy of '{column}' is: give it",
            column=column.name,
        )
    try:
        if isinstance(rules, Hierarchy):
            labels = [rules.label(text, level) for level in range(1, rules.height + 1)]
        else:
            labels = [str(label) for label in rules(text)]
    except Exception:  # a function of a site may raise anything, and its text may quote the value
        raise HierarchyError(
            "federation.value-no-line-hierarchy",
            "a value of '{column}' has no line in the hierarchy of this site: add it, or correct the value",
            column=column.name,
        ) from None
    if len(labels) != column.height:
        raise HierarchyError(
            "federation.hierarchy-height-contract-says",
            "the hierarchy of '{column}' has the height {labels}, and the contract says {height}: agree on "
            "one",
            column=column.name,
            labels=len(labels),
            height=column.height,
        )
    return labels


def as_table(share: PartyShare, contract: Contract, levels: Mapping[str, int]) -> pa.Table:
    """A release in plain as Arrow data: values that were not generalized get their type back."""
    data = {}
    for name in (column.name for column in contract.columns):
        part, column = share.parts[name], contract.column(name)
        texts = pa.array([readable(token) for token in part.tokens], pa.string())
        if levels.get(name, 0) == 0:
            try:
                texts = texts.cast(column.type)
            except pa.ArrowException:
                raise ProtocolError(
                    "federation.value-not-type-contract",
                    "a value of '{name}' is not of the type '{kind}' that the contract says: the run ends",
                    name=name,
                    kind=column.kind,
                ) from None
        data[name] = texts.take(pa.array(part.codes))
    return pa.table(data)
