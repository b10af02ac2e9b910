"""How encrypted counts travel between the helper and the holder of their key."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.arrow_wire import Tables, tokens_of
from tarnkappe.federation.ciphers import PublicKey
from tarnkappe.federation.ciphers.long_numbers import mpz
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.counting import ValueCounts
from tarnkappe.table.encoding import Codes, Counts

Decrypt = Callable[[list[mpz]], list[int]]

GROUP, VALUE, COUNTER = "group", "value", "token"


def counter_table(counters: list[mpz], public: PublicKey, **codes: Codes) -> pa.Table:
    """Counters, re-randomized so that who has made one does not find it again, with codes beside them."""
    fresh = public.to_bytes(public.rerandomize(counters))
    columns = {name: pa.array(values.astype(np.int32)) for name, values in codes.items()}
    return pa.table({COUNTER: pa.array(fresh, pa.binary(public.size)), **columns})


def read_counters(table: pa.Table, public: PublicKey, sender: str) -> list[mpz]:
    """The counters again."""
    return public.from_bytes(tokens_of({"counters": table}, "counters", sender), sender)


def read_counts(table: pa.Table, public: PublicKey, sender: str, decrypt: Decrypt) -> tuple[Counts, Codes]:
    """Counts of values, with the labels of each value level by level."""
    counts = np.array(decrypt(read_counters(table, public, sender)), np.int64)
    levels = [table.column(name).to_numpy() for name in table.column_names if name != COUNTER]
    return counts, np.column_stack(levels).astype(np.int32)


def read_values(tables: Tables, name: str, public: PublicKey, sender: str, decrypt: Decrypt) -> ValueCounts:
    """Counts of the values of a column in every group."""
    try:
        table = tables[f"values/{name}"]
        groups, values = (table.column(column).to_numpy().astype(np.int32) for column in (GROUP, VALUE))
    except KeyError:
        raise ProtocolError(
            "federation.sent-test-without-values",
            "'{sender}' sent a test without the values of '{name}': the run ends",
            sender=sender,
            name=name,
        ) from None
    counts = np.array(decrypt(read_counters(table, public, sender)), np.int64)
    lines = None
    if f"lines/{name}" in tables:
        levels = tables[f"lines/{name}"].columns
        lines = np.column_stack([level.to_numpy() for level in levels]).astype(np.int32)
    return ValueCounts(groups, values, counts, lines)


def read_public_key(tables: Tables, sender: str, contract: Contract) -> PublicKey:
    """The key of the counters, from the party that holds its other half."""
    numbers = [mpz(int.from_bytes(token)) for token in tokens_of(tables, "key", sender)]
    right = sender == contract.key_holder and len(numbers) == 2
    if (
        not right
        or int(numbers[0]).bit_length() != contract.counter_bits
        or not 1 < numbers[1] < numbers[0] ** 2
    ):
        raise ProtocolError(
            "federation.sent-key-counters-none",
            "'{sender}' sent a key for counters that is none: the run ends",
            sender=sender,
        )
    return PublicKey(*numbers)
