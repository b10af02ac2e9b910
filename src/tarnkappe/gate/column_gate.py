"""One sensitive column as one circle of people sees it: its gate, and all that was answered."""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Callable, Sequence

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate.decision import AsFewAsPossible, DecisionRule, RefuseWhatBreaks
from tarnkappe.gate.gate import Block, Gate, HistoryEntry, Refusal
from tarnkappe.gate.history_store import HistoryStore, SavedState
from tarnkappe.gate.labels import Labels
from tarnkappe.gate.partition import DivideOnly
from tarnkappe.gate.policy import GatePolicy, Sensitive
from tarnkappe.gate.population import Population
from tarnkappe.gate.signature_check import Unlike
from tarnkappe.gate.strategy import Strategy
from tarnkappe.gate.surplus import Coins, Veiled

SECONDS_BETWEEN_STATES = 30.0
"""How much work of the strategy is done again after a crash, about."""
Mark = Callable[[str, str, str | None], str]
"""Makes the mark of a value of a column that somebody has."""


class ColumnGate:
    """Answers for one sensitive column and one history, kept before they leave.

    The same people with the same values are answered once: asked again, they get the same answer.
    """

    def __init__(
        self,
        policy: GatePolicy,
        column: Sensitive,
        history: str,
        labels: Labels,
        mark: Mark,
        store: HistoryStore,
        make: Callable[[str], Strategy],
        coins: Coins | None = None,
    ) -> None:
        self.column, self.history, self._store = column, history, store
        self._labels, self._mark = labels, mark
        self._looked: dict[str, str | None] = {}
        saved = store.saved(history, column.name)
        population = Population({}, [*([] if saved is None else saved.labels), *labels.all])
        self.gate = Gate(
            population,
            column.k,
            make(strategy_of(policy)),
            decision=decision_of(policy, coins, Unlike(column, population.labels) if column.alike else None),
            record=self._keep,
            seed=secrets.randbits(31) if coins is None else 0,
        )
        self._answers: dict[frozenset[int], tuple[Block, ...]] = {}
        self._count = 0
        self._saved_at = time.monotonic()
        entries = list(store.entries(history, column.name))
        for entry in entries:
            for person, label in entry.newcomers:
                self.gate.population.put(person, label)
        if saved is not None and saved.strategy == self.gate.strategy.name:
            self.gate.resume(entries, saved.arrays, saved.answers)
        else:
            self.gate.resume(entries)
        self._count = len(entries)
        self._remember(entries)
        if len(population.labels) > len(labels.all):
            raise GuaranteeError(
                f"{store.store.place}: these answers were given by an older version, with values of "
                f"'{column.name}' that the list of the policy lacks: that they occur is known. Use that "
                "version, or name a new store for people whom nobody was told about"
            )

    def look(self, people: Sequence[str], secrets: Sequence[str | None]) -> None:
        """Take note of what the table says now of some people."""
        population = self.gate.population
        self._looked = dict(zip(people, secrets, strict=True))
        for person, secret in self._looked.items():
            label = self._labels.of(secret)
            if person not in population or population.labels[population.secret(person)] != label:
                self.gate.update(person, label)

    def foresees_refusal(self, people: Sequence[str]) -> bool:
        """Whether these people will be refused for reasons that anybody can see."""
        return self._known(people) is None and self.gate.foresees_refusal(people)

    def ask(self, people: Sequence[str], at_least: int = 0) -> tuple[Block, ...] | Refusal:
        """The answer for some people, who were looked at before."""
        known = self._known(people)
        if known is not None:
            return known
        answer = self.gate.ask(people, at_least)
        if isinstance(answer, Refusal):
            return answer
        numbers = self.gate.numbers(people)
        assert numbers is not None, "everybody who is in an answer has a number"
        self._answers[numbers] = answer.blocks
        if time.monotonic() - self._saved_at > SECONDS_BETWEEN_STATES:
            self.save()
        return answer.blocks

    def save(self) -> None:
        """Keep the state of the strategy, so that the next start is short."""
        if self._count:
            strategy = self.gate.strategy
            state = SavedState(self._count, strategy.name, self.gate.population.labels, strategy.state())
            self._store.save(self.history, self.column.name, state)
        self._saved_at = time.monotonic()

    @property
    def answers(self) -> int:
        """How many different answers were given."""
        return self._count

    @property
    def least_degree(self) -> int | None:
        """How many possible values everybody keeps at least; None while nobody was returned."""
        return self.gate.least_degree

    def _known(self, people: Sequence[str]) -> tuple[Block, ...] | None:
        numbers = self.gate.numbers(people)
        return None if numbers is None else self._answers.get(numbers)

    def _keep(self, entry: HistoryEntry, strategy: Strategy) -> None:
        name, looked = self.column.name, self._looked
        stored = tuple(self._mark(name, str(who), looked[str(who)]) for who, _ in entry.newcomers)
        self._store.add(self.history, name, self._count + 1, dataclasses.replace(entry, stored=stored))
        self._count += 1

    def _remember(self, entries: Sequence[HistoryEntry]) -> None:
        """Who was answered what, as far as the people have kept their values."""
        place = 0
        current: dict[object, int] = {}
        for entry in entries:
            for person, _ in entry.newcomers:
                current[person] = place
                place += 1
            asked = frozenset(current[person] for block in entry.blocks for person in block.people)
            self._answers[asked] = entry.blocks


def decision_of(policy: GatePolicy, coins: Coins | None = None, unlike: Unlike | None = None) -> DecisionRule:
    """The rule by which a policy answers or refuses."""
    if policy.on_violation == "add":
        return AsFewAsPossible() if policy.open_leaks else Veiled(policy.surplus, coins, unlike)
    return RefuseWhatBreaks() if policy.open_leaks else DivideOnly()


def strategy_of(policy: GatePolicy) -> str:
    """The strategy that a policy needs."""
    return "exact" if policy.on_violation == "refuse" and not policy.open_leaks else policy.strategy
