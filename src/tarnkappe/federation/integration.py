"""How a helper puts encrypted shares together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.ciphers.long_numbers import mpz
from tarnkappe.federation.contract import Contract, Partitioning
from tarnkappe.federation.share import PartyShare, ShareColumn, concatenate, concatenate_parts, join
from tarnkappe.table.classes import Mask

SumCounters = Callable[[Sequence[list[mpz]]], list[mpz]]


def integrate(
    shares: Mapping[str, PartyShare],
    contract: Contract,
    absent: Mapping[str, bytes],
    sum_counters: SumCounters = lambda counters: counters[0],
) -> PartyShare:
    """One table of all shares: columns of the same people side by side, different people one below the other.

    Args:
        shares: that of each party with data.
        contract: what all have agreed on.
        absent: for each column the token of a missing value, where absent people are filled in.
        sum_counters: how the counters of one person are added.
    """
    names = [column.name for column in contract.columns]
    if not contract.people:
        return _person_by_person(names, list(shares.values()), absent)
    if contract.distribution is not Partitioning.HORIZONTAL:
        filled = absent if contract.fill_absent else None
        groups = [{party: shares[party] for party in group} for group in contract.people]
        if len(groups) > 1:
            _refuse_people_of_two_groups(groups)
        whole = concatenate([_side_by_side(group, filled, sum_counters) for group in groups])
    else:
        whole = concatenate([shares[party] for party in contract.parties])
    return whole.in_order_of_columns(names)


def _side_by_side(
    shares: Mapping[str, PartyShare], absent: Mapping[str, bytes] | None, sum_counters: SumCounters
) -> PartyShare:
    """The columns of parties that have the same people."""
    everybody = sorted({key for share in shares.values() for key in share.keys or []})
    aligned = []
    for party, share in shares.items():
        known = (share if absent is None else _filled(share, everybody, absent)).sorted_by_key()
        if known.keys != everybody:
            missing = len(set(everybody) - set(known.keys or []))
            raise ProtocolError(
                "federation.lacks-people-others-let",
                "'{party}' lacks {missing} of the {everybody} people of the others: let the parties link "
                "their data first, or allow absent people to be filled in; the run ends",
                party=party,
                missing=missing,
                everybody=len(everybody),
            )
        aligned.append(known)
    return join(aligned, sum_counters)


def _refuse_people_of_two_groups(groups: Sequence[Mapping[str, PartyShare]]) -> None:
    """Nobody may be counted twice."""
    people = [{key for share in group.values() for key in share.keys or []} for group in groups]
    twice = sum(map(len, people)) - len(set().union(*people))
    if twice:
        raise ProtocolError(
            "federation.people-known-more-region",
            "{twice} {twice:person is|people are} known in more than one region: leave {twice:that "
            "one|them} out of all but one; the run ends",
            twice=twice,
        )


def _person_by_person(
    names: Sequence[str], shares: Sequence[PartyShare], absent: Mapping[str, bytes]
) -> PartyShare:
    """The columns of everybody, whoever has them."""
    everybody = sorted({key for share in shares for key in share.keys or []})
    columns = {name: _column_of_all(name, shares, everybody, absent.get(name)) for name in names}
    return PartyShare(columns, len(everybody), members=_members_of_all(shares, everybody))


def _members_of_all(shares: Sequence[PartyShare], everybody: Sequence[bytes]) -> Mask | None:
    marked: dict[bytes, bool] = {}
    for share in shares:
        if share.members is not None:
            for key, member in zip(share.keys or [], share.members.tolist(), strict=True):
                if marked.setdefault(key, member) != member:
                    raise ProtocolError(
                        "federation.two-parties-disagree-whether",
                        "two parties disagree on whether a person is released: the run ends",
                    )
    if not marked:
        return None
    if len(marked) < len(everybody):
        raise ProtocolError(
            "federation.nobody-says-some-people",
            "nobody says of some people whether they are released: the run ends",
        )
    return np.array([marked[key] for key in everybody], bool)


def _filled(share: PartyShare, everybody: Sequence[bytes], absent: Mapping[str, bytes]) -> PartyShare:
    known = set(share.keys or [])
    new = [key for key in everybody if key not in known]
    parts = {name: _with_absent(part, absent[name], len(new)) for name, part in share.parts.items()}
    return PartyShare(parts, share.num_rows + len(new), [*(share.keys or []), *new])


def _column_of_all(
    name: str, shares: Sequence[PartyShare], everybody: Sequence[bytes], absent: bytes | None
) -> ShareColumn:
    """A column that several parties have, each for some people; whom two of them have, they must agree on."""
    holders = [share for share in shares if name in share.parts]
    part = concatenate_parts(name, [share.parts[name] for share in holders])
    code_of: dict[bytes, int] = {}
    keys = (key for share in holders for key in share.keys or [])
    for key, code in zip(keys, part.codes.tolist(), strict=True):
        if code_of.setdefault(key, code) != code:
            raise ProtocolError(
                "federation.two-parties-different-values",
                "two parties have different values of '{name}' for one person: the run ends",
                name=name,
            )
    if absent is not None:
        part = _with_absent(part, absent, 0)
    elif len(code_of) < len(everybody):
        lacking = len(everybody) - len(code_of)
        raise ProtocolError(
            "federation.nobody-people-allow-absent",
            "nobody has '{name}' of {lacking} of {everybody} people: allow absent people to be filled in, "
            "or leave them out; the run ends",
            name=name,
            lacking=lacking,
            everybody=len(everybody),
        )
    placeholder = -1 if absent is None else part.tokens.index(absent)
    codes = np.array([code_of.get(key, placeholder) for key in everybody], np.int32)
    return ShareColumn(part.tokens, codes, part.rules)


def _with_absent(part: ShareColumn, token: bytes, number: int) -> ShareColumn:
    tokens = part.tokens if token in part.tokens else [*part.tokens, token]
    added = np.full(number, tokens.index(token), np.int32)
    return ShareColumn(tokens, np.concatenate([part.codes, added]), part.rules)
