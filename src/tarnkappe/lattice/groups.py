"""The classes of a node in packed form, from which those of every node above it are made (roll-up).

Generalization only merges classes, so a node above is grouped from the classes below and not from the rows:
sizes add up, and so do the counts of sensitive values. All a model or a loss looks at is carried along.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from typing import NamedTuple

import numpy as np

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.packing import WORD, Packing, Words
from tarnkappe.lattice.problem import Problem
from tarnkappe.native import compiled
from tarnkappe.table import Classes, Column, Distribution
from tarnkappe.table.grouping import Codes, Counts, sort_pairs_by_group
from tarnkappe.table.parallel import in_order

ALL_BITS = (1 << WORD) - 1


CLASSES_PER_CORE = 100_000
"""A core that takes a part of the work gets at least so many classes."""


class Entries(NamedTuple):
    """The counts of the values of a column in each class, as in `Distribution`."""

    offsets: Counts
    codes: Codes
    counts: Counts


class Counted(NamedTuple):
    """A column, or a combination of columns, whose values are counted in each class."""

    names: tuple[str, ...]
    column: Column
    totals: Counts


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """What all classes of one problem have in common."""

    problem: Problem
    packing: Packing
    counted: tuple[Counted, ...]

    @classmethod
    def of(cls, problem: Problem, distributions: tuple[tuple[str, ...], ...]) -> Frame:
        """The frame of a problem in which some distributions are looked at."""
        whole = problem.tuples.classes((), distributions=distributions).distributions
        counted = tuple(Counted(names, each.column, each.totals) for names, each in whole.items())
        return cls(problem, Packing(problem.columns), counted)


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """The classes of one node.

    Attributes:
        frame: what all nodes have in common.
        node: the levels.
        words: the labels of each class, packed.
        representatives: one tuple of each class.
        sizes: the rows of each class.
        population: the rows of the population in each class, or an empty array without a population.
        entries: the counts of sensitive values.
    """

    frame: Frame
    node: Node
    words: tuple[Words, ...]
    representatives: Counts
    sizes: Counts
    population: Counts
    entries: tuple[Entries, ...]

    @classmethod
    def of_tuples(cls, problem: Problem, distributions: tuple[tuple[str, ...], ...]) -> Groups:
        """The classes at the lowest node that may be chosen."""
        frame, tuples = Frame.of(problem, distributions), problem.tuples
        every = np.arange(tuples.num_tuples + 1)
        entries = []
        for counted in frame.counted:
            weights = tuples.visible_counts(counted.names)
            offsets = np.concatenate([[0], np.cumsum(weights > 0)])
            entries.append(Entries(offsets, counted.column.codes[weights > 0], weights[weights > 0]))
        rows = cls(
            frame,
            problem.lattice.bottom,
            frame.packing.pack([column.codes for column in problem.columns]),
            every[:-1],
            tuples.counts,
            np.zeros(0, np.int64) if tuples.population is None else tuples.population,
            tuple(entries),
        )
        return rows.at(tuple(levels[0] for levels in problem.level_ranges))

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        return len(self.sizes)

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        counts = sum(array.nbytes for entries in self.entries for array in entries)
        own = (*self.words, self.representatives, self.sizes, self.population)
        return counts + sum(array.nbytes for array in own)

    def at(self, node: Node) -> Groups:
        """The classes of a node above this one; of many classes each core takes a part."""
        cores = os.cpu_count() or 1
        parts = min(cores, self.num_classes // CLASSES_PER_CORE)
        if parts < 2:
            return self._at(node)
        ends = [self.num_classes * part // parts for part in range(parts + 1)]
        pieces = [self._piece(start, end) for start, end in itertools.pairwise(ends)]
        return _join(list(in_order(lambda piece: piece._at(node), pieces)))._at(node)

    def _piece(self, start: int, end: int) -> Groups:
        """Some of these classes."""
        return Groups(
            self.frame,
            self.node,
            tuple(word[start:end] for word in self.words),
            self.representatives[start:end],
            self.sizes[start:end],
            self.population[start:end],
            tuple(
                Entries(
                    offsets[start : end + 1] - offsets[start],
                    codes[offsets[start] : offsets[end]],
                    counts[offsets[start] : offsets[end]],
                )
                for offsets, codes, counts in self.entries
            ),
        )

    def _at(self, node: Node) -> Groups:
        words = self._lifted(node)
        most = min(self.frame.packing.most(node), self.num_classes)
        word = _one_word(words, self.frame.packing.used(node))
        rows, ids, sizes, population = merge(word, self.sizes, self.population, most)
        entries = tuple(
            Entries(*merge_entries(ids, len(sizes), *each, counted.column.cardinality))
            for each, counted in zip(self.entries, self.frame.counted, strict=True)
        )
        return Groups(
            self.frame,
            node,
            tuple(word[rows] for word in words),
            self.representatives[rows],
            sizes,
            population,
            entries,
        )

    def some_at(self, node: Node, share: int) -> Groups:
        """Some of the classes of a node above this one, each whole: about one in `share`, a power of 2."""
        rows = choose_rows(self._lifted(node)[0], share)
        some = Groups(
            self.frame,
            self.node,
            tuple(word[rows] for word in self.words),
            self.representatives[rows],
            self.sizes[rows],
            self.population[rows] if len(self.population) else self.population,
            tuple(Entries(*take_entries(rows, *each)) for each in self.entries),
        )
        return some.at(node)

    def _lifted(self, node: Node) -> list[Words]:
        lifts = self.frame.packing.lift(self.node, node)
        return [lift_word(word, *lift) for word, lift in zip(self.words, lifts, strict=True)]

    def classes(self) -> Classes:
        """The classes as models and losses see them."""
        problem = self.frame.problem
        return Classes(
            tuples=problem.tuples,
            quasi_identifiers=problem.columns,
            levels=self.node,
            sizes=self.sizes,
            population=None if problem.tuples.population is None else self.population,
            representatives=self.representatives,
            distributions={
                counted.names: Distribution(counted.column, counted.totals, *entries)
                for counted, entries in zip(self.frame.counted, self.entries, strict=True)
            },
        )


def _join(pieces: list[Groups]) -> Groups:
    """The classes of several pieces of a table, in which a class may now stand more than once."""
    entries = []
    for parts in zip(*(piece.entries for piece in pieces), strict=True):
        starts = itertools.accumulate((len(part.codes) for part in parts), initial=0)
        offsets = [part.offsets[:-1] + start for part, start in zip(parts, starts, strict=False)]
        total = np.array([sum(len(part.codes) for part in parts)])
        entries.append(
            Entries(
                np.concatenate([*offsets, total]),
                np.concatenate([part.codes for part in parts]),
                np.concatenate([part.counts for part in parts]),
            )
        )
    return Groups(
        pieces[0].frame,
        pieces[0].node,
        tuple(map(np.concatenate, zip(*(piece.words for piece in pieces), strict=True))),
        np.concatenate([piece.representatives for piece in pieces]),
        np.concatenate([piece.sizes for piece in pieces]),
        np.concatenate([piece.population for piece in pieces]),
        tuple(entries),
    )


def _one_word(words: list[Words], used: list[int]) -> Words:
    """One word that is equal for equal combinations of words.

    High in the lattice few bits are used: a word is turned until its bits fall into the gaps of the others.
    Where they do not fit, words are replaced by the numbers of their groups.
    """
    combined, taken = words[0], used[0]
    for word, bits in zip(words[1:], used[1:], strict=True):
        turn = next((turn for turn in range(WORD) if not taken & _turned(bits, turn)), None)
        if turn is not None:
            combined, taken = join(combined, word, turn), taken | _turned(bits, turn)
            continue
        nothing = np.zeros(len(word), np.int64)
        before = merge(combined, nothing, nothing, len(word))[1].astype(np.uint64)
        combined = before << np.uint64(32) | merge(word, nothing, nothing, len(word))[1].astype(np.uint64)
        taken = ALL_BITS
    return combined


def _turned(bits: int, turn: int) -> int:
    return (bits << turn | bits >> WORD - turn) & ALL_BITS


@compiled
def join(words: Words, others: Words, turn: int) -> Words:
    """Both words in one, the bits of the second turned to the left."""
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
def choose_rows(words: Words, share: int) -> Counts:
    """The rows with some of the words: which ones depends on the word alone."""
    chosen = np.empty(len(words), np.int64)
    number = 0
    for row in range(len(words)):
        # Another hash than that of `merge`, which would find all its slots in one place.
        mixed = (words[row] ^ words[row] >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
        if mixed >> np.uint64(40) & np.uint64(share - 1) == 0:
            chosen[number] = row
            number += 1
    return chosen[:number].copy()


@compiled
def take_entries(rows: Counts, offsets: Counts, codes: Codes, counts: Counts) -> tuple[Counts, Codes, Counts]:
    """The entries of some classes."""
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
def merge(words: Words, sizes: Counts, population: Counts, most: int) -> tuple[Counts, Codes, Counts, Counts]:
    """Merge classes with the same word, of which there are at most so many, numbered as they first occur.

    Returns the first class of each merged one, the merged one of each class, sizes and population.
    """
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
    there = np.zeros(groups if len(population) else 0, np.int64)
    for row in range(len(population)):
        there[ids[row]] += population[row]
    return first[:groups].copy(), ids, size[:groups].copy(), there


@compiled
def merge_entries(
    ids: Codes, num_groups: int, offsets: Counts, codes: Codes, counts: Counts, cardinality: int
) -> tuple[Counts, Codes, Counts]:
    """Add up the counts of the classes that were merged."""
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
