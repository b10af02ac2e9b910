"""The classes of a node in packed form, from which those of every node above it are made (roll-up).

Generalization only merges classes, so a node above is grouped from the classes below and not from the rows:
sizes add up, and so do the counts of sensitive values. All a model or a loss looks at is carried along.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.packing import Packing, Words
from tarnkappe.lattice.problem import Problem
from tarnkappe.native import compiled
from tarnkappe.table import Classes, Column, Distribution
from tarnkappe.table.grouping import Codes, Counts, sort_pairs_by_group


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
    words: Words
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
        own = (self.words, self.representatives, self.sizes, self.population)
        return counts + sum(array.nbytes for array in own)

    def at(self, node: Node) -> Groups:
        """The classes of a node above this one."""
        lift = self.frame.packing.lift(self.node, node)
        words, representatives, sizes, population, ids = merge(
            self.words, self.representatives, self.sizes, self.population, *lift
        )
        entries = tuple(
            Entries(*merge_entries(ids, len(sizes), *each, counted.column.cardinality))
            for each, counted in zip(self.entries, self.frame.counted, strict=True)
        )
        return Groups(self.frame, node, words, representatives, sizes, population, entries)

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


@compiled
def merge(
    words: Words,
    representatives: Counts,
    sizes: Counts,
    population: Counts,
    same: Words,
    fields: Counts,
    tables: Words,
    most: int,
) -> tuple[Words, Counts, Counts, Counts, Codes]:
    """Lift the labels of classes and merge those that become equal, numbered as they first occur."""
    number, width = words.shape
    capacity = 16
    while capacity < 2 * min(number, most):
        capacity *= 2
    slots = np.full(capacity, -1, np.int32)
    wrap = np.uint64(capacity - 1)
    merged = np.empty((number, width), np.uint64)
    first = np.empty(number, np.int64)
    size = np.empty(number, np.int64)
    there = np.empty(len(population), np.int64)
    ids = np.empty(number, np.int32)
    groups = 0
    for row in range(number):
        mixed = np.uint64(0)
        # The labels are written where they would stand as a new group: never more groups than rows before.
        for word in range(width):
            merged[groups, word] = words[row, word] & same[word]
        for field in range(len(fields)):
            word = fields[field, 0]
            label = (words[row, word] >> np.uint64(fields[field, 1])) & np.uint64(fields[field, 2])
            merged[groups, word] |= tables[fields[field, 3] + np.int64(label)]
        for word in range(width):
            mixed = (mixed ^ merged[groups, word]) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
        slot = mixed & wrap
        while True:
            group = slots[slot]
            if group < 0:
                group = groups
                slots[slot] = group
                first[group] = representatives[row]
                size[group] = sizes[row]
                if len(population):
                    there[group] = population[row]
                groups += 1
                break
            equal = True
            for word in range(width):
                if merged[group, word] != merged[groups, word]:
                    equal = False
            if equal:
                size[group] += sizes[row]
                if len(population):
                    there[group] += population[row]
                break
            slot = (slot + np.uint64(1)) & wrap
        ids[row] = group
    return (
        merged[:groups].copy(),
        first[:groups].copy(),
        size[:groups].copy(),
        there[: groups if len(population) else 0].copy(),
        ids,
    )


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
