"""How a helper puts encrypted shares together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.ciphers.long_numbers import mpz
from tarnkappe.federation.contract import Contract, Distribution
from tarnkappe.federation.share import Part, Share, concatenate, concatenate_parts, join


def integrate(
    shares: Sequence[Share],
    contract: Contract,
    absent: Mapping[str, bytes],
    sum_counters: Callable[[Sequence[list[mpz]]], list[mpz]] = lambda counters: counters[0],
) -> Share:
    """One table of all shares: rows of the same columns, or columns of the same people.

    Args:
        shares: one of each party.
        contract: what all have agreed on.
        absent: for each column the token of a missing value, where absent people are filled in.
        sum_counters: how the counters of one person are added.
    """
    names = [column.name for column in contract.columns]
    if contract.distribution is Distribution.HORIZONTAL:
        return concatenate(shares).in_order_of_columns(names)
    everybody = sorted({key for share in shares for key in share.keys or []})
    if contract.distribution is Distribution.HYBRID:
        columns = {name: _column_of_all(name, shares, everybody, absent.get(name)) for name in names}
        return Share(columns, len(everybody))
    if contract.fill_absent:
        shares = [_filled(share, everybody, absent) for share in shares]
    aligned = [share.sorted_by_key() for share in shares]
    for share, party in zip(aligned, contract.parties, strict=True):
        if share.keys != everybody:
            missing = len(set(everybody) - set(share.keys or []))
            raise ProtocolError(
                f"'{party}' lacks {missing} of the {len(everybody)} people of the others: let the parties "
                "link their data first, or allow absent people to be filled in; the run ends"
            )
    return join(aligned, sum_counters).in_order_of_columns(names)


def _filled(share: Share, everybody: Sequence[bytes], absent: Mapping[str, bytes]) -> Share:
    known = set(share.keys or [])
    new = [key for key in everybody if key not in known]
    parts = {name: _with_absent(part, absent[name], len(new)) for name, part in share.parts.items()}
    return Share(parts, share.num_rows + len(new), [*(share.keys or []), *new])


def _column_of_all(
    name: str, shares: Sequence[Share], everybody: Sequence[bytes], absent: bytes | None
) -> Part:
    """A column that several parties have, each for some people; whom two of them have, they must agree on."""
    holders = [share for share in shares if name in share.parts]
    part = concatenate_parts(name, [share.parts[name] for share in holders])
    code_of: dict[bytes, int] = {}
    keys = (key for share in holders for key in share.keys or [])
    for key, code in zip(keys, part.codes.tolist(), strict=True):
        if code_of.setdefault(key, code) != code:
            raise ProtocolError(f"two parties have different values of '{name}' for one person: the run ends")
    if absent is not None:
        part = _with_absent(part, absent, 0)
    elif len(code_of) < len(everybody):
        lacking = len(everybody) - len(code_of)
        raise ProtocolError(
            f"nobody has '{name}' of {lacking} of {len(everybody)} people: allow absent people to be filled "
            "in, or leave them out; the run ends"
        )
    placeholder = -1 if absent is None else part.tokens.index(absent)
    codes = np.array([code_of.get(key, placeholder) for key in everybody], np.int32)
    return Part(part.tokens, codes, part.rules)


def _with_absent(part: Part, token: bytes, number: int) -> Part:
    tokens = part.tokens if token in part.tokens else [*part.tokens, token]
    added = np.full(number, tokens.index(token), np.int32)
    return Part(tokens, np.concatenate([part.codes, added]), part.rules)
