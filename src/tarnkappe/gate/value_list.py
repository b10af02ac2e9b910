"""The list of values of a sensitive column, proposed from the table: `tarn gate values`.

A list that is read from the table tells that its values have holders. Rare ones are therefore left out, and
become `(other)`; of the rest the policy notes how many holders each had at least, and the store notes who
was there. Whoever sees answers is presumed to know this, and a gate counts with it (`surplus`); one that
refuses, or that accepts a leak, holds as many people back as the list could tell something about
(`roster`). If the list is known without the table (a code list, a questionnaire, a law), nobody needs to
be.
"""

from __future__ import annotations

import dataclasses
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tarnkappe.errors import ParameterError
from tarnkappe.gate.history_store import GATE, HistoryStore
from tarnkappe.gate.labels import NUMBERS, Labels
from tarnkappe.gate.policy import LEAST_HOLDERS, GatePolicy
from tarnkappe.gate.policy_columns import OTHER, Sensitive
from tarnkappe.gate.public_pool import PublicPool
from tarnkappe.gate.roster import hold_back
from tarnkappe.gate.source import ProtectedTable
from tarnkappe.schema import hint_of
from tarnkappe.state.key import Key
from tarnkappe.state.store import Store
from tarnkappe.table.table import MISSING


@dataclasses.dataclass(frozen=True, repr=False)
class ValueList:
    """A list for one column.

    Attributes:
        column: the column.
        listed: the values of the list, and how many people have each; only the owner may see it.
        others: the values that become `(other)`, and how many people have each.
        holders: how many people have each listed value, at least.
        people: who is in the table, with the value that the table has.
        numbers: whether the table has numbers there.
    """

    policy: GatePolicy
    column: Sensitive
    listed: dict[str, int]
    others: dict[str, int]
    holders: int
    people: dict[str, str | None]
    numbers: bool = False

    @classmethod
    def of(cls, policy: GatePolicy, name: str | None, holders: int) -> Iterator[ValueList]:
        """A list for one column of a policy, or for each that has none."""
        wanted = [one for one in policy.sensitive if one.name == name or (name is None and not one.values)]
        if not wanted:
            _refuse_column(policy, name)
        source = ProtectedTable.open(policy)
        try:
            everyone = source.everyone()
            for column in wanted:
                if column.values:
                    raise ParameterError(
                        "gate.sensitive-values-take-out-first",
                        "{policy}: [sensitive.{column}] has 'values': take them out first",
                        policy=policy.place,
                        column=column.name,
                    )
                listed, others = _divided(source.values(column.name), holders)
                Labels(dataclasses.replace(column, values=tuple(listed)))  # enough of them for k
                people = dict(zip(everyone.keys, everyone.secrets[column.name], strict=True))
                numbers = source.types[column.name] in NUMBERS
                yield cls(policy, column, listed, others, holders, people, numbers)
        finally:
            source.close()

    def lines(self) -> list[str]:
        """Each value with its holders, for the owner."""
        told = [f"{_shown(value)}: {number:,} people" for value, number in self.listed.items()]
        told += [
            f"{_shown(value)}: {number:,} people, becomes (other)" for value, number in self.others.items()
        ]
        return [f"[sensitive.{self.column.name}]", *told, *self._advice()]

    @property
    def spellings(self) -> list[list[str]]:
        """Listed values that differ in case, spaces or marks alone: to people they are one."""
        found: dict[str, list[str]] = {}
        for value in self.listed:
            found.setdefault(_spelled(value), []).append(value)
        return [several for several in found.values() if len(several) > 1]

    def _advice(self) -> list[str]:
        """What to do about values that only look different: k of them would protect nobody."""
        if not self.spellings or self.column.alike:
            return []
        written = ", ".join(f"[{', '.join(map(_quoted, several))}]" for several in self.spellings)
        return [
            "some values look like one in several spellings, and k of them would say one thing; correct the "
            f"table, or let them count as one: alike = [{written}]"
        ]

    def told(self, *, public: bool) -> str:
        """What was done."""
        place = self.policy.place
        if public:
            return f"{place}: {len(self.listed)} values, as a list that is known without the table"
        told = f"{place}: {len(self.listed)} values that {self.holders} people or more have"
        if self.policy.answers_everybody:
            return f"{told}; that they have, counts as known"
        held_back = f"{self._held_back:,} of {len(self.people):,} people are held back for it"
        return f"{told}; {held_back} and in no answer"

    def write(self, path: Path, *, public: bool) -> None:
        """Put the list into the policy file and, if it tells something, hold people back for it."""
        if not public:
            self._check_held_back()
        text = path.read_text(encoding="utf-8")
        head = re.compile(rf"^\s*\[\s*sensitive\s*\.\s*{_key(self.column.name)}\s*\].*$", re.MULTILINE)
        if len(head.findall(text)) != 1:
            raise ParameterError(
                "gate.list-no-place-give",
                "{path}: the list has no place: give the column a section [sensitive.{column}]",
                path=path,
                column=self.column.name,
            )
        values = ", ".join(map(_quoted, self.listed))
        origin = 'values_from = "public"' if public else f'values_from = "table"\nholders = {self.holders}'
        written = head.sub(lambda found: f"{found[0]}\nvalues = [{values}]\n{origin}", text)
        if not public:
            self._hold_back()
        path.write_text(written, encoding="utf-8")

    @property
    def _held_back(self) -> int:
        return self.holders * len(self.listed)

    def _check_held_back(self) -> None:
        if self.holders < LEAST_HOLDERS:
            raise ParameterError(
                "gate.holders-list-all-table",
                "--holders {holders}: a list of all that the table has leaves nobody another value; take "
                "{least_holders} or more, or --public",
                holders=self.holders,
                least_holders=LEAST_HOLDERS,
            )
        if self.policy.answers_everybody:
            PublicPool().begin(self._labels.domain.knowledge(len(self.people)), self.column.k)
        elif 2 * self._held_back > len(self.people):
            raise ParameterError(
                "gate.people-would-held-back",
                "'{column}': {held_back:,} of {people:,} people would be held back for a list that tells so"
                " much: write 'values' by hand from a list that is known without the table, take --public "
                "if this one is, or other --holders",
                column=self.column.name,
                held_back=self._held_back,
                people=len(self.people),
            )

    def _hold_back(self) -> None:
        with Store.open(self.policy.store, GATE) as store:
            if any(name == self.column.name for _, name in HistoryStore(store).histories()):
                raise ParameterError(
                    "gate.answered-already-list-cannot-change",
                    "{store}: '{column}' was answered already, and its list cannot change: name a new store"
                    " for people whom nobody was told about",
                    store=store.place,
                    column=self.column.name,
                )
            key = Key.load(self.policy.key_file, create=True)
            hold_back(HistoryStore(store), key, self.column.name, self._labels, self.holders, self.people)

    @property
    def _labels(self) -> Labels:
        column = dataclasses.replace(
            self.column, values=tuple(self.listed), values_from="table", holders=self.holders
        )
        return Labels(column, numbers=self.numbers)


def _refuse_column(policy: GatePolicy, name: str | None) -> None:
    """Say why there is no list to write."""
    if name is None:
        raise ParameterError(
            "gate.no-list-to-write",
            "{policy}: there is no list to write: every sensitive column has one",
            policy=policy.place,
        )
    raise ParameterError(
        "gate.no-sensitive-column",
        "{policy}: '{name}' is no sensitive column: {hint}",
        policy=policy.place,
        name=name,
        hint=hint_of(name, [one.name for one in policy.sensitive]),
    )


def _spelled(value: str) -> str:
    """A value without what people do not hear."""
    plain = unicodedata.normalize("NFKC", value).casefold()
    return "".join(sign for sign in plain if sign.isalnum() or sign in ".+-<>=%") or value


def _shown(value: str) -> str:
    """A value in one line of a terminal."""
    return value if value.isprintable() else _quoted(value)


def _divided(found: Mapping[str | None, int], holders: int) -> tuple[dict[str, int], dict[str, int]]:
    """The values that enough people have, and the others."""
    people: Counter[str] = Counter()
    for value, number in found.items():
        people[MISSING if value is None else value] += number
    listed = {value: n for value, n in sorted(people.items()) if n >= holders and value != OTHER}
    return listed, {value: n for value, n in sorted(people.items()) if value not in listed}


def _key(name: str) -> str:
    """How a name may be written in the head of a section."""
    return f"(?:{re.escape(name)}|{re.escape(_quoted(name))}|'{re.escape(name)}')"


def _quoted(text: str) -> str:
    """A text as TOML has it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
