"""Who can be in an answer of a gate that does not count with changes and with lists of a table.

A gate that adds surplus values answers everybody: what it counts with (`surplus`) has who changed and where
the list comes from. One that refuses instead, or that accepts a leak, leaves two kinds of people out, whose
answers would tell more than they say; who they are is no secret.

**Whose value changed.** That somebody's value changed, and when, counts as known, and the new value is
another one than the old. Answers about both would have to be counted together, with this difference. Until
the gate does that, nothing is said about the new value: whoever was in an answer, and has another value since
then, is in no answer any more. So the results are about one value of everybody, and what they leave possible
is what the attacker is left with. The values as the table has them are compared, not their labels: two values
that are both shown as `(other)` are different, and if nothing happened after a change that everybody knows
of, this would tell that it was one between such values.

**Who is held back for a list.** A list of values that was read from the table tells that each of them had at
least so many holders (`holders`) among those who were there. As many of them as all these numbers together
are held back, chosen by the key whatever their values are, and never in an answer.

Claim: then the list takes no possible value from anybody. Proof: take any distribution of the values of those
who were answered that fits the results. Those held back were never answered, so any values are possible for
them, and they are enough to give each value of the list its holders. So every such distribution is left, and
in each of them the list would have been the same: whoever has `(other)` can have a value that too few others
share, since at least two holders are needed for the list.    []

People who come later need no such care: the list of values is fixed, so what they have is in it, or is
`(other)`.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tarnkappe.errors import GuaranteeError, ParameterError
from tarnkappe.gate.answer import HistoryEntry
from tarnkappe.gate.history_store import LISTED, Founder, HistoryStore
from tarnkappe.gate.labels import Labels
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.policy_columns import OTHER, Sensitive
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.key import Key
from tarnkappe.state.store import Store
from tarnkappe.table.table import MISSING

CHANGED = "gate changed"
"""The event of the audit log when people have other values than those that were answered."""
UNKNOWN = ""
"""The mark of a value that a store of an older version did not note."""


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """How many people are in no answer, and why."""

    changed: int
    held_back: int


class Roster:
    """Who can be in an answer of a gate.

    Args:
        policy: which columns are sensitive, and where their lists come from.
        histories: what was answered so far.
        key: under which people and values are marked.
    """

    def __init__(self, policy: GatePolicy, histories: HistoryStore, key: Key) -> None:
        self._policy, self._key = policy, key
        self._is_open = policy.answers_everybody
        self._log = AuditLog(histories.store)
        # Of those who were answered: their values if they were seen since the start, else the marks of them.
        self._marks: dict[str, dict[str, str]] = {column.name: {} for column in policy.sensitive}
        self._stored: dict[str, dict[str, str | None]] = {column.name: {} for column in policy.sensitive}
        self._changed = changed_people(histories.store)
        for history, name in histories.histories():
            column = policy.sensitive_column(name)
            if column is not None:
                self._take_over(column, histories.entries(history, name), histories.store.place)
        self._held_back = frozenset().union(
            *(held_back_for(histories.store, column, policy.place) for column in policy.sensitive)
        )
        if self._is_open:
            self._changed, self._held_back = set(), frozenset()

    @property
    def left_out(self) -> LeftOut:
        """How many people are in no answer; of those who changed, as many as were asked for since."""
        return LeftOut(len(self._changed), len(self._held_back))

    def present(self, people: Sequence[str], stored: Mapping[str, Sequence[str | None]]) -> list[int]:
        """The places of those who can be in an answer; whoever has another value than before is noted.

        Args:
            people: their marks.
            stored: their values as the table has them, by column.
        """
        if self._is_open:
            return list(range(len(people)))
        for name, values in stored.items():
            known, marks = self._stored[name], self._marks[name]
            changed = []
            for person, value in zip(people, values, strict=True):
                if person in self._changed:
                    continue
                if person in known:
                    if known[person] != value:
                        changed.append(person)
                elif person in marks:
                    if marks.pop(person) == self.mark(name, person, value):
                        known[person] = value
                    else:
                        changed.append(person)
            if changed:
                self._changed.update(
                    changed
                )  # whether or not it can be written: the next start finds it again
                self._log.append(CHANGED, {"column": name, "people": changed})
        out = self._changed | self._held_back if self._held_back else self._changed
        return [place for place, person in enumerate(people) if person not in out]

    def mark(self, column: str, person: str, value: str | None) -> str:
        """What is kept of somebody's value when he is answered for the first time."""
        return value_mark(self._key, column, person, value)

    def answered(self, column: str, people: Iterable[str], values: Iterable[str | None]) -> None:
        """These people were in an answer with these values."""
        if self._is_open:
            return
        self._stored[column].update(zip(people, values, strict=True))

    def _take_over(self, column: Sensitive, entries: Iterable[HistoryEntry], place: str) -> None:
        """Take over an answered history. An older version let people go on with other values, and noted only
        labels: where that mattered the history cannot be gone on with.
        """
        marks = self._marks[column.name]
        entered: defaultdict[object, int] = defaultdict(int)
        for entry in entries:
            stored = entry.stored or [self._guessed(column, *one) for one in entry.newcomers]
            for (person, _), mark in zip(entry.newcomers, stored, strict=True):
                entered[person] += 1
                marks[str(person)] = mark
        if any(times > 1 for times in entered.values()):
            raise GuaranteeError(
                "gate.answers-given-older-version-answered",
                "{place}: these answers were given by an older version, which answered people again after "
                "their value had changed; what they add up to is not known. They stay known to whoever got "
                "them: use that version, or name a new store for people whom nobody was told about",
                place=place,
            )

    def _guessed(self, column: Sensitive, person: object, label: str) -> str:
        return UNKNOWN if label == OTHER else self.mark(column.name, str(person), _text_of(label))


def changed_people(store: Store) -> set[str]:
    """Who is in no answer because he had another value than before."""
    events = (event.details for event in AuditLog(store).entries() if event.event == CHANGED)
    return {str(person) for told in events for person in told["people"]}


def held_back_for(store: Store, column: Sensitive, place: str = "gate.toml") -> frozenset[str]:
    """Who is in no answer for the list of a column; nobody if the list is public."""
    if column.values_from == "public":
        return frozenset()
    for event in reversed(list(AuditLog(store).entries())):
        told = event.details
        if event.event == LISTED and told["column"] == column.name:
            if (told["values"], told["holders"]) == (sorted(column.values or ()), column.holders):
                return frozenset(told["held_back"])
            break
    raise ParameterError(
        "gate.sensitive-values-table-list",
        "{place}: [sensitive.{column}] values_from = \"table\": this list was not read by 'tarn gate values' "
        "with this store; run it",
        place=place,
        column=column.name,
    )


def hold_back(
    histories: HistoryStore,
    key: Key,
    column: str,
    labels: Labels,
    holders: int,
    people: Mapping[str, str | None],
) -> int:
    """Note that a list was read from the table, who was there, and who is held back for it by a gate that
    does not count with the list; returns how many people are.

    Args:
        histories: the store of the gate.
        key: of the gate.
        column: of which the values are.
        labels: the list.
        holders: how many people have each of them, at least.
        people: the keys of everybody in the table, with their values as the table has them.
    """
    listed = sorted(label for label in labels.all if label != OTHER)
    marks = {person: key.mark("person", [person]).hex() for person in people}
    order = sorted(people, key=lambda person: key.mark("held back", [person]))
    chosen = sorted(marks[person] for person in order[: holders * len(listed)])
    founders = {
        mark: Founder(labels.of(people[person]), value_mark(key, column, mark, people[person]))
        for person, mark in sorted(marks.items(), key=lambda pair: pair[1])
    }
    histories.found(column, {"values": listed, "holders": holders, "held_back": chosen}, founders)
    return len(chosen)


def value_mark(key: Key, column: str, person: str, value: str | None) -> str:
    """What is kept of somebody's value, to notice when it changes."""
    return key.mark("value", [column, person, value]).hex()


def _text_of(label: str) -> str | None:
    return None if label == MISSING else label
