"""All cohorts of an institution: who is in which, what was frozen of them, and which groups were told.

Everybody is in one cohort for ever. Newcomers make cohorts of their own, sensitive values stay as they were
when somebody was admitted, and who withdraws goes with others of her cohort: so of two packages nobody can
see who came, who changed, or who left alone. (A value that changed between two packages tells itself to who
knows that she was in hospital; a newcomer in an old cohort is what the second package has and the first has
not.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.exchange.cohorts.cutting import Cohort, KnownValues, Rows, admitted, cohorts, counted
from tarnkappe.exchange.cohorts.multisets import Counts, keeps
from tarnkappe.exchange.policy import SitePolicy, Thresholds
from tarnkappe.state import Key
from tarnkappe.table import MISSING
from tarnkappe.table.encoding import as_text, encode_column

WHO, COHORT, CONSENTS, RETIRED = "who", "cohort", "consents", "retired"
OWN = (WHO, COHORT, CONSENTS, RETIRED)
KNOWN, HIDDEN = "known ", "hidden "
Asked = tuple[str, ...]
"""A selecting attribute and values that are asked for together; `EVERYBODY` selects by nothing sensitive."""
EVERYBODY: Asked = ("",)
FINEST = ""
"""Stands for a purpose: the one whose groups are the smallest, of which all others are put together."""
HELD_OUT = -1
"""Stands for a cohort: of somebody who is not admitted before the next renewal."""


@dataclasses.dataclass(frozen=True, eq=False)
class SelectionGroups:
    """The groups of the people with one selected value, or several rare ones together.

    Attributes:
        parts: by purpose, and for the finest, the cohorts of each group. They are never cut anew.
        shown: by purpose, the sensitive attributes that packages about these people may show.
        closed: the cohorts of groups whose sensitive cells are not shown any more, since somebody left.
    """

    parts: Mapping[str, Sequence[Sequence[int]]]
    shown: Mapping[str, Sequence[str]]
    closed: frozenset[int] = frozenset()


@dataclasses.dataclass(frozen=True, eq=False)
class CohortPlan:
    """The cohorts of an institution in one epoch.

    Attributes:
        known: the attributes that everybody may know.
        hidden: the sensitive attributes.
        people: everybody who was admitted or held out, with cohort and frozen values; of who withdrew only
            that there was somebody.
        hulls: for each cohort, how far it reaches in each known attribute.
        kinds: for each cohort, whether its people consented to being identified again.
        atoms: by selecting attribute, the values that are asked for together.
        groups: by selecting attribute and values, the groups.
        epoch: the number of the renewal.
        started: when the epoch began.
        wave: when people were admitted last.
        undone: how many cohorts were held out, since they or their other side do not keep the policy.
    """

    known: tuple[str, ...]
    hidden: tuple[str, ...]
    people: pa.Table
    hulls: pa.Table
    kinds: tuple[bool, ...] = ()
    atoms: Mapping[str, Sequence[Sequence[str]]] = dataclasses.field(default_factory=dict)
    groups: Mapping[Asked, SelectionGroups] = dataclasses.field(default_factory=dict)
    epoch: int = 1
    started: str = ""
    wave: str = ""
    undone: int = 0

    @classmethod
    def new(
        cls, known: Sequence[str], hidden: Sequence[str], epoch: int = 1, started: str = ""
    ) -> CohortPlan:
        """Before anybody is admitted."""
        return cls(tuple(known), tuple(hidden), pa.table({}), pa.table({}), epoch=epoch, started=started)

    @property
    def size(self) -> int:
        """How many cohorts there are."""
        return len(self.kinds)

    @property
    def who(self) -> list[str]:
        """Everybody who was ever admitted or held out."""
        return self.people.column(WHO).to_pylist() if self.people.num_rows else []

    @property
    def cohort(self) -> Rows:
        """The cohort of everybody who may be in a package; none of who left or was held out."""
        if not self.people.num_rows:
            return np.empty(0, np.int64)
        retired = self.people.column(RETIRED).to_numpy(zero_copy_only=False)
        return np.where(retired, HELD_OUT, self.people.column(COHORT).to_numpy())

    @property
    def number_retired(self) -> int:
        """How many people left, by themselves or with somebody of their cohort."""
        return int(pc.sum(self.people.column(RETIRED)).as_py() or 0) if self.people.num_rows else 0

    def codes(self, name: str) -> tuple[Rows, list[str]]:
        """Everybody's value of a sensitive attribute, and the values; -1 where it is missing."""
        return value_codes(self.people.column(HIDDEN + name))

    def counts(self, name: str, within: Rows) -> tuple[Counts, list[str]]:
        """How many people of each cohort have each value."""
        codes, values = self.codes(name)
        return counted(codes, len(values), within, self.size), values

    def admit(
        self, newcomers: pa.Table, who: str, consents: Sequence[bool], policy: SitePolicy, time: str
    ) -> CohortPlan:
        """Admit people, in cohorts of their own; those of a cohort that fails are held out.

        Args:
            newcomers: who waits, with all known and sensitive attributes.
            who: the column that tells who a row is about.
            consents: who of them consented to being identified again.
            policy: what cohorts must keep, for every purpose.
            time: of this wave.
        """
        rows = _frozen(newcomers, who, consents, self.known, self.hidden)
        if self.people.num_rows:
            rows = rows.cast(self.people.schema)  # a column without values may have been read as another type
        limits = policy.every_purpose()
        least = max(each.people_of_a_cohort for each in limits)
        known = [KnownValues.of(encode_column(n, rows.column(KNOWN + n))) for n in self.known]
        given = np.asarray(consents, dtype=bool)
        kinds = [np.flatnonzero(given), np.flatnonzero(~given)]
        if min(map(len, kinds)) < least:  # too few of one kind to be told apart from the other
            kinds = [np.arange(rows.num_rows)]
        apart = len(kinds) > 1 or bool(given.all())  # where everybody consented, there is no other kind
        keeps_policy = self._policy_of(rows, limits)
        parts: list[Cohort] = []
        allowed: list[bool] = []
        for kind in kinds:
            own = cohorts(known, kind, least)
            parts += own
            allowed += admitted(own, keeps_policy)
        cohort = np.full(rows.num_rows, HELD_OUT, np.int64)
        taken = [
            part for part, good in zip(parts, allowed, strict=True) if good and len(part.people) >= least
        ]
        for number, part in enumerate(taken, start=self.size):
            cohort[part.people] = number
        rows = rows.set_column(rows.column_names.index(COHORT), COHORT, pa.array(cohort))
        hulls = [table for table in (self.hulls, _hulls(rows, self.known)) if table.num_rows]
        return dataclasses.replace(
            self,
            people=pa.concat_tables([self.people, rows]) if self.people.num_rows else rows,
            hulls=pa.concat_tables(hulls).combine_chunks() if hulls else self.hulls,
            kinds=(*self.kinds, *(apart and bool(given[part.people[0]]) for part in taken)),
            wave=time,
            undone=self.undone + len(parts) - len(taken),
        )

    def _policy_of(self, rows: pa.Table, limits: Sequence[Thresholds]) -> Callable[[Rows], bool]:
        """Whether some people keep the policy of every purpose in all sensitive attributes."""
        tables = []
        for name in self.hidden:
            codes, values = value_codes(rows.column(HIDDEN + name))
            everybody = counted(codes, len(values), np.zeros(len(codes), np.int64), 1)[0]
            tables.append((name, codes, everybody, _are_numbers(values)))
        present = min(each.most_present for each in limits)

        def keep(people: Rows) -> bool:
            for name, codes, everybody, ordered in tables:
                own = codes[people]
                found = np.bincount(own[own >= 0], minlength=len(everybody))
                if found.max(initial=0) > present * len(people) + 1e-9:
                    return False
                for each in limits:
                    if not keeps(found, each.values_of(name), everybody, ordered=ordered)[0]:
                        return False
                if not found.sum():
                    return False  # nothing is known of them, so nothing hides anybody
            return True

        return keep

    def with_atoms(self, selecting: Mapping[str, Sequence[str]], base: int) -> CohortPlan:
        """The values that may be asked for: frequent ones alone, rare ones together, conspicuous ones never.

        Args:
            selecting: by attribute that people are selected by, its conspicuous values.
            base: how many people must have what is asked for.
        """
        atoms: dict[str, Sequence[Sequence[str]]] = dict(self.atoms)
        for name, conspicuous in selecting.items():
            if name in atoms or not self.size:
                continue
            counts, values = self.counts(name, self.cohort)
            number = dict(zip(values, counts.sum(axis=0).tolist(), strict=True))
            askable = {value: own for value, own in number.items() if value not in set(conspicuous)}
            rare = sorted(value for value, own in askable.items() if own < base)
            together = [rare] if sum(askable[value] for value in rare) >= base else []
            atoms[name] = [[value] for value in sorted(set(askable) - set(rare))] + together
        return dataclasses.replace(self, atoms=atoms)

    def atoms_of(self, attribute: str, values: Sequence[str]) -> list[tuple[str, ...]]:
        """The atoms that a selection is made of; nothing if it is not made of whole ones."""
        chosen = [tuple(atom) for atom in self.atoms.get(attribute, ()) if set(atom) <= set(values)]
        return chosen if {value for atom in chosen for value in atom} == set(values) else []

    def within(self, asked: Asked) -> Rows:
        """The cohort of everybody who is asked for; none of the others."""
        attribute, *values = asked
        if not attribute:
            return self.cohort
        texts = self.people.column(HIDDEN + attribute)
        own = pc.fill_null(pc.is_in(texts, pa.array(values, pa.string())), False)
        return np.where(own.to_numpy(zero_copy_only=False), self.cohort, HELD_OUT)

    def retire(self, patient: str, policy: SitePolicy, key: Key) -> CohortPlan:
        """Somebody leaves, together with others of her cohort, and what was frozen of her is forgotten.

        Who else leaves follows from a key, so nobody can tell the one who wanted to from the others. If those
        who leave, or those who stay, do not keep the policy, the whole cohort leaves. Sensitive cells of a
        group that lost somebody are not shown any more: no difference of two packages tells one.
        """
        names = self.who
        if patient not in names:
            return self
        place = names.index(patient)
        cohort = self.cohort
        own = int(cohort[place])
        leaving = np.array([place])
        if own != HELD_OUT:
            leaving = self._leaving(place, np.flatnonzero(cohort == own), policy, key)
        retired = self.people.column(RETIRED).to_numpy(zero_copy_only=False).copy()
        retired[leaving] = True
        people = self.people.set_column(self.people.column_names.index(RETIRED), RETIRED, pa.array(retired))
        groups = {
            asked: _closed(found, own) if self._touches(asked, leaving) else found
            for asked, found in self.groups.items()
        }
        return dataclasses.replace(self, people=_forgotten(people, place), groups=groups)

    def _leaving(self, place: int, members: Rows, policy: SitePolicy, key: Key) -> Rows:
        limits = policy.every_purpose()
        k = max(each.k for each in limits)
        names = self.who
        others = sorted(
            (each for each in members.tolist() if each != place),
            key=lambda each: key.mark("who leaves with whom", [str(self.epoch), names[each]]),
        )
        leaving = np.array([place, *others[: k - 1]])
        staying = np.setdiff1d(members, leaving)
        keep = self._policy_of(self.people, limits)
        enough = len(leaving) >= k and len(staying) >= k
        return leaving if enough and keep(leaving) and keep(staying) else members

    def _touches(self, asked: Asked, leaving: Rows) -> bool:
        """Whether somebody of those who leave is in a group of a selection."""
        return bool((self.within(asked)[leaving] != HELD_OUT).any())

    def to_dict(self) -> dict[str, Any]:
        """Everything but the people and the hulls, as plain data."""
        return {
            "known": list(self.known),
            "hidden": list(self.hidden),
            "kinds": [int(kind) for kind in self.kinds],
            "atoms": {name: [list(atom) for atom in own] for name, own in self.atoms.items()},
            "groups": [
                {
                    "asked": list(asked),
                    "parts": {name: [list(p) for p in parts] for name, parts in own.parts.items()},
                    "shown": {name: list(shown) for name, shown in own.shown.items()},
                    "closed": sorted(own.closed),
                }
                for asked, own in sorted(self.groups.items())
            ],
            "epoch": self.epoch,
            "started": self.started,
            "wave": self.wave,
            "undone": self.undone,
        }

    @classmethod
    def from_dict(cls, said: Mapping[str, Any], people: pa.Table, hulls: pa.Table) -> CohortPlan:
        """As `to_dict` gave it."""
        groups = {
            tuple(each["asked"]): SelectionGroups(each["parts"], each["shown"], frozenset(each["closed"]))
            for each in said["groups"]
        }
        own = {name: said[name] for name in ("epoch", "started", "wave", "undone", "atoms")}
        kinds = tuple(bool(kind) for kind in said["kinds"])
        return cls(tuple(said["known"]), tuple(said["hidden"]), people, hulls, kinds, groups=groups, **own)


def value_codes(column: pa.ChunkedArray) -> tuple[Rows, list[str]]:
    """Values as numbers, and the values in their order; -1 where one is missing."""
    texts = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    values = sorted(text for text in pc.unique(texts).to_pylist() if text is not None)
    codes = pc.fill_null(pc.index_in(texts, value_set=pa.array(values, pa.string())), HELD_OUT)
    return np.asarray(codes, dtype=np.int64), values


def _are_numbers(values: Sequence[str]) -> bool:
    try:
        return bool(values) and [float(value) for value in values] == sorted(map(float, values))
    except ValueError:
        return False


def _frozen(
    table: pa.Table, who: str, consents: Sequence[bool], known: Sequence[str], hidden: Sequence[str]
) -> pa.Table:
    """The rows that are kept of newcomers."""
    rows = table.num_rows
    columns: dict[str, Any] = {
        WHO: as_text(table.column(who)).cast(pa.string()),
        COHORT: np.full(rows, HELD_OUT, np.int64),
        CONSENTS: pa.array(list(consents), pa.bool_()),
        RETIRED: np.zeros(rows, dtype=bool),
    }
    for name in known:
        columns[KNOWN + name] = table.column(name)
    for name in hidden:
        texts = as_text(table.column(name)).cast(pa.string())
        columns[HIDDEN + name] = pc.if_else(
            pc.fill_null(pc.is_in(texts, pa.array(["", MISSING])), True), pa.scalar(None, pa.string()), texts
        )
    return pa.table(columns).combine_chunks()


def _hulls(people: pa.Table, known: Sequence[str]) -> pa.Table:
    """The values of each cohort in each known attribute, in the order of cohorts; of numbers, the ends."""
    own = people.filter(pc.greater_equal(people.column(COHORT), 0))
    if not own.num_rows:
        return pa.table({})
    columns = {}
    for name in known:
        values = own.column(KNOWN + name)
        by = pa.table({COHORT: own.column(COHORT), "value": values}).group_by(COHORT)
        numbers = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        if numbers and not values.null_count:
            found = by.aggregate([("value", "min"), ("value", "max")]).sort_by(COHORT).combine_chunks()
            ends = [found.column(f"value_{end}").combine_chunks() for end in ("min", "max")]
            flat = pa.concat_arrays(ends).take(pa.array(np.arange(2 * len(ends[0])).reshape(2, -1).T.ravel()))
            places = pa.array(np.arange(0, len(flat) + 1, 2, dtype=np.int32))
            columns[name] = pa.ListArray.from_arrays(places, flat)
        else:
            found = by.aggregate([("value", "distinct")]).sort_by(COHORT).combine_chunks()
            columns[name] = found.column("value_distinct").combine_chunks()
    return pa.table(columns)


def _closed(found: SelectionGroups, cohort: int) -> SelectionGroups:
    """The groups after somebody of a cohort left: what is shown of hers is not shown any more."""
    together = {other for parts in found.parts.values() for part in parts if cohort in part for other in part}
    return dataclasses.replace(found, closed=found.closed | together)


def _forgotten(people: pa.Table, place: int) -> pa.Table:
    """The people with nothing left of one of them but that she was there."""
    here = pa.array(np.arange(people.num_rows) == place)
    for number, name in enumerate(people.column_names):
        if name not in OWN:
            own = people.column(name)
            people = people.set_column(number, name, pc.if_else(here, pa.scalar(None, own.type), own))
    return people
