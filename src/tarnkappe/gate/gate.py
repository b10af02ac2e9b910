"""The gate: asks a strategy, keeps the history, and answers or refuses."""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import ParameterError
from tarnkappe.gate.answer import Answer, Block, HistoryEntry, Refusal
from tarnkappe.gate.decision import AsFewAsPossible, DecisionRule, RefuseWhatBreaks
from tarnkappe.gate.domain import LabelDomain
from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.gate.label_sets import LabelSets
from tarnkappe.gate.owner_view import OwnerView
from tarnkappe.gate.policy_columns import Surplus
from tarnkappe.gate.population import Population, Version
from tarnkappe.gate.public_pool import PublicPool
from tarnkappe.gate.returned_people import ReturnedPeople
from tarnkappe.gate.strategy import ResultPart, Strategy, counted
from tarnkappe.gate.surplus import Veiled
from tarnkappe.gate.witness_pool import WitnessPool
from tarnkappe.gate.world_search import could_have

Record = Callable[[HistoryEntry, Strategy], None]
"""Writes an entry (and, as often as it likes, the state of the strategy) before the answer leaves."""


class Gate:
    """Answers queries about a population so that everybody ever returned keeps at least k possible values.

    The decision is serial and atomic: of two queries at the same time one sees the other's answer in the
    history. A query that is refused, or that fails, changes nothing.

    >>> from tarnkappe.gate import Gate, Population
    >>> gate = Gate(Population({1: "A", 2: "A", 3: "B", 4: "C"}), k=2)
    >>> gate.ask([1, 2, 3]).blocks[0].values
    ('A', 'A', 'B')
    >>> gate.ask([1, 2]).blocks[0].values  # both have A: something must be added
    ('A', 'A', 'B')

    With a `domain` it answers by the rule of `surplus`, against whoever knows the program, who changed and
    where the labels come from; `founders` are those who were there when the list of labels was read from the
    table, with their labels then, and `known` those whose values count as known and are not protected.
    """

    def __init__(
        self,
        population: Population,
        k: int,
        strategy: Strategy | None = None,
        *,
        may_add: bool = True,
        seed: int = 0,
        record: Record | None = None,
        decision: DecisionRule | None = None,
        domain: LabelDomain | None = None,
        founders: Mapping[Hashable, str] | None = None,
        known: Collection[Hashable] = (),
    ) -> None:
        self.population, self.k, self.domain = population, k, domain
        self.known = frozenset(known)
        self._founders = dict(founders or {})
        self._founder_place = {person: place for place, person in enumerate(self._founders)}
        if domain is None:
            self.decision = decision or (AsFewAsPossible() if may_add else RefuseWhatBreaks())
            self.strategy = WitnessPool() if strategy is None else strategy
            self.knowledge = Knowledge(max(1, len(population.labels)))
        else:
            if population.labels != list(domain.labels):
                raise ParameterError(
                    "gate.labels-population-must", "the labels of the population must be those of the domain"
                )
            self.decision = decision or Veiled(Surplus())
            self.strategy = PublicPool() if strategy is None else strategy
            self.knowledge = domain.knowledge(len(self._founders))
            if isinstance(self.strategy, PublicPool):
                self.strategy.fixed = {
                    self._founder_place[person]: population.code(label)
                    for person, label in self._founders.items()
                    if person in self.known
                }
        self.strategy.begin(self.knowledge, k, seed)
        self._record = record
        self.returned = ReturnedPeople()
        self.offered: dict[bytes, tuple[int, ...]] = {}
        """Of which labels surplus values can have been, by the `name` of each answer."""
        self._lock = threading.Lock()

    def ask(self, people: Iterable[Hashable], at_least: int = 0) -> Answer | Refusal:
        """The answer to a query that selects these people, or a refusal.

        The answer has at least a number of values if the gate's decision has the choice.
        """
        asked = list(people)
        if len(set(asked)) < len(asked):
            raise ParameterError("gate.query-names-somebody-twice", "the query names somebody twice")
        if not asked:
            return Answer((), 0, 0)
        with self._lock:
            self._fix_known(asked)
            return self._decide(asked, at_least)

    def foresees_refusal(self, people: Iterable[Hashable]) -> bool:
        """Whether these people will be refused for reasons that anybody can see."""
        with self._lock:
            number, new = self.returned.number, itertools.count(len(self.returned.people))
            members = [number[person] if person in number else next(new) for person in people]
            return self.decision.foresees_refusal(self.knowledge, np.array(members, np.int32), self.k)

    def update(self, person: Hashable, secret: str | None) -> None:
        """Insert somebody or give somebody another value. What was published stays known.

        With a domain, a value that has another label than the last one that was known is a new one
        (`begin_version`). Whoever merges values into labels must notice other changes himself.
        """
        if self.domain is not None:
            self.population.put(person, secret)
            last = self.last_label(person)
            label = self.population.labels[self.population.secret(person)]
            if last is not None and last != label:
                self.begin_version(person, label)
            elif person in self.known and not self.is_tuple(person):
                self.begin_version(person, label, is_change=False)
            return
        with self._lock:
            before = self.population.secret(person) if person in self.population else None
            self.population.put(person, secret)
            if self.population.secret(person) != before:
                self.returned.number.pop(person, None)

    def last_label(self, person: Hashable) -> str | None:
        """The label of the last value that counts, of somebody who was returned or is a founder."""
        if person in self.returned.number:
            return self.population.labels[int(self.truth[self.returned.number[person]])]
        return self._founders.get(person)

    def is_tuple(self, person: Hashable) -> bool:
        """Whether somebody has a tuple, with whatever value."""
        return person in self.returned.number

    def begin_version(self, person: Hashable, label: str, is_change: bool = True) -> None:
        """Note that somebody has another value than the last one that counts, or one that counts as known.

        The public knows of both; that he has another value is what every possible world must have.

        Args:
            person: who.
            label: of the value.
            is_change: whether it is another value than before, which may have the same label; else he was
                never returned, and the value counts as known.
        """
        with self._lock:
            self._begin_version(person, label, is_change)

    def _begin_version(self, person: Hashable, label: str, is_change: bool, follow: bool = True) -> None:
        strategy, knowledge = self.strategy, self.knowledge
        assert isinstance(strategy, PublicPool | LabelSets), "others count with tables that do not change"
        value = self.population.code(label)
        self.population.put(person, label)
        arrives = person not in self.returned.number and person in self._founders
        if arrives:
            knowledge.arriving = {len(self.returned.people): self._founder_place[person]}
        if is_change:
            if arrives:
                self.returned.enter([person], [self.population.code(self._founders[person])])
            old = self.returned.number[person]
            new = knowledge.change(old)
            if follow and isinstance(strategy, LabelSets):
                strategy.note_change(old, new, int(self.truth[old]), value)
            elif follow and isinstance(strategy, PublicPool):  # which never sees a true value
                strategy.note_change(old, new)
            if arrives and person in self.known:
                knowledge.fix(old, int(self.truth[old]))
        self.returned.enter([person], [value])
        if person in self.known:
            knowledge.fix(self.returned.number[person], value)
            if follow and isinstance(strategy, PublicPool):
                strategy.note_known(self.returned.number[person], value)
        knowledge.arriving = {}

    def delete(self, person: Hashable) -> None:
        """Take somebody out of the table. What was published stays known, and stays protected.

        With a domain, whoever comes back with the same value is who he was.
        """
        with self._lock:
            self.population.remove(person)
            if self.domain is None:
                self.returned.number.pop(person, None)

    def name(self, people: Iterable[Hashable]) -> bytes | None:
        """A name of the tuples of some people, which no others have; None if somebody was not returned with
        the value that he has now.
        """
        with self._lock:
            found = list(map(self.returned.number.get, people))
        return None if None in found else _name_of(np.array(found, dtype=np.int32))

    def newcomers(self, people: Sequence[Hashable]) -> list[int]:
        """The places of those who have no tuple."""
        with self._lock:
            return [place for place, person in enumerate(people) if person not in self.returned.number]

    def results(self, newest: int) -> range:
        """So many of the newest results."""
        return range(self.knowledge.results - newest, self.knowledge.results)

    def name_of_results(self, results: Sequence[int]) -> bytes:
        """The name of the tuples of some results."""
        return _name_of(np.concatenate([self.knowledge.members(result) for result in results]))

    def block(self, result: int) -> Block:
        """A result as it was answered."""
        return self._block(ResultPart(self.knowledge.members(result), self.knowledge.counts(result)))

    def degrees(self) -> dict[Hashable, int]:
        """How many possible values everybody who was returned keeps at least."""
        with self._lock:
            degrees = self.strategy.degrees()
            return {person: int(degrees[number]) for person, number in self.returned.number.items()}

    def signatures(self) -> dict[Hashable, tuple[str, ...]]:
        """Exactly the values that everybody who was returned can have; `degrees` counts some of them."""
        with self._lock:
            return self._view.signatures()

    def witness(self, person: Hashable, value: str) -> dict[Hashable, str] | None:
        """A table that fits all answers and has this value for somebody; None if no table does."""
        with self._lock:
            return self._view.witness(person, value)

    @property
    def _view(self) -> OwnerView:
        return OwnerView(self.knowledge, self.population.labels, self.truth, self.returned.number)

    @property
    def least_degree(self) -> int | None:
        """The least of all degrees, of values that have changed too; None if nobody was returned."""
        with self._lock:
            return int(self.strategy.degrees().min()) if self.returned.people else None

    @property
    def events(self) -> dict[str, int]:
        """What is known besides answers: how many values changed, and what a list from the table tells."""
        with self._lock:
            knowledge = self.knowledge
            return {
                "changes": knowledge.results - len(knowledge.answers) - len(knowledge.known),
                "unreturned": knowledge.unreturned,
                "binding_floors": int(np.count_nonzero(knowledge.binding_floors)),
            }

    @property
    def truth(self) -> Integers:
        """The true value of every tuple that was returned; only the owner may see it."""
        return self.returned.truth

    def resume(
        self,
        entries: Iterable[HistoryEntry],
        state: Mapping[str, NDArray[Any]] | None = None,
        after: int | None = None,
        versions: Mapping[int, Sequence[Version]] | None = None,
    ) -> None:
        """Go on where another gate stopped: with all its entries, and with a state that it had.

        Without a state the strategy follows the entries one by one, which takes about as long as it took to
        answer them. Nothing is taken on trust: it must be proven anew that everybody keeps k values.

        Args:
            entries: all of them, in their order.
            state: of the strategy.
            after: how many entries the state has seen; all if this is not said.
            versions: whose values were noted before the entry of a number (`begin_version`).
        """
        if self.returned.people:
            raise ParameterError(
                "gate.only-new-gate-can-take", "only a new gate can take over the history of another"
            )
        all_entries, noted = list(entries), versions or {}
        seen = 0 if state is None else len(all_entries) if after is None else after
        for place, entry in enumerate(all_entries, start=1):
            with self._lock:
                for one in noted.get(place, ()):
                    self._begin_version(one.person, one.label, one.is_change, follow=place > seen)
                self._take_over(entry, follow=place > seen)
                if state is not None and place == seen:
                    self.strategy.restore(self.truth, state)
        with self._lock:
            for one in noted.get(len(all_entries) + 1, ()):
                self._begin_version(one.person, one.label, one.is_change)
            if self.domain is not None:
                return
            for person, number in list(self.returned.number.items()):
                if person not in self.population or self.population.secret(person) != self.truth[number]:
                    del self.returned.number[person]

    def _take_over(self, entry: HistoryEntry, follow: bool) -> None:
        code = self.population.code
        people = [person for person, _ in entry.newcomers]
        self.returned.enter(people, [code(label) for _, label in entry.newcomers])
        self._widen()
        self._arrive(self.knowledge.tuples)
        for block in entry.blocks:
            codes = np.array([code(label) for label in block.values])
            members = np.array([self.returned.number[person] for person in block.people], dtype=np.int32)
            self._offer(members)
            self.knowledge.publish(members, counted(codes, self.knowledge.values))
            if follow:
                self.strategy.follow(self.truth[: self.knowledge.tuples])
        self.knowledge.arriving = {}

    def _fix_known(self, asked: Iterable[Hashable]) -> None:
        """Whoever is met for the first time and has a value that counts as known has just that one.

        A gate that is recorded is told so before (`begin_version`), by whoever writes its record: it must
        know it as well when it resumes.
        """
        if self.domain is None:
            return
        labels = self.population.labels
        for person in asked:
            if person in self.known and person not in self.returned.number:
                assert self._record is None, "a value that counts as known is noted before it is asked for"
                self._begin_version(person, labels[self.population.secret(person)], is_change=False)

    def _decide(self, asked: list[Hashable], at_least: int) -> Answer | Refusal:
        known = len(self.returned.people)
        secrets = [self.population.secret(person) for person in asked]
        self._widen()
        try:
            new = [place for place, person in enumerate(asked) if person not in self.returned.number]
            self.returned.enter([asked[place] for place in new], [secrets[place] for place in new])
            self._arrive(known)
            members = np.array([self.returned.number[person] for person in asked], dtype=np.int32)
            proposal = self.decision.decide(self.strategy, members, self.truth, at_least)
            if proposal is None:
                self._forget(known)
                return Refusal()
            if proposal.order is not None:
                self.returned.reorder(known, proposal.order)
            blocks = tuple(self._block(part) for part in proposal.parts)
            if self._record is not None:
                newcomers = zip(self.returned.people[known:], self.truth[known:].tolist(), strict=True)
                labels = self.population.labels
                self._record(
                    HistoryEntry(tuple((who, labels[code]) for who, code in newcomers), blocks), self.strategy
                )
        except BaseException:
            self.strategy.reject()
            self._forget(known)
            raise
        for part in proposal.parts:
            self._offer(part.members)
            self.knowledge.publish(part.members, part.counts)
        self.strategy.accept()
        self.knowledge.arriving = {}
        artificial = sum(len(block.values) for block in blocks) - len(asked)
        return Answer(blocks, artificial, proposal.least)

    def _block(self, part: ResultPart) -> Block:
        counts = part.counts.tolist()  # fewer than labels, if some turned up later
        repeated = (
            itertools.repeat(*one) for one in sorted(zip(self.population.labels, counts, strict=False))
        )
        people = tuple(map(self.returned.people.__getitem__, part.members.tolist()))
        return Block(people, tuple(itertools.chain.from_iterable(repeated)))

    def _offer(self, members: Integers) -> None:
        if isinstance(self.strategy, PublicPool):
            self.offered[_name_of(members)] = tuple(could_have(self.knowledge, members))

    def _arrive(self, known: int) -> None:
        """Tell the knowledge which of those who are new were there when the list of labels was made."""
        if self._founders:
            new = enumerate(self.returned.people[known:], start=known)
            self.knowledge.arriving = {
                number: self._founder_place[person] for number, person in new if person in self._founders
            }

    def _forget(self, known: int) -> None:
        self.returned.forget(known)
        self.knowledge.arriving = {}

    def _widen(self) -> None:
        more = len(self.population.labels) - self.knowledge.values
        if more > 0:
            self.knowledge.add_values(more)


def _name_of(members: Integers) -> bytes:
    """A name of some tuples, whatever their order: as sets of numbers, many large answers fill the memory."""
    return hashlib.sha256(np.sort(members).tobytes()).digest()
