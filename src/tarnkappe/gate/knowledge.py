"""What somebody knows who has seen all answers: the attacker's knowledge, and nothing else.

A *result* is what one answer (or one part of it) tells: a set of tuples, and a multiset of sensitive values
that is not linked to them. The attacker knows the quasi-identifiers of everybody, so he knows exactly which
tuples are in a result. A *distribution* gives every returned tuple one value, such that in every result
every value is given at most as often as it was published. The attacker's knowledge is the set of all
distributions; the *signature* of a tuple is the set of values it has in at least one of them, its *degree
of anonymity* is the size of the signature. The answers are *k-assign anonymous* if every tuple ever
returned has a degree of at least k.

"At most as often" is one rule for two cases. In a result without artificial values there are as many values
as tuples, so that every value is given exactly as often as it was published. In a result with artificial
values some stay unused. Hence more published values can only mean more distributions, and never a smaller
signature.

All that any algorithm of this folder needs to know about the history is kept here, once, in compact arrays.
Tuples, values and results are numbered from 0 in the order in which they are first seen. The true values
are no part of the attacker's knowledge and are not here.

    tuples        newest[t]      the newest membership of t, or -1
                  kind[t]        tuples of the same kind are in exactly the same results
                  allowed[t, v]  v is in every result that has t, and was not proven impossible for t
    memberships   member[m]      the tuple
                  result[m]      the result; the memberships of result r are first[r] ... first[r + 1] - 1
                  earlier[m]     the previous membership of the same tuple, or -1: a linked list
    results       first[r]       where the memberships start
                  cell[r, v]     the cell of a value in a result, or -1 if it was not published there
    cells         capacity[c]    how often the value was published in the result
                  holder[c]      the result
                  label[c]       the value

The query graphs of the theory are implicit: the graph of result r has the edge (t, v) if r has t and v is
among the values that all results of t share, and capacity[cell[r, v]] nodes for v. They are never built;
`graphs` spells them out for small histories.

**What else he knows.** That a tuple is the same person as another, later or earlier, with another value
(`change`): then no label that stands for one value is given to both. This is a result too, of these two
tuples, with every such label once and every merged one twice. That a tuple has a certain value (`fix`): a
result of one tuple and one value. Neither was answered, but both are what a distribution must fit. And that
the list of labels was read from a table (`floors`): of those who were there, the *founders*, a number had
each label, at least. Founders who were never returned count; there are `unreturned` of them, and they may
have anything.

Tuples of one kind are interchangeable: exchanging their values in a distribution gives a distribution. They
have the same signature, a distribution shows the value of one of them for all of them, and the exact
solvers count the values of a kind instead of assigning them. Kinds only ever split. A founder is of no kind
with somebody who is none, if labels have floors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import ParameterError
from tarnkappe.gate.growing import Growing

Integers = NDArray[np.int32]
Booleans = NDArray[np.bool_]


class KnowledgeArrays(NamedTuple):
    """The arrays of the knowledge, as the kernels take them; valid until the knowledge changes."""

    newest: Integers
    kind: Integers
    allowed: Booleans
    member: Integers
    result: Integers
    earlier: Integers
    first: Integers
    cell: Integers
    capacity: Integers
    holder: Integers
    label: Integers
    founder: Booleans


@dataclasses.dataclass(frozen=True)
class _Before:
    """What the newest result changed, to take it back."""

    tuples: int
    kinds: int
    members: Integers
    kind: Integers
    allowed: Booleans
    excluded: list[tuple[Integers, int]] = dataclasses.field(default_factory=list)


class Knowledge:
    """The results published so far; see the text of this module.

    >>> knowledge = Knowledge(values=3)
    >>> knowledge.publish([0, 1, 2], [1, 1, 1])
    0
    >>> knowledge.publish([0, 3], [1, 0, 1])
    1
    >>> knowledge.tuples, knowledge.results, knowledge.candidates(0), knowledge.results_of(0)
    (4, 2, [0, 2], [1, 0])
    """

    def __init__(
        self,
        values: int,
        merged: Iterable[int] = (),
        floors: Mapping[int, int] | None = None,
        founders: int = 0,
    ) -> None:
        if values < 1:
            raise ParameterError(
                "gate.sensitive-column-needs-least-value", "a sensitive column needs at least one value"
            )
        self.values = values
        self.floors: Integers = np.zeros(values, dtype=np.int32)
        for value, number in (floors or {}).items():
            self.floors[value] = number
        self.founders = founders
        self.arriving: Mapping[int, int] = {}
        """The numbers that founders have who are new in the next result, and their places among founders."""
        self.known: set[int] = set()
        """The tuples whose values count as known."""
        self._merged = np.zeros(values, dtype=np.bool_)
        self._merged[list(merged)] = True
        self._founder = Growing(np.bool_)
        self._is_answer: list[bool] = []
        self.kinds = 0
        self._newest = Growing(np.int32)
        self._kind = Growing(np.int32)
        self._allowed = Growing(np.bool_, values)
        self._member = Growing(np.int32)
        self._result = Growing(np.int32)
        self._earlier = Growing(np.int32)
        self._first = Growing(np.int32)
        self._first.add(np.zeros(1, dtype=np.int32))
        self._cell = Growing(np.int32, values)
        self._capacity = Growing(np.int32)
        self._holder = Growing(np.int32)
        self._label = Growing(np.int32)
        self._before: _Before | None = None

    @property
    def tuples(self) -> int:
        """How many tuples were returned."""
        return len(self._newest)

    @property
    def results(self) -> int:
        """How many results were published."""
        return len(self._cell)

    @property
    def view(self) -> KnowledgeArrays:
        """The arrays, for kernels."""
        return KnowledgeArrays(
            self._newest.rows,
            self._kind.rows,
            self._allowed.rows,
            self._member.rows,
            self._result.rows,
            self._earlier.rows,
            self._first.rows,
            self._cell.rows,
            self._capacity.rows,
            self._holder.rows,
            self._label.rows,
            self._founder.rows,
        )

    @property
    def has_floors(self) -> bool:
        """Whether it is known of some labels that they occur."""
        return bool(self.floors.any())

    @property
    def unreturned(self) -> int:
        """How many founders are no tuples yet."""
        return self.founders - int(np.count_nonzero(self._founder.rows))

    @property
    def binding_floors(self) -> Integers:
        """The floors, if they can exclude anything; else an empty array."""
        binds = self.has_floors and self.unreturned < int(self.floors.sum())
        return self.floors if binds else self.floors[:0]

    @property
    def answers(self) -> list[int]:
        """The results that were answered, in their order."""
        return [result for result, answered in enumerate(self._is_answer) if answered]

    def change(self, old: int) -> int:
        """Note that the person of a tuple has another value now; returns the tuple of the new value.

        The old tuple may be new as well, if it was never returned; then it has the next number.
        """
        new = max(self.tuples, old + 1)
        self._note([old, new], np.where(self._merged, 2, 1))
        return new

    def fix(self, tuple_: int, value: int) -> None:
        """Note that the value of a tuple, which may be new, counts as known."""
        only = np.zeros(self.values, dtype=np.int32)
        only[value] = 1
        self._note([tuple_], only)
        self.known.add(tuple_)

    def _note(self, members: list[int], counts: NDArray[np.integer]) -> None:
        self.publish(members, counts)
        self._is_answer[-1] = False
        self._before = None

    def publish(
        self, members: NDArray[np.integer] | list[int], counts: NDArray[np.integer] | list[int]
    ) -> int:
        """Add a result: its tuples, and how often each value is in it. Returns the number of the result.

        Tuples that no result had yet take the next numbers, so that the arrays stay dense.
        """
        who = np.asarray(members, dtype=np.int32)
        count = np.asarray(counts, dtype=np.int32)
        self._check(who, count)
        new = who[who >= self.tuples]
        self._before = _Before(
            self.tuples,
            self.kinds,
            who,
            self._kind.rows[who[who < self.tuples]],
            self._allowed.rows[who[who < self.tuples]],
        )
        self._newest.add(np.full(len(new), -1, dtype=np.int32))
        self._kind.add(np.full(len(new), -1, dtype=np.int32))
        self._allowed.add(np.ones((len(new), self.values), dtype=np.bool_))
        arrived = range(len(self._founder), len(self._newest))
        self._founder.add(np.array([number in self.arriving for number in arrived], dtype=np.bool_))
        self._is_answer.append(True)
        self._split_kinds(who)
        self._allowed.rows[who] &= count > 0
        memberships = np.arange(len(self._member), len(self._member) + len(who), dtype=np.int32)
        self._member.add(who)
        self._result.add(np.full(len(who), self.results, dtype=np.int32))
        self._earlier.add(self._newest.rows[who])
        self._newest.rows[who] = memberships
        self._first.add(np.array([len(self._member)], dtype=np.int32))
        published = np.flatnonzero(count)
        cells = np.full(self.values, -1, dtype=np.int32)
        cells[published] = np.arange(
            len(self._capacity), len(self._capacity) + len(published), dtype=np.int32
        )
        self._capacity.add(count[published])
        self._holder.add(np.full(len(published), self.results, dtype=np.int32))
        self._label.add(published)
        self._cell.add(cells[None])
        return self.results - 1

    def retract(self) -> None:
        """Take the newest result back, as if it had never been published. Works once after each `publish`."""
        before = self._before
        if before is None:
            raise ParameterError(
                "gate.only-newest-result-can-taken", "only the newest result can be taken back, and only once"
            )
        self._before = None
        for tuples, value in before.excluded:
            self._allowed.rows[tuples, value] = True
        first = int(self._first.rows[-2])
        who = self._member.rows[first:]
        self._newest.rows[who] = self._earlier.rows[first:]
        old = before.members[before.members < before.tuples]
        self._kind.rows[old] = before.kind
        self._allowed.rows[old] = before.allowed
        self.kinds = before.kinds
        for column in (self._newest, self._kind, self._allowed, self._founder):
            column.cut(before.tuples)
        self._is_answer.pop()
        for column in (self._member, self._result, self._earlier):
            column.cut(first)
        cells = self._cell.rows[-1]
        for column in (self._capacity, self._holder, self._label):
            column.cut(int(cells[cells >= 0].min()))
        self._cell.cut(self.results - 1)
        self._first.cut(len(self._first) - 1)

    def exclude(self, kind: int, value: int) -> None:
        """Note that somebody has proven that the tuples of a kind cannot have a value.

        A proof stays true whatever is published later; it is forgotten only if the newest result is taken
        back.
        """
        tuples = np.flatnonzero(self._kind.rows == kind).astype(np.int32)
        if self._before is not None:
            self._before.excluded.append((tuples[self._allowed.rows[tuples, value]], value))
        self._allowed.rows[tuples, value] = False

    def members(self, result: int) -> Integers:
        """The tuples of a result."""
        first = self._first.rows
        return self._member.rows[first[result] : first[result + 1]]

    def counts(self, result: int) -> Integers:
        """How often each value was published in a result."""
        cells = self._cell.rows[result]
        return np.where(cells >= 0, self._capacity.rows[cells], 0).astype(np.int32)

    def results_of(self, tuple_: int) -> list[int]:
        """The results that have a tuple, newest first."""
        found = []
        membership = int(self._newest.rows[tuple_])
        while membership >= 0:
            found.append(int(self._result.rows[membership]))
            membership = int(self._earlier.rows[membership])
        return found

    def candidates(self, tuple_: int) -> list[int]:
        """The values that nothing excludes so far. A superset of the signature, often a strict one."""
        return np.flatnonzero(self._allowed.rows[tuple_]).tolist()

    def add_values(self, values: int) -> None:
        """Make room for sensitive values that turned up later; no published result has them."""
        for name in ("_allowed", "_cell"):
            old: Growing[np.generic] = getattr(self, name)
            filler = np.full((len(old), values), False if name == "_allowed" else -1, dtype=old.rows.dtype)
            wider: Growing[np.generic] = Growing(old.rows.dtype.type, self.values + values)
            wider.add(np.hstack([old.rows, filler]))
            setattr(self, name, wider)
        self.values += values
        self.floors = np.pad(self.floors, (0, values))
        self._merged = np.pad(self._merged, (0, values))
        self._before = None

    def _split_kinds(self, who: Integers) -> None:
        """Tuples of one kind that are in the new result part from those that are not."""
        kinds = self._kind.rows
        if self.has_floors:
            later = who[(kinds[who] < 0) & ~self._founder.rows[who]]
            if len(later):
                kinds[later] = self.kinds
                self.kinds += 1
        own = kinds[who]
        sizes = np.bincount(kinds + 1, minlength=self.kinds + 1)  # of each kind, after the new tuples
        inside = np.bincount(own + 1, minlength=self.kinds + 1)
        parts = (inside > 0) & (inside < sizes)
        parts[0] = inside[0] > 0
        number = np.where(parts, self.kinds - 1 + np.cumsum(parts), np.arange(self.kinds + 1) - 1)
        kinds[who] = number[own + 1]
        self.kinds += int(np.count_nonzero(parts))

    def _check(self, who: Integers, count: Integers) -> None:
        if len(who) == 0:
            raise ParameterError("gate.result-needs-least-tuple", "a result needs at least one tuple")
        if len(np.unique(who)) != len(who):
            raise ParameterError(
                "gate.tuple-occurs-twice-result",
                "a tuple occurs twice in one result: every person has exactly one tuple",
            )
        new = np.sort(who[who >= self.tuples])
        if who.min() < 0 or not np.array_equal(new, np.arange(self.tuples, self.tuples + len(new))):
            raise ParameterError(
                "gate.new-tuples-must-next",
                "new tuples must have the next numbers, from {tuples} on",
                tuples=self.tuples,
            )
        if count.shape != (self.values,) or count.min() < 0:
            raise ParameterError(
                "gate.result-needs-count-not-negative",
                "a result needs one count, not negative, for each of the {values} values",
                values=self.values,
            )
        if count.sum() < len(who):
            raise ParameterError(
                "gate.tuples-cannot-share-values",
                "{who} tuples cannot share {sum} values",
                who=len(who),
                sum=count.sum(),
            )
