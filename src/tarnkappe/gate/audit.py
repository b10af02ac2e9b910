"""The audit: what a gate has answered is looked at again, offline, and proven or refuted.

It trusts neither the gate nor its strategy. The log must be whole; every answer must contain the values
that its people had, and follow the rule of the policy as far as that can be seen; nobody may have been
answered with a value that the public list lacks; and witnesses must show that everybody who was ever returned
keeps k possible values, for whoever knows the changes, the holders that a list tells of, and the values that
the policy declares as known. By a policy that refuses, or that accepts a leak, nobody may have been answered
with two values, or though he is held back for a list. Where the witnesses come
from does not matter: `certificate` checks them without a solver. If there are none, the true degree of
anonymity is found exactly.

Signatures only shrink as answers are added, so what holds after the last answer has held after each.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tarnkappe.errors import GuaranteeError, VerificationError
from tarnkappe.gate.answer import HistoryEntry
from tarnkappe.gate.certificate import certify
from tarnkappe.gate.column_gate import decision_of
from tarnkappe.gate.domain import LabelDomain
from tarnkappe.gate.exact_test import settle, signatures
from tarnkappe.gate.history_store import HistoryStore, SavedState
from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.gate.label_sets import SumOfSets
from tarnkappe.gate.owner_view import OwnerView
from tarnkappe.gate.partition import DivideOnly
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.policy_columns import OTHER, Sensitive
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.population import Version
from tarnkappe.gate.roster_audit import _follows_the_roster, _is_noted, _were_there
from tarnkappe.gate.roster_log import RosterLog
from tarnkappe.gate.signature_check import farthest, unlike
from tarnkappe.gate.strategy import counted
from tarnkappe.gate.surplus import Veiled
from tarnkappe.gate.world_search import could_have
from tarnkappe.state.store import Store
from tarnkappe.table.table import MISSING

Progress = Callable[[str], None]
EVERYTHING = ("answers", "changes", "occurrence", "known")
NOTE = "changes and occurrence unknown: an older version answered, so the answers alone were proven"


@dataclasses.dataclass(frozen=True)
class Audited:
    """What was proven of one sensitive column of one history.

    Attributes:
        people: how many people were returned; somebody whose value changed counts once for each value.
        k: what was promised: how many possible values everybody keeps.
        witnesses: how many distributions prove it.
        values: how many values were published.
        artificial: how many of them are artificial.
        proven: what the proof counts with: the answers, who changed, that listed values occur, and the values
            that count as known. An older version did not note all of it.
    """

    history: str
    column: str
    answers: int
    people: int
    k: int
    witnesses: int
    values: int
    artificial: int
    proven: tuple[str, ...] = EVERYTHING

    @property
    def is_complete(self) -> bool:
        """Whether the proof counts with all that the attacker knows."""
        return self.proven == EVERYTHING

    def __str__(self) -> str:
        told = (
            f"{self.column}, as seen by {self.history}: {self.answers:,} answers with {self.people:,} "
            f"people, everybody keeps at least {self.k} possible values ({self.witnesses:,} witnesses)"
        )
        return told if self.is_complete else f"{told}; {NOTE}"


def audit(
    policy: GatePolicy, store: Store, head: str | None = None, progress: Progress | None = None
) -> list[Audited]:
    """Prove everything that a gate has answered.

    Args:
        policy: under which it answered.
        store: its store.
        head: of the audit log, kept elsewhere.
        progress: is told what is being looked at.

    Raises:
        VerificationError: the log is not whole, or an answer cannot have been given by this policy.
        GuaranteeError: somebody is left with fewer than k possible values.
    """
    histories = HistoryStore(store)
    histories.verify(head)
    roster = RosterLog(histories)
    roster.verify()
    found = []
    for history, name in histories.histories():
        if progress is not None:
            progress(f"{name}, as seen by {history}")
        column = policy.sensitive_column(name)
        if column is None:
            raise VerificationError(
                "gate.policy-not-protect-column",
                "the policy does not protect the column '{name}', but it was answered",
                name=name,
            )
        entries = list(histories.entries(history, name))
        replay = Replay.of(policy, column, histories, history)
        whole = _is_noted(column, entries)
        if whole and not policy.answers_everybody:
            _follows_the_roster(store, column, entries)
        _were_there(list(roster.entries()), history, name, entries)
        witnesses = replay.prove(histories.saved(history, name))
        found.append(
            Audited(
                history,
                name,
                len(entries),
                len(replay.truth),
                column.k,
                witnesses,
                *replay.published(),
                EVERYTHING if whole else EVERYTHING[:1],
            )
        )
    return found


class Replay:
    """The answers of one history, one after the other, as the attacker saw them."""

    def __init__(
        self,
        policy: GatePolicy,
        column: Sensitive,
        entries: Sequence[HistoryEntry],
        versions: Mapping[int, Sequence[Version]] | None = None,
        founders: Mapping[str, str] | None = None,
        known: frozenset[str] = frozenset(),
    ) -> None:
        self.policy, self.column, self._known = policy, column, known
        self._is_noted = _is_noted(column, entries)
        domain = _domain(column, entries if not self._is_noted else (), founders or {})
        self.labels = list(domain.labels)
        self._code = {label: code for code, label in enumerate(self.labels)}
        self._founders = dict(founders or {})
        self._place = {person: place for place, person in enumerate(self._founders)}
        self.knowledge = domain.knowledge(len(self._founders))
        self._number: dict[object, int] = {}
        self._truth: list[int] = []
        self._decision = decision_of(policy)
        for place, entry in enumerate(entries, start=1):
            for version in (versions or {}).get(place, ()):
                self._begin_version(version)
            self._take(place, entry)
        for version in (versions or {}).get(len(entries) + 1, ()):
            self._begin_version(version)
        self.truth: Integers = np.array(self._truth, dtype=np.int32)

    @classmethod
    def of(cls, policy: GatePolicy, column: Sensitive, histories: HistoryStore, history: str) -> Replay:
        """The answers of a history, with all that was noted besides."""
        entries = list(histories.entries(history, column.name))
        if not policy.answers_everybody:
            return cls(policy, column, entries)
        founders = {}
        if column.values_from == "table":
            founders = {who: one.label for who, one in histories.founders(column.name).items()}
        known = frozenset(histories.promise("known") or ())
        return cls(policy, column, entries, histories.versions(history, column.name), founders, known)

    def _begin_version(self, version: Version) -> None:
        """Somebody has another value than before, or one that counts as known."""
        person, knowledge = version.person, self.knowledge
        if version.label not in self._code:
            raise VerificationError(
                "gate.somebody-changed-value-list",
                "somebody changed to a value that the list of the policy lacks",
            )
        arrives = person not in self._number and person in self._founders
        knowledge.arriving = {len(self._truth): self._place[str(person)]} if arrives else {}
        if version.is_change:
            if arrives:
                self._enter(person, self._founders[str(person)])
            if person not in self._number:
                raise VerificationError(
                    "gate.somebody-changed-value-never", "somebody changed whose value was never noted"
                )
            old = self._number[person]
            if self.labels[self._truth[old]] == version.label and version.label not in self.merged:
                raise VerificationError(
                    "gate.somebody-changed-value", "somebody changed to the value that he had"
                )
            knowledge.change(old)
            if arrives and person in self._known:
                knowledge.fix(old, self._truth[old])
        self._enter(person, version.label)
        if person in self._known:
            knowledge.fix(self._number[person], self._code[version.label])
        knowledge.arriving = {}

    @property
    def merged(self) -> frozenset[str]:
        """The labels that stand for several values."""
        return frozenset({OTHER, MISSING}) & frozenset(self.labels)

    def _enter(self, person: object, label: str) -> None:
        self._number[person] = len(self._truth)
        self._truth.append(self._code[label])

    def _take(self, place: int, entry: HistoryEntry) -> None:
        known = len(self._truth)
        for person, label in entry.newcomers:
            if self._is_noted and person in self._number and self.policy.answers_everybody:
                raise VerificationError(
                    "gate.answer-somebody-value-changed",
                    "answer {place} has somebody whose value had changed",
                    place=place,
                )
            if self.column.values is not None and label not in self._code:
                raise VerificationError(
                    "gate.answer-value-list-policy",
                    "answer {place} has a value that the list of the policy lacks",
                    place=place,
                )
            self._enter(person, label)
        new = enumerate([person for person, _ in entry.newcomers], start=known)
        self.knowledge.arriving = {n: self._place[str(p)] for n, p in new if p in self._founders}
        width = len(self.labels)
        for block in entry.blocks:
            if not all(person in self._number for person in block.people):
                raise VerificationError(
                    "gate.answer-somebody-value-never",
                    "answer {place} has somebody whose value was never noted",
                    place=place,
                )
            if not set(block.values) <= set(self._code):
                raise VerificationError(
                    "gate.answer-value-list-policy",
                    "answer {place} has a value that the list of the policy lacks",
                    place=place,
                )
            members = np.array([self._number[person] for person in block.people], dtype=np.int32)
            counts = counted(np.array([self._code[label] for label in block.values]), width)
            if (counted(np.array(self._truth, dtype=np.int32)[members], width) > counts).any():
                raise VerificationError(
                    "gate.answer-lacks-values-people",
                    "answer {place} lacks values that its people have",
                    place=place,
                )
            if isinstance(self._decision, Veiled):
                self._check_surplus(self._decision, place, members, counts)
            if isinstance(self._decision, SumOfSets) and counts.sum() != self.column.k * len(members):
                raise VerificationError(
                    "gate.answer-no-sum-sets",
                    "answer {place} is no sum of sets of {k} values",
                    place=place,
                    k=self.column.k,
                )
            if isinstance(self._decision, DivideOnly) and self._refused(self._decision, members, counts):
                raise VerificationError(
                    "gate.answer-should-been-refused", "answer {place} should have been refused", place=place
                )
            self.knowledge.publish(members, counts)
        self.knowledge.arriving = {}

    def _check_surplus(self, decision: Veiled, place: int, members: Integers, counts: Integers) -> None:
        labels = could_have(self.knowledge, members)
        if int(counts.sum()) - len(members) < decision.floor(len(members), self.column.k, len(labels)):
            raise VerificationError(
                "gate.answer-fewer-artificial-values",
                "answer {place} has fewer artificial values than the policy says",
                place=place,
            )
        could = np.zeros(len(counts), dtype=np.bool_)
        could[labels] = True
        if (counts[~could] > 0).any():
            raise VerificationError(
                "gate.answer-values-nobody",
                "answer {place} has values that nobody in it can have",
                place=place,
            )

    def _refused(self, decision: DivideOnly, members: Integers, counts: Integers) -> bool:
        exact = int(counts.sum()) == len(members)
        return not exact or decision.foresees_refusal(self.knowledge, members, self.column.k)

    def prove(self, saved: SavedState | None) -> int:
        """Find witnesses that everybody keeps k values, and check them; returns how many there are."""
        if not len(self.truth):
            return 0
        pool = Pool(self.knowledge)
        if not pool.fits(self.truth):
            raise VerificationError(
                "gate.values-people-contradict-what-list",
                "the values that people had contradict what the list of the policy tells",
            )
        pool.add(self.truth)
        for witness in self._kept(saved):
            if pool.fits(witness):
                pool.add(witness)
        settle(pool, self.column.k)
        protected = np.ones(self.knowledge.tuples, dtype=np.bool_)
        protected[list(self.knowledge.known)] = False
        if (pool.degrees()[protected] < self.column.k).any():
            found = signatures(self.knowledge, self.truth)
            degrees = Counter(len(found[number]) for number in np.flatnonzero(protected))
            told = ", ".join(
                f"{degrees[degree]} keep {degree}" for degree in sorted(degrees) if degree < self.column.k
            )
            raise GuaranteeError(
                "gate.not-everybody-keeps-possible",
                "'{column}': not everybody keeps {k} possible values: {told}",
                column=self.column.name,
                k=self.column.k,
                told=told,
            )
        certify(self.knowledge, pool.values, self.column.k)
        self._check_signatures(protected)
        return pool.count

    def _check_signatures(self, protected: Booleans) -> None:
        column = self.column
        if column.alike:
            found = signatures(self.knowledge, self.truth)
            left = min(unlike(column, self.labels, found[one]) for one in np.flatnonzero(protected))
            if left < column.k:
                raise GuaranteeError(
                    "gate.somebody-keeps-values-unlike",
                    "'{column}': somebody keeps {left} values that are unlike each other",
                    column=column.name,
                    left=left,
                )
        if column.closeness is not None:
            distance = farthest(self.knowledge, self.truth)
            if distance > column.closeness:
                raise GuaranteeError(
                    "gate.values-somebody-keeps",
                    "'{column}': the values that somebody keeps are {distance:.3f} from those of all, more "
                    "than {closeness}",
                    column=column.name,
                    distance=distance,
                    closeness=column.closeness,
                )

    @property
    def view(self) -> OwnerView:
        """What is possible for everybody, with the values that people had last; by their marks."""
        return OwnerView(self.knowledge, self.labels, self.truth, self._number)

    def published(self) -> tuple[int, int]:
        """How many values were published, and how many of them are artificial."""
        results = self.knowledge.answers
        values = sum(int(self.knowledge.counts(result).sum()) for result in results)
        return values, values - sum(len(self.knowledge.members(result)) for result in results)

    def _kept(self, saved: SavedState | None) -> list[Integers]:
        """The witnesses of the strategy, if it kept some, completed by the truth for later people."""
        if saved is None or "worlds" not in saved.arrays:
            return []
        code = np.array([self._code.get(label, -1) for label in saved.labels], dtype=np.int32)
        full = []
        for witness in saved.arrays["worlds"]:
            value = self.truth.copy()
            value[: len(witness)] = code[witness][: len(value)]
            full.append(value)
        return full


def _domain(column: Sensitive, entries: Sequence[HistoryEntry], founders: Mapping[str, str]) -> LabelDomain:
    """The labels that the attacker counts with: those of the list, and those that an older version showed."""
    shown = {label for entry in entries for _, label in entry.newcomers}
    shown |= {label for entry in entries for block in entry.blocks for label in block.values}
    labels = tuple(sorted(shown.union(column.values or (), {OTHER})))
    floors = dict.fromkeys(column.values or (), column.holders or 0) if founders else {}
    return LabelDomain(labels, frozenset({OTHER, MISSING}) & frozenset(labels), floors)
