"""What all answers together leave possible, exactly: everybody's signature, and a witness for each value.

It is for the owner, who sees what an attacker with a solver could work out. The true values only give the
search a first witness; what is found does not depend on them, and a witness is about those people alone whom
answers link with the person. Nothing is noted in the knowledge of a gate that is open, so that no later
answer depends on having looked. The exact question is NP-complete: many overlapping answers may take long.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from tarnkappe.errors import ParameterError, VerificationError
from tarnkappe.gate.exact_test import settle
from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.problem import problem
from tarnkappe.gate.solver import FeasibleAssignment, solver


class OwnerView:
    """The possible values of everybody who was answered, with the values that people have now.

    >>> knowledge = Knowledge(values=3)
    >>> _ = knowledge.publish([0, 1], [1, 1, 1]), knowledge.publish([1, 2], [1, 1, 0])
    >>> truth = np.array([2, 1, 0], dtype=np.int32)
    >>> view = OwnerView(knowledge, ["flu", "cold", "gout"], truth, {"a": 0, "b": 1, "c": 2})
    >>> view.signatures()
    {'a': ('flu', 'cold', 'gout'), 'b': ('flu', 'cold'), 'c': ('flu', 'cold')}
    >>> view.witness("c", "cold"), view.witness("c", "gout")
    ({'a': 'cold', 'b': 'flu', 'c': 'cold'}, None)
    """

    def __init__(
        self, knowledge: Knowledge, labels: Sequence[str], truth: Integers, numbers: Mapping[Hashable, int]
    ) -> None:
        self._knowledge, self._labels, self._numbers = knowledge, labels, numbers
        self._truth = truth[: knowledge.tuples].astype(np.int32)

    def signatures(self) -> dict[Hashable, tuple[str, ...]]:
        """The values that everybody can have, in the order of the labels."""
        if not self._knowledge.tuples:
            return {}
        pool = Pool(self._knowledge)
        pool.add(self._truth)
        settle(pool, keeps_proofs=False)
        shown = pool.shown[self._knowledge.view.kind] > 0
        return {
            person: tuple(self._labels[value] for value in np.flatnonzero(shown[number]).tolist())
            for person, number in self._numbers.items()
            if number < self._knowledge.tuples
        }

    def witness(self, person: Hashable, value: str) -> dict[Hashable, str] | None:
        """A table that fits everything that is known, and in which somebody has a value; None if none does.

        It has those who share answers with the person, directly or through others.

        Raises:
            ParameterError: nobody was told anything of this person, or the list has no such value.
        """
        number = self._numbers.get(person)
        if number is None or number >= self._knowledge.tuples:
            raise ParameterError("gate.nobody-told-of-person", "this person was in no answer")
        if value not in self._labels:
            raise ParameterError("gate.list-lacks-value", "the list has no such value")
        knowledge, code = self._knowledge, list(self._labels).index(value)
        kind = knowledge.view.kind
        question = problem(knowledge, number)
        wanted = np.zeros((knowledge.kinds, knowledge.values), dtype=np.bool_)
        wanted[kind[number], code] = True
        targets = question.pairs_of(wanted)
        verdict = solver(question).ask(targets, {}) if targets else None
        if not isinstance(verdict, FeasibleAssignment):
            return None
        world = question.deal(verdict.counts, knowledge, self._truth)
        if world[number] != code:  # people of one kind are interchangeable
            other = next(t for t in np.flatnonzero(kind == kind[number]) if world[t] == code)
            world[number], world[other] = world[other], world[number]
        if not Pool(knowledge).fits(world):
            raise VerificationError(
                "gate.witness-not-fit", "the solver gave a table that does not fit the answers: this is a bug"
            )
        inside = question.component
        return {
            who: self._labels[world[place]]
            for who, place in self._numbers.items()
            if place < len(world) and inside[place]
        }
