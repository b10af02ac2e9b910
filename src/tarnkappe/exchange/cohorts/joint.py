"""What all packages from cohorts told together, and whether that still keeps the policy.

By code that had no part in making them. A table tells, for each label, the rows of the people with that label
who were selected. People who have the same label in every table can exchange their records without changing
one of them; so to who knows what everybody looks like, each of them has a value with the chance that is its
share among them, and all tables together tell no more than the values of these people, unordered. The
shares must keep the policy. Who knows by which value people were selected exchanges records among people with
the same value; that must keep the policy, too, in the tables selected by it.
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.errors import InputError
from tarnkappe.exchange.checking.told import NO_LABEL, NO_ROW, Told, value_mark, value_marks
from tarnkappe.exchange.cohorts.cutting import counted
from tarnkappe.exchange.cohorts.multisets import keeps
from tarnkappe.exchange.cohorts.plan import HIDDEN, Asked, CohortPlan
from tarnkappe.exchange.policy import Thresholds, ValueLimits
from tarnkappe.state import Key
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import group_codes

Numbers = npt.NDArray[np.int64]
MAGIC = b"tables from cohorts 1\n"
PATIENT = "patient of the exchange"


@dataclasses.dataclass(frozen=True)
class ToldTable:
    """One table of a package: whom it selects, the group of each cohort, and what it shows.

    Attributes:
        asked: the selection.
        groups: for each cohort the number of its group; -1 for one that is in none.
        shown: the sensitive attributes that it shows beside the selecting one.
        epoch: that of the cohorts.
    """

    asked: Asked
    groups: tuple[int, ...]
    shown: tuple[str, ...]
    epoch: int

    @property
    def told(self) -> set[str]:
        """The sensitive attributes that it tells something of."""
        return {*self.shown, self.asked[0]} - {""}

    @property
    def counts_as_selected_by(self) -> set[str]:
        """What an insider may know of everybody in it; without a selection, anything that it shows."""
        return {self.asked[0]} if self.asked[0] else set(self.shown)


@dataclasses.dataclass(frozen=True)
class ToldTables:
    """The tables of one package, as they are kept in the ledger."""

    tables: tuple[ToldTable, ...]

    def to_bytes(self) -> bytes:
        """To be kept."""
        said = [
            {"asked": each.asked, "groups": each.groups, "shown": each.shown, "epoch": each.epoch}
            for each in self.tables
        ]
        return MAGIC + zlib.compress(json.dumps(said).encode())

    @classmethod
    def from_bytes(cls, content: bytes) -> ToldTables:
        """As `to_bytes` wrote it."""
        try:
            said = json.loads(zlib.decompress(content.removeprefix(MAGIC)))
        except (zlib.error, ValueError):
            raise InputError(
                "exchange.what-earlier-packages-told",
                "what earlier packages told is damaged: nothing can be released",
            ) from None
        return cls(
            tuple(
                ToldTable(tuple(e["asked"]), tuple(e["groups"]), tuple(e["shown"]), e["epoch"]) for e in said
            )
        )


def read_ledger(contents: Iterable[bytes]) -> tuple[list[Told], list[ToldTable]]:
    """What packages told, of both kinds; of equal tables from cohorts one is enough."""
    distinct = dict.fromkeys(contents)
    tables = [
        table for each in distinct if each.startswith(MAGIC) for table in ToldTables.from_bytes(each).tables
    ]
    others = [Told.from_bytes(each) for each in distinct if not each.startswith(MAGIC)]
    return others, list(dict.fromkeys(tables))


def joint_objection(plan: CohortPlan, tables: Sequence[ToldTable], limits: Thresholds) -> str:
    """Why some tables must not all be told; nothing if they may.

    Those of earlier epochs are not looked at: a renewal says that they are not protected together.
    """
    own = [table for table in tables if table.epoch == plan.epoch]
    if not own:
        return ""
    seen = _Seen(plan, own)
    names = {name for table in own for name in table.told}
    if any(not seen.keeps_for_outsiders(name, limits) for name in sorted(names)):
        return "All packages together would tell too much of a sensitive value of people who look alike."
    if limits.insider == "none":
        return ""
    for knowing in sorted({name for table in own for name in table.counts_as_selected_by}):
        for name in sorted(names - {knowing}):
            if seen.told_to_insiders(knowing, name, limits).any():
                return (
                    "Packages with the same selection would together tell too much of another sensitive "
                    "value to who knows the selected one."
                )
    return ""


def exposed_to_insiders(
    plan: CohortPlan, before: Sequence[ToldTable], package: Sequence[ToldTable], limits: Thresholds
) -> int:
    """Of how many people of a package another sensitive value may be told to who knows the one by which they
    were selected, and uses all packages, whatever they are selected by.

    A policy with `insider = "any"` lets no package leave with such people; others protect from who uses the
    packages selected by the same attribute. People are counted who have too few to be exchanged with: what is
    told of them is possible, not certain.
    """
    own = [table for table in dict.fromkeys([*before, *package]) if table.epoch == plan.epoch]
    if not own:
        return 0
    seen = _Seen(plan, own)
    everything = dataclasses.replace(limits, insider="any")
    names = {name for table in own for name in table.told}
    exposed = np.zeros(seen.number, dtype=bool)
    for table in package:
        here = seen.has_row(own.index(table)) if table in own else np.zeros(seen.number, dtype=bool)
        for knowing in table.counts_as_selected_by:
            for name in names - {knowing}:
                exposed |= here & seen.told_to_insiders(knowing, name, everything)
    return int(np.count_nonzero(exposed))


class _Seen:
    """Everybody who may still be in packages, with the label in each table."""

    def __init__(self, plan: CohortPlan, tables: Sequence[ToldTable]) -> None:
        self._plan, self._tables = plan, tables
        self._people = np.flatnonzero(plan.cohort >= 0)
        cohort = plan.cohort[self._people]
        size = plan.size
        columns = [
            np.array((*table.groups[:size], *[-1] * (size - len(table.groups))), dtype=np.int64)[cohort]
            for table in tables
        ]
        self._cohort = cohort
        self._labels = np.stack(columns, axis=1) if len(cohort) else np.empty((0, len(tables)), np.int64)
        self._has_row = np.stack(
            [plan.within(table.asked)[self._people] >= 0 for table in tables], axis=1
        ) & (self._labels >= 0)

    @property
    def number(self) -> int:
        """How many people there are."""
        return len(self._people)

    def has_row(self, table: int) -> Mask:
        """Who has a row in a table."""
        return np.asarray(self._has_row[:, table])

    def keeps_for_outsiders(self, name: str, limits: Thresholds) -> bool:
        """Whether people with the same labels everywhere have values that keep the policy."""
        everybody = np.ones(len(self._people), dtype=bool)
        return not self._exposed(name, _classes(self._labels), everybody, limits.values_of(name)).any()

    def told_to_insiders(self, knowing: str, name: str, limits: Thresholds) -> Mask:
        """Whose other value is shown, though people with the same known value and the same rows have values
        that do not keep the policy.
        """
        places = [
            at
            for at, table in enumerate(self._tables)
            if knowing in table.counts_as_selected_by or limits.insider == "any"
        ]
        showing = [at for at in places if name in self._tables[at].shown]
        if not showing:
            return np.zeros(len(self._people), dtype=bool)
        shown = self._has_row[:, showing].any(axis=1) & ~self._is_closed(showing)
        codes, _ = self._plan.codes(knowing)
        # People with the same selected value both have rows in a table selected by it, or neither has one.
        selected = np.array([self._tables[at].asked[0] == knowing for at in places])
        own = np.where(self._has_row[:, places] | ~selected, self._labels[:, places], -1)
        classes = _classes(np.concatenate([codes[self._people, None], own], axis=1))
        # Groups are close to the people with the selected value, not to everybody: asked when they are made.
        values = dataclasses.replace(limits.values_of(name), closeness=0.0)
        return self._exposed(name, classes, shown, values)

    def _is_closed(self, showing: Sequence[int]) -> Mask:
        """Who is in a group that shows no sensitive cells any more; what it showed was looked at then."""
        closed = np.zeros(self._plan.size, dtype=bool)
        for at in showing:
            found = self._plan.groups.get(self._tables[at].asked)
            closed[sorted(found.closed) if found else []] = True
        return closed[self._cohort]

    def _exposed(self, name: str, classes: Numbers, those: Mask, limits: ValueLimits) -> Mask:
        """Those of some people whose class has values that do not keep the limits, or none."""
        codes, values = self._plan.codes(name)
        own = codes[self._people]
        number = int(classes.max(initial=-1)) + 1
        counts = counted(own, len(values), np.where(those, classes, -1), number)
        everybody = np.bincount(own[own >= 0], minlength=len(values))
        kept = keeps(counts, limits, everybody) & (counts.sum(axis=1) > 0)
        return np.asarray(those & ~kept[classes])


def _classes(columns: Numbers) -> Numbers:
    """Which rows are equal."""
    if not columns.size:
        return np.zeros(len(columns), np.int64)
    codes = [np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int32) for column in columns.T]
    return group_codes(codes, [int(each.max()) + 1 for each in codes]).ids.astype(np.int64)


def as_told(plan: CohortPlan, table: ToldTable, key: Key, names: Collection[str] | None = None) -> Told:
    """What a table from cohorts tells of everybody, as packages that are made otherwise are compared with."""
    people = np.flatnonzero(plan.cohort >= 0)
    cohort = plan.cohort[people]
    groups = np.array((*table.groups, *[-1] * (plan.size - len(table.groups))), dtype=np.int64)
    labels = groups[cohort]
    selected = (plan.within(table.asked)[people] >= 0) & (labels >= 0)
    cells = _classes(
        np.stack([plan.codes(n)[0][people] for n in table.shown] or [np.zeros(len(people), np.int64)], 1)
    )
    attribute, *values = table.asked
    chosen = pa.array(people)
    return Told(
        key.marks(PATIENT, ([who] for who in plan.people.column("who").take(chosen).to_pylist())),
        np.where(labels >= 0, labels, NO_LABEL),
        np.where(selected, cells, NO_ROW),
        np.where(selected, labels, NO_ROW),
        {
            name: value_marks(plan.people.column(HIDDEN + name), name, key).take(chosen)
            for name in (names or plan.hidden)
        },
        attribute,
        tuple(value_mark(value, attribute, key) for value in values),
        table.shown,
    )
