"""What `tarn gate possible` shows the owner: from the store, as the audit reads it, without the gate."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator

from tarnkappe.errors import ParameterError
from tarnkappe.gate.audit import Replay
from tarnkappe.gate.history_store import HistoryStore, store_to_look_at
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.source import ProtectedTable
from tarnkappe.state.key import Key


@dataclasses.dataclass(frozen=True)
class PossibleValues:
    """What one history leaves possible in one sensitive column.

    Attributes:
        degrees: how many people keep how many possible values, exactly.
        values: of the person who was asked for.
        witness: a table of those whom answers link with the person, by key, that fits all answers and in
            which the person has the value that was asked for; who has left the table is not in it.
    """

    history: str
    column: str
    k: int
    degrees: dict[int, int] | None = None
    values: tuple[str, ...] | None = None
    is_possible: bool | None = None
    witness: dict[str, str] | None = None

    def lines(self) -> list[str]:
        """The same in words."""
        head = f"{self.column}, as seen by {self.history}, k = {self.k}:"
        if self.degrees is not None:
            return [head, *(f"  {n:,} people keep {d} possible values" for d, n in self.degrees.items())]
        if self.witness is not None:
            return [head, *(f"  {who}: {value}" for who, value in self.witness.items())]
        if self.is_possible is not None:
            return [f"{head} no table that fits the answers has this value there"]
        return [f"{head} {', '.join(self.values or ())}"]


def reports(policy: GatePolicy, person: str | None, value: str | None) -> Iterator[PossibleValues]:
    """What each history leaves possible: to everybody, to one person, or with one value of one person."""
    with store_to_look_at(policy.store) as store:
        histories = HistoryStore(store)
        answered = list(histories.histories())
        if not answered:
            return
        key, keys = Key.load(policy.key_file), _keys(policy)
        marks = {key.mark("person", [who]).hex(): who for who in keys}
        if person is not None and person not in keys:
            raise ParameterError(
                "gate.table-has-no-person", "the table has nobody with the key that was given"
            )
        for history, name in answered:
            column = policy.sensitive_column(name)
            if column is None:
                continue
            view = Replay.of(policy, column, histories, history).view
            if person is None:
                degrees = Counter(len(values) for values in view.signatures().values())
                yield PossibleValues(history, name, column.k, degrees=dict(sorted(degrees.items())))
                continue
            mark = key.mark("person", [person]).hex()
            if value is None:
                found = view.signatures().get(mark)
                if found is None:
                    raise ParameterError("gate.nobody-told-of-person", "this person was in no answer")
                yield PossibleValues(history, name, column.k, values=found)
                continue
            witness = view.witness(mark, value)
            shown = None if witness is None else {marks[m]: v for m, v in witness.items() if m in marks}
            yield PossibleValues(history, name, column.k, is_possible=witness is not None, witness=shown)


def _keys(policy: GatePolicy) -> list[str]:
    source = ProtectedTable.open(policy)
    try:
        return [str(who) for who in source.everyone().keys]
    finally:
        source.close()
