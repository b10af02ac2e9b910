"""Incognito: search the lattices of ever larger sets of columns; what fails on few columns fails on more."""

from __future__ import annotations

import itertools
import math
from enum import StrEnum
from typing import Annotated

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.lattice.groups import PackedClasses
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import MAX_NODES, NodeKnowledge, Traversal
from tarnkappe.schema import param
from tarnkappe.table.classes import Mask

Family = tuple[int, ...]
"""Some of the quasi-identifiers, by their position."""


class Variant(StrEnum):
    """What the tests of the lowest nodes of a family start from; other tests start from a node below."""

    BASIC = "basic"
    """The table."""
    SUPERROOTS = "superroots"
    """The classes of the greatest node below all of them, made once from the table."""
    CUBE = "cube"
    """The classes of the family at its lowest levels, made before the search from a larger family."""


class Incognito(Search, kw_only=True):
    """Incognito (LeFevre et al. 2005): finds all satisfying nodes, hence the best, of a monotone criterion.

    Families of columns are searched from small to large, each breadth first from below; the columns that are
    left out are generalized fully, so a node that fails in a family fails, with whatever other columns,
    in all larger ones. This is generalization in disguise, so criteria that are not monotone with the given
    suppression limit are refused. Every test on a family counts as a test; those on few columns are cheap.
    """

    name = "incognito"
    cites = ("lefevre2005",)

    variant: Annotated[
        Variant,
        param("what the tests of the lowest nodes of a family start from; the result is the same"),
    ] = Variant.SUPERROOTS

    def search(self, traversal: Traversal) -> None:
        """Find all satisfying nodes, and the best of them."""
        if not traversal.monotone:
            raise ParameterError(
                "lattice.search-incognito-needs-criterion",
                "the search 'incognito' needs a criterion that is monotone with this suppression limit: use"
                " 'flash-2p' or 'auto', which are right for all",
            )
        Families(traversal, Variant(self.variant)).search()
        for level in traversal.levels():  # with a loss that is not monotone, satisfying nodes are left
            for node in level:
                if not traversal.need_not_be_tested(node) and not traversal.is_hopeless(node):
                    traversal.check(node)


class Families:
    """The search through all families of columns.

    A node of a family is tested, and listed among the tests, as the node of the whole lattice in which the
    other columns are at their highest levels.
    """

    def __init__(self, traversal: Traversal, variant: Variant) -> None:
        self._traversal = traversal
        self._variant = variant
        self._checker = traversal.checker
        self._ranges = traversal.problem.level_ranges
        self._top = traversal.problem.lattice.top
        self._everything: Family = tuple(range(len(self._ranges)))
        self.satisfying: dict[Family, Mask] = {}
        """For each family, which combinations of its levels satisfy."""
        self._possible = math.prod(len(levels) + 1 for levels in self._ranges)
        if self._possible > MAX_NODES:
            raise ParameterError(
                "lattice.incognito-would-search-nodes",
                "incognito would search {possible:,} nodes of all sets of columns, more than the "
                "{max_nodes:,} that can be searched: take another search or fewer quasi-identifiers",
                possible=self._possible,
                max_nodes=MAX_NODES,
            )

    def search(self) -> None:
        """Search the families from the smallest to the one of all columns."""
        cube = self._cube() if self._variant is Variant.CUBE else {}
        for size in range(1, len(self._ranges) + 1):
            for family in itertools.combinations(self._everything, size):
                base = cube.pop(family, self._checker.bottom)
                self.satisfying[family] = self._search_family(family, self._candidates(family), base)

    def _candidates(self, family: Family) -> Mask:
        """The nodes of a family that satisfy whichever one of its columns is left out."""
        candidates = np.ones([len(self._ranges[column]) for column in family], dtype=bool)
        if len(family) > 1:
            for axis in range(len(family)):
                without = self.satisfying[family[:axis] + family[axis + 1 :]]
                candidates &= np.expand_dims(without, axis)
        return candidates

    def _search_family(self, family: Family, candidates: Mask, base: PackedClasses) -> Mask:
        """Breadth-first search from below; the candidates that satisfy."""
        known_good = np.zeros_like(candidates)
        places = sorted(map(tuple, np.argwhere(candidates).tolist()), key=sum)
        roots = [p for p in places if not any(candidates[below] for below in _directly_below(p))]
        if self._variant is Variant.SUPERROOTS and len(roots) > 1:
            base = base.at(self._node(family, tuple(map(min, zip(*roots, strict=True)))))
        failed_below: dict[Node, PackedClasses] = {}
        for _, level in itertools.groupby(places, key=sum):
            failed: dict[Node, PackedClasses] = {}
            for place in level:
                if known_good[place]:
                    continue
                specials = [failed_below[p] for p in _directly_below(place) if p in failed_below]
                start = min(specials, key=lambda groups: groups.num_classes, default=base)
                groups = start.at(self._node(family, place))
                if self._satisfies(family, groups, start):
                    known_good[tuple(slice(step, None) for step in place)] = True
                else:
                    failed[place] = groups
            failed_below = failed
        return known_good

    def _satisfies(self, family: Family, groups: PackedClasses, start: PackedClasses) -> bool:
        self._traversal.keep_time()
        found = self._checker.judge(groups)
        self._checker.count(start)
        if family == self._everything:
            self._traversal.learn(found)
        else:
            self._traversal.note(groups.node, self._possible)
            if not found.evaluation.satisfied:
                self._traversal.mark_below(groups.node, NodeKnowledge.BAD)
        return found.evaluation.satisfied

    def _node(self, family: Family, place: Node) -> Node:
        """The node of the whole lattice in which the other columns are fully generalized."""
        node = list(self._top)
        for column, step in zip(family, place, strict=True):
            node[column] = self._ranges[column][step]
        return tuple(node)

    def _cube(self) -> dict[Family, PackedClasses]:
        """The classes of every family at its lowest levels, each made from the smallest larger family."""
        cube = {self._everything: self._checker.bottom}
        for size in range(len(self._ranges) - 1, 0, -1):
            for family in itertools.combinations(self._everything, size):
                larger = (tuple(sorted((*family, c))) for c in self._everything if c not in family)
                base = min((cube[each] for each in larger), key=lambda groups: groups.num_classes)
                cube[family] = base.at(self._node(family, (0,) * size))
        return cube


def _directly_below(place: Node) -> list[Node]:
    return [(*place[:i], level - 1, *place[i + 1 :]) for i, level in enumerate(place) if level > 0]
