"""Whether somebody is known to several sites, found without telling who, how many, or to whom.

Each site makes a tag of every person and sorts its own. The sorted lists are merged on shared bits by bitonic
merging (Batcher 1968, doi:10.1145/1468075.1468121): which tags are compared depends on the sizes of the lists
alone. Then equal tags stand side by side. One bit is opened: whether there are any.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

import numpy as np

from tarnkappe.federation.contract import Contract
from tarnkappe.federation.oblivious import gates
from tarnkappe.federation.oblivious.computer import Computer, Shared, Steps
from tarnkappe.federation.oblivious.streams import Words
from tarnkappe.federation.people import people_of
from tarnkappe.table import Table

TAG_BITS = 64
"""Two people have the same tag with a chance of N² / 2^65: of a million people 3e-8."""
PLANES = TAG_BITS + 1
"""The highest bit says that there is nobody: all lists have one length, and those who are none come last."""
LENGTH_SIZE = 4


def tags_of(table: Table, contract: Contract) -> Words:
    """The tags of all people of a site, in ascending order.

    They are never opened, so their key need not be secret: it keeps tags of two contracts apart.
    """
    tags = []
    for person in people_of(table, contract.person):
        fields = [field.encode() for field in person]
        message = b"".join(len(field).to_bytes(LENGTH_SIZE) + field for field in fields)
        tags.append(hmac.digest(contract.digest, message, hashlib.sha256)[: TAG_BITS // 8])
    return np.sort(np.frombuffer(b"".join(tags), ">u8").astype(np.uint64))


def lanes_for(rows: Sequence[int]) -> int:
    """How long the list of each site is: a power of two, and whole words."""
    return max(gates.LANES, 1 << (max(rows) - 1).bit_length()) if max(rows) else gates.LANES


def planes_of(tags: Words, lanes: int) -> Words:
    """A list of tags as planes of bits, filled up with nobody."""
    bits = np.ones((PLANES, lanes), np.uint8)
    bits[TAG_BITS, : len(tags)] = 0
    bits[:TAG_BITS, : len(tags)] = tags >> np.arange(TAG_BITS, dtype=np.uint64)[:, None] & np.uint64(1)
    return gates.packed(bits)


def somebody_repeats(c: Computer, lists: Sequence[Shared], lanes: int) -> Steps[Shared]:
    """Whether some tag stands in several lists, in the first lane.

    Args:
        c: who computes.
        lists: the tags of each site, in ascending order.
        lanes: how long each list is.
    """
    merged, lanes = yield from _merged(c, lists, lanes)
    here = np.arange(lanes - 1)
    before, after = gates.moved(merged, lanes, here), gates.moved(merged, lanes, here + 1)
    same = c.invert(before ^ after)
    flags = [*(same[:, bit] for bit in range(TAG_BITS)), c.invert(after[:, TAG_BITS])]
    repeats = yield from gates.all_of(c, flags)
    repeats = repeats & gates.packed(np.ones(lanes - 1, np.uint8))  # lanes behind the last pair are no pairs
    while repeats.shape[-1] > 1:
        half = -(-repeats.shape[-1] // 2)
        rest = repeats[..., half:]
        filled = np.concatenate([rest, np.zeros((2, half - rest.shape[-1]), np.uint64)], axis=-1)
        repeats = yield from gates.either(c, repeats[..., :half], filled)
    single = [gates.moved(repeats, gates.LANES, np.array([lane])) for lane in range(gates.LANES)]
    return (yield from gates.any_of(c, single))


def _merged(c: Computer, lists: Sequence[Shared], lanes: int) -> Steps[tuple[Shared, int]]:
    """All lists in one ascending list; pairs of lists are merged side by side."""
    nobody = c.public(planes_of(np.empty(0, np.uint64), lanes))
    lists = [*lists, *[nobody] * ((1 << (len(lists) - 1).bit_length()) - len(lists))]
    while len(lists) > 1:
        backwards = [gates.moved(each, lanes, np.arange(lanes)[::-1]) for each in lists[1::2]]
        pairs = [np.concatenate(pair, axis=-1) for pair in zip(lists[::2], backwards, strict=True)]
        lanes *= 2
        both = np.stack(pairs, axis=2)  # 2, planes, pairs, words
        distance = lanes // 2
        while distance:
            both = yield from _compared(c, both, lanes, distance)
            distance //= 2
        lists = [both[:, :, pair] for pair in range(both.shape[2])]
    return lists[0], lanes


def _compared(c: Computer, x: Shared, lanes: int, distance: int) -> Steps[Shared]:
    """One layer: of every two lanes at this distance the lower one gets the lower tag."""
    low = np.flatnonzero(np.arange(lanes) // distance % 2 == 0)
    first, second = gates.moved(x, lanes, low), gates.moved(x, lanes, low + distance)
    swap = yield from gates.less(c, second, first)
    changed = yield from c.both(np.broadcast_to(swap[:, None], first.shape), first ^ second)
    back = np.argsort(np.concatenate([low, low + distance]))
    return gates.moved(np.concatenate([first ^ changed, second ^ changed], axis=-1), lanes, back)
