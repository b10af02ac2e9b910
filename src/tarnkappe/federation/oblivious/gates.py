"""Circuits of shared bits: numbers, comparisons, sums and selections, made of AND gates and public wiring.

A number is an array of bit planes, low bit first, along the axis after the shares: shape (2, bits, words).
Lane i of a plane is bit i mod 64 of word i div 64, and belongs to the i-th number. Moving lanes is wiring
and costs nothing. *Wide* arrays hold the cells of a test, where every bit sent counts; *few* numbers are
those of a table, where rounds count, so that sums and comparisons there are trees.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.federation.oblivious.computer import Computer, Shared, Steps
from tarnkappe.federation.oblivious.streams import Words

LANES = 64
Places = npt.NDArray[np.int64]


def bits_of(number: int) -> int:
    """How many bits a number up to this one needs.

    >>> bits_of(5), bits_of(8), bits_of(0)
    (3, 4, 1)
    """
    return max(1, number.bit_length())


def words_for(lanes: int) -> int:
    """How many words so many lanes need."""
    return -(-lanes // LANES)


# ------------------------------------------------------------------ wiring


def unpacked(x: Words, lanes: int) -> npt.NDArray[np.uint8]:
    """The lanes of the last axis one by one."""
    raw = np.ascontiguousarray(x).view(np.uint8)
    return np.unpackbits(raw, axis=-1, count=lanes, bitorder="little")


def packed(lanes: npt.NDArray[np.uint8]) -> Words:
    """Lanes of the last axis as words; those of the last word that are not used are zero."""
    missing = words_for(lanes.shape[-1]) * LANES - lanes.shape[-1]
    padded = np.concatenate([lanes, np.zeros((*lanes.shape[:-1], missing), np.uint8)], axis=-1)
    return np.ascontiguousarray(np.packbits(padded, axis=-1, bitorder="little")).view(np.uint64)


def moved(x: Shared, lanes: int, places: Places) -> Shared:
    """Lanes taken from these places; one may be taken several times."""
    return packed(unpacked(x, lanes)[..., places])


def constants(computer: Computer, numbers: Sequence[int], bits: int) -> Shared:
    """Public numbers, one a lane, as shares."""
    planes = np.array([[number >> bit & 1 for number in numbers] for bit in range(bits)], np.uint8)
    return computer.public(packed(planes.reshape(bits, len(numbers))))


def widened(x: Shared, bits: int) -> Shared:
    """The same numbers with so many bits: zeros above, or high bits that are known to be zero left out."""
    if x.shape[1] >= bits:
        return x[:, :bits]
    return np.concatenate([x, np.zeros((2, bits - x.shape[1], *x.shape[2:]), np.uint64)], axis=1)


# ------------------------------------------------------------------ wide: few bits sent


def either(c: Computer, x: Shared, y: Shared) -> Steps[Shared]:
    """OR."""
    both = yield from c.both(x, y)
    return x ^ y ^ both


def add(c: Computer, x: Shared, y: Shared, bits: int) -> Steps[Shared]:
    """The sum of two numbers by a chain of carries: one AND and one round a bit."""
    x, y = widened(x, bits), widened(y, bits)
    total = np.empty_like(x)
    carry = np.zeros_like(x[:, 0])
    for bit in range(bits):
        a, b = x[:, bit], y[:, bit]
        total[:, bit] = a ^ b ^ carry
        if bit < bits - 1:
            both = yield from c.both(a ^ carry, b ^ carry)
            carry = both ^ carry
    return total


def add_all(c: Computer, numbers: Sequence[Shared], most: int) -> Steps[Shared]:
    """The sum of numbers none of which is greater than `most`, in a tree whose pairs are added at once."""
    greatest = most
    while len(numbers) > 1:
        greatest *= 2
        pairs = len(numbers) // 2
        left, right = (np.stack(numbers[side : 2 * pairs : 2], axis=2) for side in range(2))
        total = yield from add(c, left, right, bits_of(greatest))
        numbers = [*(total[:, :, i] for i in range(pairs)), *numbers[2 * pairs :]]
    return numbers[0]


def at_least(c: Computer, x: Shared, least: int) -> Steps[Shared]:
    """Whether numbers are at least a public one: the borrow of their difference, at most one AND a bit."""
    bits = x.shape[1]
    if least >= 1 << bits:
        return np.zeros_like(x[:, 0])
    borrow: Shared | None = None  # known to be zero
    for bit in range(bits):
        a = x[:, bit]
        if least >> bit & 1:
            if borrow is None:
                borrow = c.invert(a)
            else:
                both = yield from c.both(a, c.invert(borrow))
                borrow = c.invert(both)
        elif borrow is not None:
            borrow = yield from c.both(c.invert(a), borrow)
    return c.invert(np.zeros_like(x[:, 0]) if borrow is None else borrow)


def all_of(c: Computer, flags: Sequence[Shared]) -> Steps[Shared]:
    """AND of several arrays, in a tree."""
    while len(flags) > 1:
        pairs = len(flags) // 2
        left, right = (np.stack(flags[side : 2 * pairs : 2], axis=1) for side in range(2))
        both = yield from c.both(left, right)
        flags = [*(both[:, i] for i in range(pairs)), *flags[2 * pairs :]]
    return flags[0]


def any_of(c: Computer, flags: Sequence[Shared]) -> Steps[Shared]:
    """OR of several arrays, in a tree."""
    none = yield from all_of(c, [c.invert(each) for each in flags])
    return c.invert(none)


def count_of(c: Computer, flags: Shared) -> Steps[Shared]:
    """How many of the flags along the second axis are set."""
    number = flags.shape[1]
    return (yield from weighted_sum(c, flags, np.zeros(number, np.int64), bits_of(number)))


# ------------------------------------------------------------------ few: few rounds


def add_few(c: Computer, x: Shared, y: Shared, bits: int) -> Steps[Shared]:
    """The sum of two numbers, carries by parallel prefix (Kogge, Stone 1973): 1 + log2 bits rounds."""
    x, y = widened(x, bits), widened(y, bits)
    half = x ^ y
    carry = yield from c.both(x, y)
    passes, distance = half.copy(), 1
    while distance < bits:
        above = passes[:, distance:]
        found = yield from c.both(
            np.stack([above, above], axis=1), np.stack([carry[:, :-distance], passes[:, :-distance]], axis=1)
        )
        carry, passes = carry.copy(), passes.copy()
        carry[:, distance:] ^= found[:, 0]
        passes[:, distance:] = found[:, 1]
        distance *= 2
    half[:, 1:] ^= carry[:, :-1]
    return half


def subtract(c: Computer, x: Shared, y: Shared, bits: int) -> Steps[Shared]:
    """X - y modulo 2 to the bits: NOT (NOT x + y)."""
    total = yield from add_few(c, c.invert(widened(x, bits)), y, bits)
    return c.invert(total)


def less(c: Computer, x: Shared, y: Shared) -> Steps[Shared]:
    """Whether x < y: (less, equal) of single bits, combined in a tree, high bits first."""
    bits = max(x.shape[1], y.shape[1])
    x, y = widened(x, bits), widened(y, bits)
    smaller = yield from c.both(c.invert(x), y)
    equal = c.invert(x ^ y)
    while smaller.shape[1] > 1:
        pairs = smaller.shape[1] // 2
        low, high = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
        found = yield from c.both(
            np.stack([equal[:, high], equal[:, high]], axis=1),
            np.stack([smaller[:, low], equal[:, low]], axis=1),
        )
        smaller = np.concatenate([smaller[:, high] ^ found[:, 0], smaller[:, 2 * pairs :]], axis=1)
        equal = np.concatenate([found[:, 1], equal[:, 2 * pairs :]], axis=1)
    return smaller[:, 0]


def select(c: Computer, flag: Shared, x: Shared, y: Shared) -> Steps[Shared]:
    """X where the flag is set, y elsewhere."""
    changed = yield from c.both(np.broadcast_to(flag[:, None], x.shape), x ^ y)
    return changed ^ y


def multiply(c: Computer, x: Shared, y: Shared, bits: int) -> Steps[Shared]:
    """The product, modulo 2 to the bits: all products of bits in one round, then one sum."""
    weights = np.add.outer(np.arange(x.shape[1]), np.arange(y.shape[1]))
    left, right = np.nonzero(weights < bits)
    products = yield from c.both(x[:, left], y[:, right])
    return (yield from weighted_sum(c, products, weights[left, right], bits))


def square(c: Computer, x: Shared, bits: int) -> Steps[Shared]:
    """The square: every mixed product occurs twice, so once at double weight, and x_i x_i is x_i."""
    high, low = np.tril_indices(x.shape[1], -1)
    products = yield from c.both(x[:, high], x[:, low])
    weights = np.concatenate([high + low + 1, 2 * np.arange(x.shape[1])])
    items = np.concatenate([products, x], axis=1)
    kept = weights < bits
    return (yield from weighted_sum(c, items[:, kept], weights[kept], bits))


def weighted_sum(c: Computer, items: Shared, weights: Places, bits: int) -> Steps[Shared]:
    """The sum of bits (2, items, words) that count 2 to their weight each, modulo 2 to the bits."""
    items, weights = yield from compress(c, items, weights, bits)
    rows = np.zeros((2, 2, bits, *items.shape[2:]), np.uint64)
    rank = np.arange(len(weights)) - np.searchsorted(weights, weights)
    rows[:, rank, weights] = items
    return (yield from add_few(c, rows[:, 0], rows[:, 1], bits))


def compress(c: Computer, items: Shared, keys: Places, bits: int) -> Steps[tuple[Shared, Places]]:
    """Bits of equal weight added in threes (carry-save), until each key has at most two items.

    A key is the number of a sum times `bits` plus the weight of a bit in it, so that many sums of different
    lengths take the same rounds. Carries beyond the last weight are left out: sums are modulo 2 to the bits.
    In the last round pairs are added too. Otherwise a single carry would wander from pair to pair, a round
    for each weight.
    Returns the items that are left, in the order of their keys.
    """
    while True:
        order = np.argsort(keys, kind="stable")
        items, keys = items[:, order], keys[order]
        begins = np.flatnonzero(np.diff(keys, prepend=-1))
        sizes = np.diff(begins, append=len(keys))
        most = sizes.max(initial=0)
        if most <= 2:
            return items, keys
        taken = sizes // 3 * 3 if most > 3 else np.where(sizes > 1, sizes, 0)
        rank = np.arange(len(keys)) - np.repeat(begins, sizes)
        used = rank < np.repeat(taken, sizes)
        first = np.flatnonzero(used & (rank % 3 == 0))
        third = np.where(rank[first] + 2 < np.repeat(taken, sizes)[first], first + 2, len(keys))
        padded = np.concatenate([items, np.zeros((2, 1, *items.shape[2:]), np.uint64)], axis=1)
        x, y, z = padded[:, first], padded[:, first + 1], padded[:, third]
        both = yield from c.both(x ^ z, y ^ z)
        carried = keys[first] % bits < bits - 1
        items = np.concatenate([items[:, ~used], x ^ y ^ z, (both ^ z)[:, carried]], axis=1)
        keys = np.concatenate([keys[~used], keys[first], keys[first][carried] + 1])


def least_of(c: Computer, x: Shared, lanes: int) -> Steps[Shared]:
    """The least of all numbers, in one lane: a tournament of halves."""
    while lanes > 1:
        half = -(-lanes // 2)
        left = moved(x, lanes, np.arange(half))
        right = moved(x, lanes, np.minimum(np.arange(half) + half, lanes - 1))
        smaller = yield from less(c, right, left)
        x = yield from select(c, smaller, right, left)
        lanes = half
    return x


def count_per_part(c: Computer, planes: Shared, parts: Places, number: int, bits: int) -> Steps[Shared]:
    """The sums of numbers over the parts of a wide array, one part a lane, modulo 2 to the bits.

    Words of a part are added in threes first. Then the lanes of what is left change places: a word holds
    one lane of 64 parts, and the 64 lanes of a part are 64 items of one sum.

    Args:
        c: who computes.
        planes: (2, planes, words); the words of a part stand together and belong to no other part.
        parts: the part of every word.
        number: how many parts there are.
        bits: of the sums.
    """
    weights = np.arange(min(planes.shape[1], bits))  # higher planes are known to be zero
    keys = np.add.outer(weights, parts * bits).reshape(-1)
    items = planes[:, weights].reshape(2, len(keys))[:, :, None]
    items, keys = yield from compress(c, items, keys, bits)
    rank = np.arange(len(keys)) - np.searchsorted(keys, keys)
    table = np.zeros((2, bits, 2, number), np.uint64)
    table[:, keys % bits, rank, keys // bits] = items[:, :, 0]
    lanes = unpacked(table[..., None], LANES)  # 2, bits, 2, parts, lanes
    turned = packed(np.moveaxis(lanes, 3, 4).reshape(2, bits, 2 * LANES, number))
    items = turned.reshape(2, bits * 2 * LANES, -1)
    return (yield from weighted_sum(c, items, np.repeat(np.arange(bits), 2 * LANES), bits))
