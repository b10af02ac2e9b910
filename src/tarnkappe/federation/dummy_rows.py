"""Made-up rows: whoever anonymizes is not told which rows are true.

They do not hide which values ciphertexts stand for: `decoding` reads as many cells with them as without.

Every cell of a made-up row is a value that occurs at its party, so no value gives the row away, no rule
is added, and the labels that the search counts are those of the true table. What differs is which values
stand together, and how often.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tarnkappe.federation.ciphers import PublicKey, derive
from tarnkappe.federation.ciphers.long_numbers import mpz
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.party_share import MADE_UP
from tarnkappe.federation.share import PartyShare, concatenate
from tarnkappe.privacy import KAnonymity
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table.encoding import Counts
from tarnkappe.table.grouping import group_codes, sum_by_group

KEY_LENGTH = 16


def block_size(contract: Contract) -> int:
    """How many made-up rows of data that are joined by a key are equal.

    A group of fewer rows than every class must have, at levels that pass without suppression, has no true
    row: whoever sees the rows would know. Equal rows stay together at all levels.
    """
    return max([1, *(part.k for m in contract.models for part in m.parts if isinstance(part, KAnonymity))])


def made_up_rows(
    share: PartyShare, contract: Contract, party: str, secret: bytes, chance: Chance
) -> PartyShare:
    """Rows to be mixed with those of the share of a party; who has the same people names them the same."""
    wanted = math.ceil(contract.made_up_share * share.num_rows)
    if contract.key is None:
        return _crossed(share, wanted, chance)
    size = block_size(contract)
    blocks = -(-wanted // size)
    drawn = np.repeat(_drawn(share.num_rows, blocks, chance), size)
    name = f"made up\0{contract.people_with(party)[0]}"
    keys = [
        MADE_UP + derive(secret, contract.digest, f"{name}\0{i}")[:KEY_LENGTH] for i in range(blocks * size)
    ]
    return dataclasses.replace(share.take(drawn), keys=keys)


def _crossed(share: PartyShare, number: int, chance: Chance) -> PartyShare:
    """Rows that have some of their cells from one true row and the others from another."""
    one, other = (_drawn(share.num_rows, number, chance) for _ in range(2))
    crossed = {}
    for name, part in share.parts.items():
        from_one = chance.keys(number) % 2 == 0
        crossed[name] = dataclasses.replace(part, codes=part.codes[np.where(from_one, one, other)])
    return PartyShare(crossed, number)


def _drawn(num_rows: int, number: int, chance: Chance) -> Counts:
    if num_rows == 0:
        return np.empty(0, np.int64)
    return (chance.keys(number) % np.uint64(num_rows)).astype(np.int64)


def counted(
    true: PartyShare, made_up: PartyShare, contract: Contract, party: str
) -> tuple[PartyShare, Counts]:
    """True and made-up rows together, and how many true rows each stands for.

    Where rows have no key, equal ones become one: then the number of visible rows of a group is no bound for
    the true one. Where they are joined, one party counts for all that have the same people, since the counts
    of all are added.
    """
    both = concatenate([true, made_up])
    counts = np.repeat([1, 0], [true.num_rows, made_up.num_rows]).astype(np.int64)
    if contract.key is not None:
        return both, counts if contract.is_counting(party) else np.zeros_like(counts)
    parts = both.parts.values()
    groups = group_codes([part.codes for part in parts], [len(part.tokens) for part in parts])
    return both.take(groups.representatives), sum_by_group(groups.ids, counts, groups.num_groups)


def with_counters(share: PartyShare, counts: Counts, public: PublicKey) -> PartyShare:
    """A share with an encrypted counter for every row."""
    counters: list[mpz] = public.encrypt(counts.tolist())
    return dataclasses.replace(share, counters=counters)
