"""How tables travel: Arrow streams whose length depends on the shape of the data alone.

Nothing is compressed, codes take as many bytes as the number of tokens needs, and all tokens of a column
have one length. So whoever watches the wire learns how many rows, tokens and rules there are, and
nothing of what they say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.ciphers import PublicKey
from tarnkappe.federation.share import PartyShare, ShareColumn, Tokens
from tarnkappe.table.encoding import Codes

Tables = Mapping[str, pa.Table]

LENGTH = 8
ROWS, KEYS, COUNTERS, MEMBERS = "rows", "keys", "counters", "members"
TOKENS, RULES = "tokens/", "rules/"


def pack(tables: Tables) -> bytes:
    """Several named tables as bytes."""
    pieces = []
    for name, table in tables.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        body, label = sink.getvalue().to_pybytes(), name.encode()
        pieces += [len(label).to_bytes(LENGTH), label, len(body).to_bytes(LENGTH), body]
    return b"".join(pieces)


def unpack(body: bytes, sender: str) -> dict[str, pa.Table]:
    """The tables again; what is damaged is refused."""
    tables: dict[str, pa.Table] = {}
    position = 0

    def piece() -> bytes:
        nonlocal position
        length = int.from_bytes(body[position : position + LENGTH])
        start, position = position + LENGTH, position + LENGTH + length
        if position > len(body):
            raise ValueError("cut off")
        return body[start:position]

    try:
        while position < len(body):
            name = piece().decode()
            table = pa.ipc.open_stream(piece()).read_all()
            table.validate(full=True)
            tables[name] = table
    except (ValueError, OSError, pa.ArrowException, UnicodeDecodeError):
        raise ProtocolError(
            "federation.sent-message-cannot-read",
            "'{sender}' sent a message that cannot be read: the run ends",
            sender=sender,
        ) from None
    return tables


def token_table(tokens: Tokens) -> pa.Table:
    """Tokens of one length as a table."""
    sizes = {len(token) for token in tokens}
    kind = pa.binary(sizes.pop()) if len(sizes) == 1 else pa.binary()
    return pa.table({"token": pa.array(tokens, kind)})


def tokens_of(tables: Tables, name: str, sender: str) -> Tokens:
    """Tokens from a table."""
    try:
        return [bytes(token) for token in tables[name].column("token").to_pylist()]
    except (KeyError, TypeError):
        raise ProtocolError(
            "federation.sent-message-without-run",
            "'{sender}' sent a message without {name}: the run ends",
            sender=sender,
            name=name,
        ) from None


def share_tables(share: PartyShare, public: PublicKey | None = None) -> dict[str, pa.Table]:
    """A share as tables; the public key is that of its counters."""
    rows: dict[str, Any] = {name: _narrow(part) for name, part in share.parts.items()}
    tables = {ROWS: pa.table(rows) if rows else pa.table({"": pa.nulls(share.num_rows)})}
    for name, part in share.parts.items():
        tables[TOKENS + name] = token_table(part.tokens)
        if part.rules is not None:
            levels = {f"{i}": part.rules[:, i].astype(np.int32) for i in range(part.rules.shape[1])}
            tables[RULES + name] = pa.table(levels)
    if share.keys is not None:
        tables[KEYS] = token_table(share.keys)
    if share.counters is not None:
        assert public is not None
        tables[COUNTERS] = token_table(public.to_bytes(share.counters))
    if share.members is not None:
        tables[MEMBERS] = pa.table({"member": share.members.astype(np.uint8)})
    return tables


def _narrow(part: ShareColumn) -> pa.Array:
    kind = np.min_scalar_type(max(len(part.tokens) - 1, 0))
    return pa.array(part.codes.astype(kind))


def read_share(tables: Tables, sender: str, public: PublicKey | None = None) -> PartyShare:
    """A share from tables; codes that point nowhere are refused."""
    if ROWS not in tables:
        raise ProtocolError(
            "federation.sent-message-without-rows",
            "'{sender}' sent a message without rows: the run ends",
            sender=sender,
        )
    rows = tables[ROWS]
    parts = {}
    for name in filter(None, rows.column_names):
        tokens = tokens_of(tables, TOKENS + name, sender)
        codes = _codes(rows.column(name), len(tokens), sender)
        rules = None
        if RULES + name in tables:
            levels = [_codes(level, len(tokens), sender) for level in tables[RULES + name].columns]
            rules = np.column_stack(levels) if levels else np.empty((0, 0), np.int32)
        parts[name] = ShareColumn(tokens, codes, rules)
    share = PartyShare(
        parts,
        rows.num_rows,
        tokens_of(tables, KEYS, sender) if KEYS in tables else None,
        None if public is None else public.from_bytes(tokens_of(tables, COUNTERS, sender), sender),
        tables[MEMBERS].column("member").to_numpy().astype(bool) if MEMBERS in tables else None,
    )
    for beside in (share.keys, share.counters, share.members):
        if beside is not None and len(beside) != share.num_rows:
            raise ProtocolError(
                "federation.sent-rows-not-fit",
                "'{sender}' sent rows that do not fit together: the run ends",
                sender=sender,
            )
    return share


def _codes(column: pa.ChunkedArray, number: int, sender: str) -> Codes:
    good = pa.types.is_integer(column.type) and not column.null_count
    codes = column.to_numpy().astype(np.int64) if good else np.array([-1])
    if len(codes) and not 0 <= codes.min() <= codes.max() < number:
        raise ProtocolError(
            "federation.sent-codes-stand-nothing-run",
            "'{sender}' sent codes that stand for nothing: the run ends",
            sender=sender,
        )
    return codes.astype(np.int32)


def facts_table(**facts: Any) -> pa.Table:
    """A few numbers and lists as a table of one row."""
    return pa.table({name: [value] for name, value in facts.items()})


def facts_of(tables: Tables, sender: str) -> dict[str, Any]:
    """The facts again."""
    try:
        (facts,) = tables["facts"].to_pylist()
    except (KeyError, ValueError):
        raise ProtocolError(
            "federation.sent-message-without-facts",
            "'{sender}' sent a message without its facts: the run ends",
            sender=sender,
        ) from None
    return dict(facts)
