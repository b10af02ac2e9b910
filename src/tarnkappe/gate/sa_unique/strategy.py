"""Strategies that publish an answer in parts in which no value occurs twice."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.delta_top.strategy import CloneMatching, TableStrategy
from tarnkappe.gate.delta_top.table import FULL, undo
from tarnkappe.gate.delta_top.update import lowest
from tarnkappe.gate.knowledge import Integers
from tarnkappe.gate.sa_unique.clusters import (
    AT_ONCE,
    ONE_PHASE,
    PLAIN,
    WHERE_NEEDED,
    fits_together,
    is_unique,
    split,
)
from tarnkappe.gate.sa_unique.update import enter_part, enter_parts
from tarnkappe.gate.strategy import AnswerProposal, ResultPart, counted, in_order_of_parts


class InParts(TableStrategy):
    """What strategies share that enter parts without equal values."""

    def _enter_parts(
        self, members: Integers, part: NDArray[np.int64], known: int, may_add: bool, order: Integers
    ) -> AnswerProposal | None:
        self._table.use(unique=True)
        while True:
            table = self._table.arrays
            added = enter_parts(table, members, part, known, self.k, may_add)
            if not table.size[FULL]:
                break
            undo(table, 0)
            self._table.grow()
        if lowest(table, members) < self.k:
            return None
        parts = []
        for number, artificial in enumerate(added):
            mine = members[part == number]
            real = counted(table.truth[mine], self.knowledge.values)
            parts.append(ResultPart(mine, real + artificial.astype(np.int32)))
        return AnswerProposal(tuple(parts), order=order)

    def _follow_part(self, members: Integers, known: int, added: Integers) -> bool:
        """Follow a published part; False if it has equal values, or if it is not clear that k is kept."""
        if not is_unique(self._table.arrays, members):
            return False
        self._table.use(unique=True)
        while True:
            table = self._table.arrays
            enter_part(table, members, known, added > 0)
            if not table.size[FULL]:
                return lowest(table, members) >= self.k
            undo(table, 0)
            self._table.grow()


class SaUnique(InParts):
    """Split every answer into parts without equal values, such that old tuples keep their values alive.

    Much faster than the matchings of `delta_top` and with smaller groups, but it needs more artificial
    values, unless k is close to the number of values and answers are much larger than that. An answer without
    equal values is split as well where its people would else take values from each other; who wants it whole
    takes `unique-then-clone`.
    """

    name: ClassVar[str] = "sa-unique"
    variant: ClassVar[int] = PLAIN

    def _answer(self, members: Integers, known: int, may_add: bool) -> AnswerProposal | None:
        part = split(self._table.arrays, members, known, self.k, self.variant, may_add)
        members, order = in_order_of_parts(members, part, known)
        self._table.arrays.truth[known:] = self._table.arrays.truth[order]
        return self._enter_parts(members, part, known, may_add, order)

    def _follow(self, members: Integers, known: int, added: Integers) -> bool:
        return self._follow_part(members, known, added)


class SaUniqueA(SaUnique):
    """Variant a: an old tuple that fits nowhere in particular opens a part at once."""

    name: ClassVar[str] = "sa-unique-a"
    variant: ClassVar[int] = AT_ONCE


class SaUniqueB(SaUnique):
    """Variant b: new tuples join old ones only where somebody would lose k values."""

    name: ClassVar[str] = "sa-unique-b"
    variant: ClassVar[int] = WHERE_NEEDED


class SaUniqueC(SaUnique):
    """Variant c: new tuples join old ones only where an old one has a use for them."""

    name: ClassVar[str] = "sa-unique-c"
    variant: ClassVar[int] = ONE_PHASE


class UniqueThenClone(CloneMatching, InParts):
    """`sa-unique` without splitting, as long as answers have no equal values, people of earlier answers in
    them can take each other's values in both directions or in none, and everybody new finds k values there;
    from the first other answer on `clone-matching` for ever. Without equal values alone, entering an answer
    whole would take values from somebody.

    This order is sound. There is no way back, and none is offered: after an answer with equal values, two
    modelled distributions that exchange the same values need not fit together.
    """

    name: ClassVar[str] = "unique-then-clone"
    completes: ClassVar[bool] = False

    def _answer(self, members: Integers, known: int, may_add: bool) -> AnswerProposal | None:
        if not self._is_early(members, known):
            return super()._answer(members, known, may_add)
        whole = np.zeros(len(members), dtype=np.int64)
        order = np.arange(known, self._table.tuples, dtype=np.int32)
        return self._enter_parts(members, whole, known, may_add, order)

    def _follow(self, members: Integers, known: int, added: Integers) -> bool:
        if not self._is_early(members, known):
            return super()._follow(members, known, added)
        return self._follow_part(members, known, added)

    def _is_early(self, members: Integers, known: int) -> bool:
        whole = np.zeros(len(members), dtype=np.int64)
        return self._table.unique and fits_together(self._table.arrays, members, known, self.k, whole)
