"""One sensitive column as one circle of people sees it: its gate, and all that was answered."""

from __future__ import annotations

import dataclasses
import itertools
import secrets
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate.answer import Block, HistoryEntry, Refusal
from tarnkappe.gate.decision import AsFewAsPossible, DecisionRule, RefuseWhatBreaks
from tarnkappe.gate.estimate import PublicDraw, SurplusDraw
from tarnkappe.gate.gate import Gate
from tarnkappe.gate.history_store import HistoryStore, SavedState
from tarnkappe.gate.label_sets import LabelSets, SumOfSets
from tarnkappe.gate.labels import Labels
from tarnkappe.gate.partition import DivideOnly
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.policy_columns import Sensitive
from tarnkappe.gate.population import Population, Version
from tarnkappe.gate.public_pool import PublicPool
from tarnkappe.gate.set_estimate import SetDraw
from tarnkappe.gate.signature_check import class_of
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
        known: frozenset[str] = frozenset(),
        secret: bytes = b"",
    ) -> None:
        self.column, self.history, self._store = column, history, store
        self._labels, self._mark, self._is_open = labels, mark, policy.answers_everybody
        self._looked: dict[str, str | None] = {}
        self._kept: dict[str, str] = {}
        """Marks of the values that people had when they were answered, of those who were not seen since."""
        self._seen: dict[str, str | None] = {}
        """The values of the others."""
        saved = store.saved(history, column.name)
        entries = list(store.entries(history, column.name))
        self._require_listed(entries)
        self._founders = store.founders(column.name) if labels.domain.floors and self._is_open else {}
        population = Population({}, labels.all)
        self.gate = Gate(
            population,
            column.k,
            make(strategy_of(policy))
            if not self._is_open
            else _open_strategy(policy, column, labels, secret),
            decision=decision_of(policy, coins),
            record=self._keep,
            seed=secrets.randbits(60) if coins is None else 0,
            domain=labels.domain if self._is_open else None,
            founders={person: founder.label for person, founder in self._founders.items()},
            known=known,
        )
        self._is_between = False
        """Whether values were noted after the last answer; a state is of answers."""
        self._answers: dict[bytes, range] = {}
        """The results of each answer, by its name."""
        self._count = 0
        self._saved_at = time.monotonic()
        versions = store.versions(history, column.name)
        for entry in entries:
            for person, label in entry.newcomers:
                population.put(person, label)
        if saved is not None and saved.strategy == self.gate.strategy.name and saved.labels == labels.all:
            self.gate.resume(entries, saved.arrays, saved.answers, versions)
        else:
            self.gate.resume(entries, versions=versions)
        self._count = len(entries)
        self._is_between = self._count + 1 in versions
        self._remember(entries, versions)

    def _require_listed(self, entries: Sequence[HistoryEntry]) -> None:
        listed = set(self._labels.all)
        told = {label for entry in entries for _, label in entry.newcomers}
        told |= {label for entry in entries for block in entry.blocks for label in block.values}
        if told - listed:
            raise GuaranteeError(
                "gate.answers-given-older-version",
                "{store}: these answers were given by an older version, with values of '{column}' that the "
                "list of the policy lacks: that they occur is known. Use that version, or name a new store "
                "for people whom nobody was told about",
                store=self._store.store.place,
                column=self.column.name,
            )
        unmarked = [entry for entry in entries if len(entry.stored) < len(entry.newcomers)]
        merged = self._labels.domain.merged
        if self._is_open and any(label in merged for one in unmarked for _, label in one.newcomers):
            raise GuaranteeError(
                "gate.answers-given-older-version-not-note",
                "{store}: these answers were given by an older version, which did not note what stands "
                "behind {merged}: changes could not be noticed. Use that version, or name a new store for "
                "people whom nobody was told about",
                store=self._store.store.place,
                merged=" and ".join(sorted(merged)),
            )

    def look(self, people: Sequence[str], secrets: Sequence[str | None]) -> None:
        """Take note of what the table says now of some people; whose value changed is in the store when this
        returns.
        """
        population = self.gate.population
        self._looked = dict(zip(people, secrets, strict=True))
        if self._is_open:
            self._note_changes()
            return
        for person, secret in self._looked.items():
            label = self._labels.of(secret)
            if person not in population or population.labels[population.secret(person)] != label:
                self.gate.update(person, label)

    def _note_changes(self) -> None:
        versions = []
        for person, stored in self._looked.items():
            label = self._labels.of(stored)
            if self._has_changed(person, stored, label):
                versions.append(Version(person, label, self._mark(self.column.name, person, stored)))
        self._begin_versions(versions)

    def _meet(self, people: Sequence[str], secrets: Sequence[str | None]) -> None:
        """Learn the values of those who were never answered."""
        new = {people[place]: secrets[place] for place in self.gate.newcomers(people)}
        self._looked = new
        known = [person for person in new if person in self.gate.known]
        marks = {person: self._mark(self.column.name, person, new[person]) for person in known}
        of = self._labels.of
        self._begin_versions(
            [Version(person, of(new[person]), marks[person], is_change=False) for person in known]
        )
        for person, stored in new.items():
            self.gate.population.put(person, of(stored))

    def _begin_versions(self, versions: Sequence[Version]) -> None:
        if versions:
            self._store.add_versions(self.history, self.column.name, self._count + 1, versions)
            for version in versions:
                self.gate.begin_version(version.person, version.label, version.is_change)
                self._seen[str(version.person)] = self._looked[str(version.person)]
            self._is_between = True

    def _has_changed(self, person: str, stored: str | None, label: str) -> bool:
        """Whether somebody has another value than the last one that counts.

        The stored values are compared, not their labels: two values that are both shown as `(other)` are
        different. A label that stands for one value is that value, however it is written.
        """
        last = self.gate.last_label(person)
        if last is None:
            return False
        if last == label and label not in self._labels.domain.merged:
            return False
        if person in self._seen:
            return self._seen[person] != stored
        kept = self._kept.get(person)
        if kept is None:
            kept = self._founders[person].stored if person in self._founders else None
        same = kept == self._mark(self.column.name, person, stored)
        if same and self.gate.is_tuple(person):
            self._seen[person] = stored
        return not same

    def foresees_refusal(self, people: Sequence[str]) -> bool:
        """Whether these people will be refused for reasons that anybody can see."""
        return self._known(people) is None and self.gate.foresees_refusal(people)

    def ask(
        self,
        people: Sequence[str],
        secrets: Sequence[str | None],
        at_least: int = 0,
        until: float | None = None,
    ) -> tuple[Block, ...] | Refusal:
        """The answer for some people. All changes of their values were looked at before.

        Args:
            people: who.
            secrets: their values as the table has them.
            at_least: how many values the answer should have, if the rule has any choice.
            until: when the search for worlds ends, by `time.monotonic`.
        """
        known = self._known(people)
        if known is not None:
            return known
        if self._is_open:
            self._meet(people, secrets)
        if isinstance(self.gate.strategy, PublicPool):
            self.gate.strategy.until = until
        answer = self.gate.ask(people, at_least)
        if isinstance(answer, Refusal):
            return answer
        name = self.gate.name(people)
        assert name is not None, "everybody who is in an answer has a tuple"
        self._answers[name] = self.gate.results(len(answer.blocks))
        if self._is_open:
            self._seen.update(self._looked)
        if time.monotonic() - self._saved_at > SECONDS_BETWEEN_STATES:
            self.save()
        return answer.blocks

    def draw_of(self, people: Sequence[str]) -> PublicDraw:
        """What is public about how the answer for some people, who were answered, was drawn."""
        if isinstance(self.gate.strategy, LabelSets):
            return SetDraw(len(people), self.column.k, frozenset(self._labels.all))
        name = self.gate.name(people)
        assert name is not None, "they were answered"
        offered = self.gate.offered[name]
        labels = frozenset(self._labels.all[value] for value in offered)
        decision = self.gate.decision
        assert isinstance(decision, Veiled), "only answers with surplus values are estimated from"
        knowledge = self.gate.knowledge
        size = sum(int(knowledge.counts(result).sum()) for result in self._answers[name]) - len(people)
        floor = decision.floor(len(people), self.column.k, len(offered))
        independent = decision.is_independent(len(people), self.column.k, len(offered))
        return SurplusDraw(len(people), size, floor, labels, independent)

    def save(self) -> None:
        """Keep the state of the strategy, so that the next start is short."""
        if self._count and not self._is_between:
            strategy = self.gate.strategy
            state = SavedState(self._count, strategy.name, self.gate.population.labels, strategy.state())
            self._store.save(self.history, self.column.name, state)
        self._saved_at = time.monotonic()

    @property
    def knows_people(self) -> bool:
        """Whether somebody's value counts already: who was answered, or was there when a list was made."""
        return bool(self._count or self._founders or self.gate.knowledge.tuples)

    @property
    def answers(self) -> int:
        """How many different answers were given."""
        return self._count

    @property
    def odds(self) -> dict[str, float]:
        """By how much the odds of two possible values can have changed, at most, if that is bounded."""
        strategy = self.gate.strategy
        return {"largest_odds": float(strategy.largest_odds)} if isinstance(strategy, LabelSets) else {}

    @property
    def least_degree(self) -> int | None:
        """How many possible values everybody keeps at least; None while nobody was returned."""
        return self.gate.least_degree

    def _known(self, people: Sequence[str]) -> tuple[Block, ...] | None:
        name = self.gate.name(people)
        results = None if name is None else self._answers.get(name)
        return None if results is None else tuple(map(self.gate.block, results))

    def _keep(self, entry: HistoryEntry, strategy: Strategy) -> None:
        name, looked = self.column.name, self._looked
        stored = tuple(self._mark(name, str(who), looked[str(who)]) for who, _ in entry.newcomers)
        state = None
        if self._founders:  # without its worlds, which count with everybody, it might not find others
            state = SavedState(self._count + 1, strategy.name, self.gate.population.labels, strategy.state())
        entry = dataclasses.replace(entry, stored=stored)
        self._store.add(self.history, name, self._count + 1, entry, state)
        self._count += 1
        self._is_between = False

    def _remember(self, entries: Sequence[HistoryEntry], versions: Mapping[int, Sequence[Version]]) -> None:
        """Who was answered what, and with which value as the table has it."""
        knowledge = self.gate.knowledge
        results = iter(knowledge.answers)
        for number, entry in enumerate(entries, start=1):
            for version in versions.get(number, ()):
                self._kept[str(version.person)] = version.stored
            for (person, _), mark in zip(entry.newcomers, entry.stored, strict=False):
                self._kept[str(person)] = mark
            parts = list(itertools.islice(results, len(entry.blocks)))
            if parts:
                name = self.gate.name_of_results(parts)
                self._answers[name] = range(parts[0], parts[-1] + 1)
        for version in versions.get(len(entries) + 1, ()):
            self._kept[str(version.person)] = version.stored


def decision_of(policy: GatePolicy, coins: Coins | None = None) -> DecisionRule:
    """The rule by which a policy answers or refuses."""
    if policy.strategy == "veil":
        return SumOfSets()
    if policy.on_violation == "add":
        return AsFewAsPossible() if policy.open_leaks else Veiled(policy.surplus, coins)
    return RefuseWhatBreaks() if policy.open_leaks else DivideOnly()


def _open_strategy(
    policy: GatePolicy, column: Sensitive, labels: Labels, secret: bytes
) -> PublicPool | LabelSets:
    """The pool of a policy that answers by the rule of `surplus`, in which values that are alike count as
    one; or the sets of one that answers by that of `label_sets`, drawn from a secret.
    """
    if policy.strategy == "veil":
        sets = LabelSets()
        sets.secret = secret
        sets.merged = frozenset(labels.all.index(label) for label in labels.domain.merged)
        return sets
    search = dataclasses.asdict(policy.search)
    pool = PublicPool(is_exact=policy.strategy == "exact", **search)
    if column.alike:
        names = [class_of(column, label) for label in labels.all]
        pool.classes = np.array([sorted(set(names)).index(name) for name in names], dtype=np.int32)
    return pool


def strategy_of(policy: GatePolicy) -> str:
    """The strategy that a policy needs."""
    return "exact" if policy.on_violation == "refuse" and not policy.open_leaks else policy.strategy
