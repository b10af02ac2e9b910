"""The classes of a node in packed form, from which those of every node above it are made (roll-up).

Generalization only merges classes, so a node above is grouped from the classes below and not from the rows:
sizes add up, and so do the counts of sensitive values. All a model or a loss looks at is carried along.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np

from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.merging import (
    HANDS,
    deal,
    join,
    lift_word,
    merge,
    merge_counts,
    merge_entries,
    pick_up,
    take_entries,
)
from tarnkappe.lattice.packing import WORD, Packing, Words
from tarnkappe.lattice.problem import SearchProblem
from tarnkappe.table import Classes, Column, Distribution
from tarnkappe.table.grouping import Codes, Counts
from tarnkappe.table.parallel import in_order

ALL_BITS = (1 << WORD) - 1


CLASSES_AT_ONCE = 16_000
"""About so many are merged at once."""


class Entries(NamedTuple):
    """The counts of the values of a column in each class, as in `Distribution`."""

    offsets: Counts
    codes: Codes
    counts: Counts


class CountedColumns(NamedTuple):
    """A column, or a combination of columns, whose values are counted in each class."""

    names: tuple[str, ...]
    column: Column
    totals: Counts


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """What all classes of one problem have in common.

    Attributes:
        problem: what is to be solved.
        packing: how labels are packed.
        counted: the columns whose values are counted.
        effort: how classes are made from others.
        words: the values of the tuples, packed.
    """

    problem: SearchProblem
    packing: Packing
    counted: tuple[CountedColumns, ...]
    effort: EvaluationSettings
    words: tuple[Words, ...]

    @classmethod
    def of(
        cls, problem: SearchProblem, distributions: tuple[tuple[str, ...], ...], effort: EvaluationSettings
    ) -> Frame:
        """The frame of a problem in which some distributions are looked at."""
        whole = problem.tuples.classes((), distributions=distributions).distributions
        counted = tuple(CountedColumns(names, each.column, each.totals) for names, each in whole.items())
        packing = Packing(problem.columns)
        words = packing.pack([column.codes for column in problem.columns])
        return cls(problem, packing, counted, effort, words)


@dataclasses.dataclass(frozen=True, eq=False)
class PackedClasses:
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
    def of_tuples(
        cls,
        problem: SearchProblem,
        distributions: tuple[tuple[str, ...], ...],
        effort: EvaluationSettings | None = None,
    ) -> PackedClasses:
        """The classes at the lowest node that may be chosen."""
        frame, tuples = Frame.of(problem, distributions, effort or EvaluationSettings()), problem.tuples
        every = np.arange(tuples.num_tuples + 1)
        entries = []
        for counted in frame.counted:
            weights = tuples.visible_counts(counted.names)
            offsets = np.concatenate([[0], np.cumsum(weights > 0)])
            entries.append(Entries(offsets, counted.column.codes[weights > 0], weights[weights > 0]))
        rows = cls(
            frame,
            problem.lattice.bottom,
            frame.words,
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

    def at(self, node: Node) -> PackedClasses:
        """The classes of a node above this one."""
        return self.deal(node).take(0, HANDS) if self.are_many else self._at(node)

    @property
    def are_many(self) -> bool:
        """Whether they are worth dealing; sizes and numbers must fit into a word together."""
        few_rows = self.frame.problem.tuples.num_rows < 2**32
        return self.num_classes >= self.frame.effort.many_classes and few_rows

    def deal(self, node: Node) -> Deal:
        """These classes, to be dealt into hands."""
        lifted = self._lifted(node)
        return Deal(self, node, lifted, self._one_word(lifted, node))

    def _at(self, node: Node) -> PackedClasses:
        lifted = self._lifted(node)
        word = self._one_word(lifted, node)
        rows, ids, sizes = merge(word, self.sizes, self._most(node, self.num_classes))
        own = [word[rows] for word in lifted]
        return self._merged(node, own, rows, sizes, self.population, self.entries, ids)

    def _one_word(self, lifted: list[Words], node: Node) -> Words:
        return lifted[0] if len(lifted) == 1 else _one_word(lifted, self.frame.packing.used(node))

    def _most(self, node: Node, classes: int) -> int:
        """How many classes of a node can come from so many of these."""
        return min(self.frame.packing.most(node), classes)

    def _merged(
        self,
        node: Node,
        lifted: list[Words],
        rows: Counts,
        sizes: Counts,
        population: Counts,
        entries: tuple[Entries, ...],
        ids: Codes,
    ) -> PackedClasses:
        """Classes of a node of which the labels, one of these classes each (`rows`) and the sizes are known.

        Population and entries are of the classes that were merged, and `ids` says which became which.
        """
        return PackedClasses(
            self.frame,
            node,
            tuple(lifted),
            self.representatives[rows],
            sizes,
            merge_counts(ids, population, len(sizes)),
            tuple(
                Entries(*merge_entries(ids, len(sizes), *each, counted.column.cardinality))
                for each, counted in zip(entries, self.frame.counted, strict=True)
            ),
        )

    def _lifted(self, node: Node) -> list[Words]:
        low, words = self.node, self.words
        if not self.frame.effort.projection:  # every label is made anew from the value of a tuple
            low, words = (0,) * len(node), tuple(word[self.representatives] for word in self.frame.words)
        lifts = self.frame.packing.lift(low, node)
        return [lift_word(word, *lift) for word, lift in zip(words, lifts, strict=True)]

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


@dataclasses.dataclass(frozen=True, eq=False)
class Deal:
    """Many classes in hands, by their labels at a node above: each class of that node is whole in one hand.

    Hands are small enough for the nearest cache, every core can take some, and often a few of them tell all
    that is to be known.

    Attributes:
        groups: the classes.
        node: the node above.
        lifted: their labels at that node, packed.
        word: one word for each class, equal if all labels are.
    """

    groups: PackedClasses
    node: Node
    lifted: list[Words]
    word: Words

    def take(self, begin: int, end: int) -> PackedClasses:
        """The classes of the node that are in some of the hands."""
        dealt, starts = deal(self.word, self.groups.sizes, begin, end)
        parts = max(1, min(end - begin, len(dealt) // CLASSES_AT_ONCE))
        ends = starts[[(end - begin) * part // parts for part in range(parts + 1)]].tolist()
        pieces = [dealt[start:stop] for start, stop in itertools.pairwise(ends)]
        return join_pieces(list(in_order(self._merge, pieces) if parts > 1 else map(self._merge, pieces)))

    def _merge(self, dealt: Words) -> PackedClasses:
        groups = self.groups
        words, sizes, rows = pick_up(dealt)
        first, ids, sizes = merge(words, sizes, groups._most(self.node, len(rows)))
        lifted = [words[first]] if len(self.lifted) == 1 else [word[rows[first]] for word in self.lifted]
        population = groups.population[rows] if len(groups.population) else groups.population
        entries = tuple(Entries(*take_entries(rows, *each)) for each in groups.entries)
        return groups._merged(self.node, lifted, rows[first], sizes, population, entries, ids)


def join_pieces(pieces: list[PackedClasses]) -> PackedClasses:
    """The classes of one node that were made in pieces; no class is in two of them."""
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
    return PackedClasses(
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
        before = merge(combined, nothing, len(word))[1].astype(np.uint64)
        combined = before << np.uint64(32) | merge(word, nothing, len(word))[1].astype(np.uint64)
        taken = ALL_BITS
    return combined


def _turned(bits: int, turn: int) -> int:
    return (bits << turn | bits >> WORD - turn) & ALL_BITS
