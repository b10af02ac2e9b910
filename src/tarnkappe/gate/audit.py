"""The audit: what a gate has answered is looked at again, offline, and proven or refuted.

It trusts neither the gate nor its strategy. The log must be whole; every answer must contain the values
that its people had, and follow the rule of the policy as far as that can be seen; nobody may have been
answered with two values, or with one that the public list lacks, or though he is held back for a list; and
witnesses must show that everybody who was ever returned keeps k possible values. Where the witnesses come
from does not matter: `certificate` checks them without a solver. If there are none, the true degree of
anonymity is found exactly.

Signatures only shrink as answers are added, so what holds after the last answer has held after each.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from tarnkappe.errors import GuaranteeError, VerificationError
from tarnkappe.gate.certificate import certify
from tarnkappe.gate.column_gate import decision_of
from tarnkappe.gate.exact_test import settle, signatures
from tarnkappe.gate.gate import HistoryEntry
from tarnkappe.gate.history_store import HistoryStore, SavedState
from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.gate.partition import DivideOnly
from tarnkappe.gate.policy import OTHER, GatePolicy, Sensitive
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.roster import held_back_for
from tarnkappe.gate.signature_check import farthest, unlike
from tarnkappe.gate.strategy import counted
from tarnkappe.gate.surplus import Veiled, possible_values
from tarnkappe.state.store import Store

Progress = Callable[[str], None]
EVERYTHING = ("answers", "changes", "occurrence")
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
        proven: what the proof counts with: the answers, who changed, and that listed values occur. An older
            version did not note the last two.
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
    found = []
    for history, name in histories.histories():
        if progress is not None:
            progress(f"{name}, as seen by {history}")
        column = policy.sensitive_column(name)
        if column is None:
            raise VerificationError(f"the policy does not protect the column '{name}', but it was answered")
        entries = list(histories.entries(history, name))
        replay = Replay(policy, column, entries)
        whole = _follows_the_roster(store, column, entries)
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


def _follows_the_roster(store: Store, column: Sensitive, entries: Sequence[HistoryEntry]) -> bool:
    """Whether it was noted who changed and where the list comes from; answers must have kept to it."""
    if column.values is None or any(len(entry.stored) < len(entry.newcomers) for entry in entries):
        return False
    held_back = held_back_for(store, column)
    known: set[object] = set()
    for place, entry in enumerate(entries, start=1):
        for person, label in entry.newcomers:
            if person in known:
                raise VerificationError(f"answer {place} has somebody whose value had changed")
            if label != OTHER and label not in column.values:
                raise VerificationError(f"answer {place} has a value that the list of the policy lacks")
            if person in held_back:
                raise VerificationError(f"answer {place} has somebody who is held back for a list of values")
            known.add(person)
    return True


class Replay:
    """The answers of one history, one after the other, as the attacker saw them."""

    def __init__(self, policy: GatePolicy, column: Sensitive, entries: Sequence[HistoryEntry]) -> None:
        self.policy, self.column = policy, column
        self.labels = sorted(
            {label for entry in entries for _, label in entry.newcomers}
            | {label for entry in entries for block in entry.blocks for label in block.values}
        )
        self._code = {label: code for code, label in enumerate(self.labels)}
        self.knowledge = Knowledge(len(self.labels))
        self._number: dict[object, int] = {}
        truth: list[int] = []
        decision = decision_of(policy)
        for place, entry in enumerate(entries, start=1):
            known = len(truth)
            for person, label in entry.newcomers:
                self._number[person] = len(truth)
                truth.append(self._code[label])
            for block in entry.blocks:
                if not all(person in self._number for person in block.people):
                    raise VerificationError(f"answer {place} has somebody whose value was never noted")
                members = np.array([self._number[person] for person in block.people], dtype=np.int32)
                counts = counted(np.array([self._code[label] for label in block.values]), len(self.labels))
                if (counted(np.array(truth, dtype=np.int32)[members], len(self.labels)) > counts).any():
                    raise VerificationError(f"answer {place} lacks values that its people have")
                if isinstance(decision, Veiled):
                    self._check_surplus(decision, place, members, counts, known)
                if isinstance(decision, DivideOnly) and self._refused(decision, members, counts):
                    raise VerificationError(f"answer {place} should have been refused")
                self.knowledge.publish(members, counts)
        self.truth: Integers = np.array(truth, dtype=np.int32)

    def _check_surplus(
        self, decision: Veiled, place: int, members: Integers, counts: Integers, known: int
    ) -> None:
        if int(counts.sum()) - len(members) < decision.floor(len(members), self.column.k):
            raise VerificationError(f"answer {place} has fewer artificial values than the policy says")
        if (members < known).all() and (
            counts[~possible_values(self.knowledge, members).any(axis=0)] > 0
        ).any():
            raise VerificationError(f"answer {place} has values that nobody in it can have")

    def _refused(self, decision: DivideOnly, members: Integers, counts: Integers) -> bool:
        exact = int(counts.sum()) == len(members)
        return not exact or decision.foresees_refusal(self.knowledge, members, self.column.k)

    def prove(self, saved: SavedState | None) -> int:
        """Find witnesses that everybody keeps k values, and check them; returns how many there are."""
        if not len(self.truth):
            return 0
        pool = Pool(self.knowledge)
        pool.add(self.truth)
        for witness in self._kept(saved):
            if pool.fits(witness):
                pool.add(witness)
        settle(pool, self.column.k)
        if pool.degree.min() < self.column.k:
            degrees = Counter(map(len, signatures(self.knowledge, self.truth)))
            told = ", ".join(
                f"{degrees[degree]} keep {degree}" for degree in sorted(degrees) if degree < self.column.k
            )
            raise GuaranteeError(
                f"'{self.column.name}': not everybody keeps {self.column.k} possible values: {told}"
            )
        certify(self.knowledge, pool.values, self.column.k)
        self._check_signatures()
        return pool.count

    def _check_signatures(self) -> None:
        column = self.column
        if column.alike:
            left = min(unlike(column, self.labels, s) for s in signatures(self.knowledge, self.truth))
            if left < column.k:
                raise GuaranteeError(
                    f"'{column.name}': somebody keeps {left} values that are unlike each other"
                )
        if column.closeness is not None:
            distance = farthest(self.knowledge, self.truth)
            if distance > column.closeness:
                raise GuaranteeError(
                    f"'{column.name}': the values that somebody keeps are {distance:.3f} from those of all, "
                    f"more than {column.closeness}"
                )

    def published(self) -> tuple[int, int]:
        """How many values were published, and how many of them are artificial."""
        results = range(self.knowledge.results)
        values = sum(int(self.knowledge.counts(result).sum()) for result in results)
        return values, values - sum(len(self.knowledge.members(result)) for result in results)

    def _kept(self, saved: SavedState | None) -> list[Integers]:
        """The witnesses of the strategy, if it kept some, completed by the truth for later people."""
        if saved is None or "witnesses" not in saved.arrays:
            return []
        code = np.array([self._code.get(label, -1) for label in saved.labels], dtype=np.int32)
        full = []
        for witness in saved.arrays["witnesses"]:
            value = self.truth.copy()
            value[: len(witness)] = code[witness]
            full.append(value)
        return full
