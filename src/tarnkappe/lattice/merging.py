"""The inner loops of grouping: labels are lifted, classes dealt into hands and merged.

Explained in docs/explanation/searches.md.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.lattice.packing import Words
from tarnkappe.native import compiled
from tarnkappe.table.grouping import Codes, Counts, sort_pairs_by_group

HANDS = 64


@compiled
def join(words: Words, others: Words, turn: int) -> Words:
    """Both words in one, the bits of the second turned to the left."""
    # Bits turn around: what leaves the word at the left comes in at its right, so a label may lie across the
    # end. A shift by 64 is undefined in machine code and zero in Python: turned by 0, the second shift must
    # not be made.
    left, right = np.uint64(turn), np.uint64(64 - turn)
    joined = np.empty(len(words), np.uint64)
    for row in range(len(words)):
        other = others[row] << left
        if turn > 0:
            other |= others[row] >> right
        joined[row] = words[row] | other
    return joined


@compiled
def lift_word(words: Words, same: np.uint64, fields: Counts, tables: Words) -> Words:
    """The labels of classes at higher levels."""
    # Labels that stay are copied with one mask, all columns at once; each column that rises adds its bits by
    # a table whose entries are shifted already. Column by column, rows inside: the table of one column stays
    # in the cache.
    lifted = np.empty(len(words), np.uint64)
    for row in range(len(words)):
        lifted[row] = words[row] & same
    for field in range(len(fields)):
        shift, mask = np.uint64(fields[field, 0]), np.uint64(fields[field, 1])
        start = np.uint64(fields[field, 2])
        for row in range(len(words)):
            lifted[row] |= tables[start + (words[row] >> shift & mask)]
    return lifted


@compiled
def hand_of(word: np.uint64) -> np.int64:
    """In which hand a word is."""
    # Equal words must get equal hands, or classes that are to be merged never meet.
    # Another hash than that of `merge`, which would find all slots of a hand in one place.
    mixed = (word ^ word >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(mixed >> np.uint64(40) & np.uint64(HANDS - 1))


@compiled
def deal(words: Words, sizes: Counts, begin: int, end: int) -> tuple[Words, Counts]:
    """The rows in some hands, hand by hand, and where each hand begins.

    A row is its word beside another with its size and its number, so that each hand is written in one place.
    """
    # Counting sort in two passes: hands before `begin` get no room, and a place moves on only after it was
    # used. Sizes and row numbers share a word, so both stay below 2**32; 16 bytes for each row of these
    # hands.
    number = np.zeros(HANDS + 1, np.int64)
    for row in range(len(words)):
        number[hand_of(words[row]) + 1] += 1
    number[: begin + 1] = 0
    places = np.cumsum(number)
    starts = places[begin : end + 1].copy()
    dealt = np.empty((places[end], 2), np.uint64)
    for row in range(len(words)):
        hand = hand_of(words[row])
        if begin <= hand < end:
            place = places[hand]
            places[hand] += 1
            dealt[place, 0] = words[row]
            dealt[place, 1] = np.uint64(sizes[row]) << np.uint64(32) | np.uint64(row)
    return dealt, starts


@compiled
def pick_up(dealt: Words) -> tuple[Words, Counts, Counts]:
    """The words, sizes and numbers of rows that were dealt."""
    # The opposite of the packing in `deal`: the size is in the high 32 bits, the number of the row in the low
    # ones. Three arrays, since `merge` reads words alone most of the time and would load twice as much from
    # pairs.
    words, sizes = np.empty(len(dealt), np.uint64), np.empty(len(dealt), np.int64)
    rows = np.empty(len(dealt), np.int64)
    for place in range(len(dealt)):
        words[place] = dealt[place, 0]
        sizes[place] = dealt[place, 1] >> np.uint64(32)
        rows[place] = dealt[place, 1] & np.uint64(0xFFFFFFFF)
    return words, sizes, rows


@compiled
def take_entries(rows: Counts, offsets: Counts, codes: Codes, counts: Counts) -> tuple[Counts, Codes, Counts]:
    """The entries of some classes."""
    # Classes have entries one after the other (offsets, codes, counts). The offsets are summed first, so that
    # every array is allocated once with its exact size; copies of whole ranges are then as fast as memory.
    taken_offsets = np.zeros(len(rows) + 1, np.int64)
    for index in range(len(rows)):
        taken_offsets[index + 1] = taken_offsets[index] + offsets[rows[index] + 1] - offsets[rows[index]]
    taken_codes = np.empty(taken_offsets[-1], np.int32)
    taken_counts = np.empty(taken_offsets[-1], np.int64)
    for index in range(len(rows)):
        begin, end = offsets[rows[index]], offsets[rows[index] + 1]
        place = taken_offsets[index]
        taken_codes[place : place + end - begin] = codes[begin:end]
        taken_counts[place : place + end - begin] = counts[begin:end]
    return taken_offsets, taken_codes, taken_counts


@compiled
def merge(words: Words, sizes: Counts, most: int) -> tuple[Counts, Codes, Counts]:
    """Merge classes with the same word, of which there are at most so many, numbered as they first occur.

    Returns the first class of each merged one, the merged one of each class, and sizes.
    """
    # Fibonacci hashing: the high bits of the product depend on all bits of the word. At most half of the
    # slots are taken, so probing is short; with less room than `most` distinct words the inner loop would
    # never end. Slots have 4 bytes and `known` the words: an empty table is what costs, at every node anew.
    # Classes are numbered as they first occur, so results do not depend on the hash.
    bits = 11
    while 1 << bits < 2 * most:
        bits += 1
    slots = np.full(1 << bits, -1, np.int32)
    down, wrap = np.uint64(64 - bits), np.uint64((1 << bits) - 1)
    first = np.empty(most, np.int64)
    known = np.empty(most, np.uint64)
    size = np.zeros(most, np.int64)
    ids = np.empty(len(words), np.int32)
    groups = 0
    for row in range(len(words)):
        word = words[row]
        slot = word * np.uint64(0x9E3779B97F4A7C15) >> down
        group = slots[slot]
        while group >= 0 and known[group] != word:
            slot = slot + np.uint64(1) & wrap
            group = slots[slot]
        if group < 0:
            group = groups
            slots[slot] = group
            known[group] = word
            first[group] = row
            groups += 1
        ids[row] = group
        size[group] += sizes[row]
    return first[:groups].copy(), ids, size[:groups].copy()


@compiled
def merge_counts(ids: Codes, counts: Counts, num_groups: int) -> Counts:
    """Add up counts of the classes that were merged; without counts, nothing."""
    # `ids` come from `merge`. A criterion without counts has an empty array, and gets one: the test is once
    # here instead of in every caller. Time is that of the classes before merging.
    sums = np.zeros(num_groups if len(counts) else 0, np.int64)
    for row in range(len(counts)):
        sums[ids[row]] += counts[row]
    return sums


@compiled
def merge_entries(
    ids: Codes, num_groups: int, offsets: Counts, codes: Codes, counts: Counts, cardinality: int
) -> tuple[Counts, Codes, Counts]:
    """Add up the counts of the classes that were merged."""
    # `sums` has one place for each code and is zero between two groups: the last loop clears what the group
    # used, and no more, so time is that of the entries and not groups times codes. Counts are above zero, or
    # a code would be written twice. Codes of a group are in the order in which they first occur.
    order, starts = sort_pairs_by_group(ids, num_groups)
    sums = np.zeros(cardinality, np.int64)
    merged_offsets = np.zeros(num_groups + 1, np.int64)
    merged_codes = np.empty(len(codes), np.int32)
    merged_counts = np.empty(len(codes), np.int64)
    place = 0
    for group in range(num_groups):
        begin = place
        for old in order[starts[group] : starts[group + 1]]:
            for entry in range(offsets[old], offsets[old + 1]):
                code = codes[entry]
                if sums[code] == 0:
                    merged_codes[place] = code
                    place += 1
                sums[code] += counts[entry]
        for entry in range(begin, place):
            merged_counts[entry] = sums[merged_codes[entry]]
            sums[merged_codes[entry]] = 0
        merged_offsets[group + 1] = place
    return merged_offsets, merged_codes[:place].copy(), merged_counts[:place].copy()
