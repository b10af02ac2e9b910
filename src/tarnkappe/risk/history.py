"""The release history: a new release is checked against all earlier ones of the same population.

Of every release the store keeps who was in which class and which values each class had, both as marks under
a key. That is enough to intersect what releases leave people, exactly and without any earlier file, and tells
nobody anything who does not have the key.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.risk.attacks.attack import EXAMPLES
from tarnkappe.risk.attacks.background import AttackNeed, missing
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.candidates import ReleaseView, ranges, view_of
from tarnkappe.risk.continuation import Continuation, Everybody, Shows, grouping_view, judge
from tarnkappe.risk.pairs import Pairs
from tarnkappe.state import Key, ReleaseRecord, ReleaseStore, Store
from tarnkappe.state.key import MARK
from tarnkappe.state.releases import ValueMarks
from tarnkappe.table import MISSING, Table, encode
from tarnkappe.table.grouping import group_codes


class ReleaseHistory:
    """The releases of one population.

    Args:
        store: where they are kept.
        key: under which people and values are marked; the same for all releases.
        population: whose data these are.
    """

    def __init__(self, store: Store, key: Key, population: str) -> None:
        self._releases, self._key = ReleaseStore(store, population), key

    def releases(self) -> list[ReleaseRecord]:
        """What is kept of every release, the oldest first."""
        found = self._releases.all()
        for record in found:
            if record.key != self._key.fingerprint:
                raise InputError(
                    "risk.release-recorded-under-another-key",
                    "the release '{record}' was recorded under another key",
                    record=record.name,
                )
        return found

    def check(
        self, target: Target, *, k: int = 2, diversity: int = 1, shown: int | None = EXAMPLES
    ) -> Continuation:
        """Whether a release may follow all that are recorded.

        Args:
            target: the release; the people of its background are those who are in it.
            k: how many people must look alike in all releases.
            diversity: how many values must be left to everybody.
            shown: how many of those who keep too few are told, None for all.
        """
        everybody, earlier = _Members(target), self.releases()
        marks = {
            columns: self._marks(everybody.table, columns)
            for columns in {tuple(record.about["person"]) for record in earlier}
        }
        fits = [_recorded_fits(marks[tuple(record.about["person"])], record) for record in earlier]
        groups = [grouping_view(everybody.number, everybody.fits, target.classes.num_classes)]
        groups += [
            grouping_view(everybody.number, pairs, len(record.sizes))
            for pairs, record in zip(fits, earlier, strict=True)
        ]
        shows = {}
        for column in target.sensitive:
            shown_by = [(p, r) for p, r in zip(fits, earlier, strict=True) if column in r.values]
            shows[column] = self._shows(target, column, everybody, shown_by)
        names = [record.name for record in earlier]
        return judge(everybody.described, names, groups, shows, k=k, diversity=diversity, shown=shown)

    def record(self, name: str, target: Target, *, counterfeits: int = 0) -> None:
        """Keep a release; the people of its background must be exactly those who are in it.

        If a column of the people has the role of an identifier, it tells who is who in later releases;
        otherwise the quasi-identifiers do, and people of whom they are the same are one.

        Args:
            name: the name of the release.
            target: the release and the people in it.
            counterfeits: how many rows belong to nobody.
        """
        everybody = _Members(target)
        everybody_fits = len(np.unique(everybody.fits.left)) == everybody.number
        if everybody.number + counterfeits != target.rows or not everybody_fits:
            raise ParameterError(
                "risk.record-release-give-exactly",
                "to record a release, give exactly the people who are in it",
            )
        values = {}
        for column in target.sensitive:
            known = target.distribution(column)
            released = target.kept[known.class_of_entry]
            numbers = np.where(target.kept, np.diff(known.offsets), 0)
            marks = self._value_marks(column, known.column.labels)
            values[column] = ValueMarks(
                np.concatenate([[0], np.cumsum(numbers)]).astype(np.int64),
                marks.take(pa.array(known.codes[released])),
                known.counts[released],
            )
        person = everybody.identified_by
        self._releases.add(
            ReleaseRecord(
                name=name,
                about={
                    "quasi_identifiers": [column.name for column in target.classes.quasi_identifiers],
                    "sensitive": list(target.sensitive),
                    "person": list(person),
                },
                people=self._marks(everybody.table, person).take(pa.array(everybody.fits.left)),
                classes=everybody.fits.right.astype(np.int32),
                sizes=np.where(target.kept, target.classes.sizes, 0),
                values=values,
                key=self._key.fingerprint,
            )
        )

    def signatures(self, people: Table, column: str, domain: Sequence[str]) -> list[frozenset[str] | None]:
        """The values that each person had in her group of earlier releases, None for who was in none.

        Args:
            people: the people, with the columns by which they were recorded.
            column: the sensitive column.
            domain: all values that it may have had; the store knows values by their marks only.
        """
        texts = list(dict.fromkeys(domain))
        known = self._value_marks(column, texts)
        found: list[frozenset[str] | None] = [None] * people.num_rows
        for record in self.releases():
            if column not in record.values:
                continue
            values = record.values[column]
            codes = pc.index_in(values.marks, value_set=known)
            pairs = _recorded_fits(self._marks(people, record.about["person"]), record)
            for person, index in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True):
                own = codes[values.offsets[index] : values.offsets[index + 1]].to_pylist()
                if None in own:
                    raise ParameterError(
                        "risk.release-value-domain-lacks",
                        "the release '{record}' had a value of '{column}' that the domain lacks",
                        record=record.name,
                        column=column,
                    )
                signature = frozenset(texts[code] for code in own)
                if found[person] not in (None, signature):
                    raise ParameterError(
                        "risk.release-broke-invariance-somebody",
                        "the release '{record}' broke the invariance: somebody's group had other values",
                        record=record.name,
                    )
                found[person] = signature
        return found

    def _shows(
        self,
        target: Target,
        column: str,
        everybody: _Members,
        recorded: Sequence[tuple[Pairs, ReleaseRecord]],
    ) -> Shows:
        """How the new release and earlier ones show a column; values that the new one lacks have no name."""
        known = target.distribution(column)
        hidden = known.sizes < target.classes.sizes
        views = [view_of(everybody.number, everybody.fits, known.offsets, known.codes, hidden)]
        marks = self._value_marks(column, known.column.labels)
        every = pc.unique(pa.chunked_array([marks, *(r.values[column].marks for _, r in recorded)], MARK))
        views += [_recorded_view(everybody.number, pairs, r, column, every) for pairs, r in recorded]
        unknown = ["a value of an earlier release"] * (len(every) - len(marks))
        return Shows([*known.column.labels, *unknown], views)

    def _marks(self, people: Table, columns: Sequence[str]) -> pa.Array:
        """The mark of every person, by some columns."""
        encoded = encode(people, columns)
        groups = group_codes([c.codes for c in encoded.values()], [c.cardinality for c in encoded.values()])
        texts = [
            np.array([None if label == MISSING else label for label in column.labels], dtype=object)[
                column.codes[groups.representatives]
            ]
            for column in encoded.values()
        ]
        marks = self._key.marks(" ".join(["person by", *columns]), zip(*texts, strict=True))
        return marks.take(pa.array(groups.ids))

    def _value_marks(self, column: str, labels: Sequence[str]) -> pa.Array:
        return self._key.marks(f"value of {column}", ([label] for label in labels))


class _Members:
    """The people in a release, one by one, and the classes that each of them may be in."""

    def __init__(self, target: Target) -> None:
        for need in (AttackNeed.RELEASE, AttackNeed.PEOPLE):
            if not target.has(need):
                raise missing("history", need)
        people, fit = target.people, target.fit
        begin = np.searchsorted(fit.pairs.left, np.arange(len(people.sizes) + 1))
        kind = people.kind_of_row
        entries = ranges(begin[kind], begin[kind + 1])
        self.table, self.number = people.table, people.number
        self.fits = Pairs(np.repeat(np.arange(self.number), fit.choices[kind]), fit.pairs.right[entries])
        self.identified_by = people.table.identifiers or tuple(people.kinds.columns)
        self.described = Everybody(
            np.ones(self.number, np.int64),
            lambda row: people.known(int(kind[row])),
            lambda row: people.names_of_rows(np.array([row])),
        )


def _recorded_fits(marks: pa.Array, record: ReleaseRecord) -> Pairs:
    """The people, given their marks, whom a record knows, with all classes that they may be in."""
    distinct = record.people.dictionary_encode()
    place = pc.index_in(marks, value_set=distinct.dictionary)
    found = np.flatnonzero(np.asarray(pc.is_valid(place)))
    at = np.asarray(place.fill_null(0), dtype=np.int64)[found]
    # One key for a person and a class, so that who is recorded twice in a class is counted once.
    number = max(len(record.sizes), 1)
    keys = np.unique(np.asarray(distinct.indices, dtype=np.int64) * number + record.classes)
    begin = np.searchsorted(keys, np.arange(len(distinct.dictionary) + 1) * number)
    entries = ranges(begin[at], begin[at + 1])
    return Pairs(np.repeat(found, begin[at + 1] - begin[at]), keys[entries] % number)


def _recorded_view(
    number: int, fits: Pairs, record: ReleaseRecord, column: str, every: pa.Array
) -> ReleaseView:
    """How a recorded release shows people, its values as places among the marks of all values."""
    found = record.values[column]
    values = np.asarray(pc.index_in(found.marks, value_set=every), dtype=np.int32)
    classes = np.repeat(np.arange(len(record.sizes)), np.diff(found.offsets))
    shown = np.bincount(classes, weights=found.counts, minlength=len(record.sizes))
    return view_of(number, fits, found.offsets, values, shown < record.sizes)
