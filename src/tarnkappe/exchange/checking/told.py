"""What packages tell of everybody, selected or not, and whether that leaves enough values possible.

A package is a table of rows. Who reads it also learns whom it was selected by: that the rows with one label
are people with the selecting value, and that nobody else who looks like that has it. So a table tells
something of every patient of the house, and what it tells is more than its cells.

Who knows what everybody looks like cannot tell two people apart if exchanging their records changes no table:
in every table they look alike, or have the same row, or none; or if exchanging one value of theirs changes
none. Whoever can be exchanged with somebody could have her values. Everybody must be left with l values of
every sensitive attribute that was shown or selected by, over all tables (the *outsider*); and with l values
of every other one for who knows the value by which she was selected, over the tables selected by it (the
*insider*). A table that selects by nothing sensitive counts as selected by every sensitive attribute that it
shows.

This is sufficient, not necessary: exchanging more than two people may leave more possible. It assumes nothing
of how packages are made. That what somebody could have must not shrink from one release to the next is the
idea of m-invariance (Xiao and Tao 2007, doi:10.1145/1247480.1247556).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import InputError
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.state import Key
from tarnkappe.state.key import MARK
from tarnkappe.table import MISSING
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import as_text
from tarnkappe.table.grouping import group_codes

Numbers = npt.NDArray[np.int64]

NO_ROW, NO_LABEL = -1, -1
ABSENT, WOULD_BE_SELECTED, LEFT_OUT = -2, -3, -4
UNSEEN = -5
WHO, LABEL, ROW, WRITTEN, VALUE = "person", "label", "row", "written", "value of "


@dataclasses.dataclass(frozen=True, eq=False)
class Told:
    """What one package tells of everybody who could have been in it.

    Attributes:
        people: marks of them.
        labels: what each looks like in this package; `NO_LABEL` for who has no row and could not be told
            apart from people who look differently.
        rows: what the sensitive cells of each are; `NO_ROW` for who was not selected, `LEFT_OUT` for who
            was and is not in the package.
        written: how the row of each is labelled in the package; nothing below 0 stands for a row.
        values: by sensitive attribute, a mark of each one's value; nothing where it is missing.
        selecting: the sensitive attribute of the selection; empty if it is none.
        chosen: marks of the values that were selected.
        shown: the sensitive attributes that are in the package.
    """

    people: pa.Array
    labels: Numbers
    rows: Numbers
    written: Numbers
    values: Mapping[str, pa.Array]
    selecting: str
    chosen: tuple[bytes, ...]
    shown: tuple[str, ...]

    @classmethod
    def none(cls) -> Told:
        """What a package tells in which nobody could have been."""
        nobody = np.empty(0, np.int64)
        return cls(pa.array([], MARK), nobody, nobody, nobody, {}, "", (), ())

    def to_bytes(self) -> bytes:
        """To be kept; in the order of the marks, so that the order of patients is not."""
        said = {"selecting": self.selecting, "shown": self.shown, "chosen": [c.hex() for c in self.chosen]}
        columns = {WHO: self.people, LABEL: self.labels, ROW: self.rows, WRITTEN: self.written}
        table = pa.table(columns | {VALUE + name: column for name, column in self.values.items()})
        table = table.sort_by(WHO).combine_chunks().replace_schema_metadata({"told": json.dumps(said)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    @classmethod
    def from_bytes(cls, content: bytes) -> Told:
        """As `to_bytes` wrote it."""
        try:
            table = pa.ipc.open_file(content).read_all().combine_chunks()
            said = json.loads((table.schema.metadata or {})[b"told"])
        except (pa.ArrowInvalid, KeyError, ValueError):
            raise InputError(
                "exchange.what-earlier-packages-told",
                "what earlier packages told is damaged: nothing can be released",
            ) from None
        return cls(
            table.column(WHO).combine_chunks(),
            np.asarray(table.column(LABEL), dtype=np.int64),
            np.asarray(table.column(ROW), dtype=np.int64),
            np.asarray(table.column(WRITTEN), dtype=np.int64),
            {
                name.removeprefix(VALUE): table.column(name).combine_chunks()
                for name in table.column_names
                if name.startswith(VALUE)
            },
            said["selecting"],
            tuple(bytes.fromhex(each) for each in said["chosen"]),
            tuple(said["shown"]),
        )

    @property
    def attributes(self) -> set[str]:
        """The sensitive attributes that it tells something of."""
        return {*self.shown, self.selecting} - {""}

    @property
    def counts_as_selected_by(self) -> set[str]:
        """The sensitive attributes that it is selected by, as an insider sees it."""
        return {self.selecting} if self.selecting else set(self.shown)


def value_marks(column: pa.ChunkedArray | pa.Array, name: str, key: Key) -> pa.Array:
    """What stands for the values of a sensitive attribute; nothing where one is missing."""
    texts = as_text(column)
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    found = texts.dictionary_encode()
    marks = [
        None if text in (None, "", MISSING) else value_mark(text, name, key)
        for text in found.dictionary.to_pylist()
    ]
    return pa.array(marks, MARK).take(found.indices)


def value_mark(text: str, name: str, key: Key) -> bytes:
    """What stands for one value."""
    return key.mark(f"told value of {name}", [text])


def objection(before: Sequence[Told], package: Told, limits: Thresholds) -> str:
    """Why a package must not leave after others; nothing if it may.

    It may if it leaves everybody as many possible values as the policy wants, or as many as there were.
    """
    together, alone = "Together with earlier packages", "By whom it selects"
    for knowing in ("", *sorted(_insiders([*before, package]))):
        after = _Tables(_seen_by(knowing, [*before, package]), knowing)
        for name in sorted(after.attributes - {knowing}):
            exposed = after.exposed(name, limits.l)
            if not exposed:
                continue
            known = _Tables(_seen_by(knowing, before), knowing).left(name, exposed, limits.l)
            if any(left < known[who] for who, left in exposed.items()):
                where = together if before else alone
                whom = f" to who knows their {knowing}" if knowing else ""
                few = f"fewer than {limits.l} possible values of '{name}'"
                return f"{where} it would leave somebody {few}{whom}."
    return ""


def most_likely(package: Told) -> float:
    """The greatest share of one selected value among people who look alike, by this package alone."""
    if not package.selecting or (len(package.chosen) > 1 and package.selecting not in package.shown):
        return 0.0
    own = package.values[package.selecting]
    alike = package.labels != NO_LABEL
    everybody = np.bincount(package.labels[alike])
    worst = 0.0
    for value in package.chosen:
        has = np.asarray(pc.fill_null(pc.equal(own.cast(pa.binary()), value), False)) & alike
        has &= package.rows != NO_ROW
        counts = np.bincount(package.labels[has], minlength=len(everybody))
        worst = max(worst, float((counts / np.maximum(everybody, 1)).max(initial=0.0)))
    return worst


def _insiders(tables: Sequence[Told]) -> set[str]:
    return {name for table in tables for name in table.counts_as_selected_by}


def _seen_by(knowing: str, tables: Sequence[Told]) -> list[Told]:
    """The tables that count: all for an outsider, those selected by what an insider knows for him."""
    return [each for each in tables if not knowing or knowing in each.counts_as_selected_by]


class _Tables:
    """Several tables as one matrix: a line for everybody, a column for each table.

    Args:
        tables: what was told.
        knowing: the sensitive attribute that the attacker knows of everybody; empty for an outsider.
    """

    def __init__(self, tables: Sequence[Told], knowing: str) -> None:
        self._tables, self._knowing = tables, knowing
        self.attributes = {name for table in tables for name in table.attributes}
        marks = [table.people.cast(pa.binary()) for table in tables]
        self._people = pc.unique(pa.concat_arrays(marks)) if marks else pa.array([], pa.binary())
        self._places = [
            np.asarray(pc.fill_null(pc.index_in(self._people, value_set=own), -1), dtype=np.int64)
            for own in marks
        ]
        self._codes: dict[str, dict[bytes, int]] = {}
        names = sorted({name for table in tables for name in table.values})
        self._versions = {name: self._values(name) for name in names}
        known = self._versions.get(knowing, [])
        self._labels = self._matrix([*(_taken(t.labels, at, ABSENT) for t, at in self._each()), *known])
        self._rows = self._matrix([*(self._rows_of(t, at) for t, at in self._each()), *known])
        self._written = self._matrix([*(self._written_of(t, at) for t, at in self._each()), *known])
        self._records = _Exchange(self._labels, self._rows, self._written)
        self._single = {name: self._of_one_value(name) for name in sorted(self.attributes)}

    def exposed(self, name: str, l: int) -> dict[bytes, int]:  # noqa: E741
        """Who is left with fewer than l values of an attribute, and with how many."""
        found: dict[bytes, int] = {}
        for version in self._versions.get(name, []):
            for row in self._with_few_alike(version, l):
                if not self._is_told(row, name):
                    continue
                left = self._possible(row, name, version, l)
                if left < l:
                    who = self._people[int(row)].as_py()
                    found[who] = min(left, found.get(who, l))
        return found

    def left(self, name: str, people: Mapping[bytes, int], l: int) -> dict[bytes, int]:  # noqa: E741
        """With how many values some people are left, at most l; l if nothing was told of them."""
        found = dict.fromkeys(people, l)
        if not len(self._people):
            return found
        at = pc.index_in(pa.array(list(people), pa.binary()), value_set=self._people).to_pylist()
        for who, row in zip(people, at, strict=True):
            if row is not None and name in self.attributes and self._is_told(row, name):
                each = [self._possible(row, name, version, l) for version in self._versions.get(name, [])]
                found[who] = min([l, *each])
        return found

    def _each(self) -> list[tuple[Told, Numbers]]:
        return list(zip(self._tables, self._places, strict=True))

    def _matrix(self, columns: Sequence[Numbers]) -> Numbers:
        return np.stack(columns, axis=1) if columns else np.empty((len(self._people), 0), np.int64)

    def _is_told(self, row: int, name: str) -> bool:
        """Outsiders are told something of everybody; an insider of those whose row has the attribute."""
        if not self._knowing:
            return True
        return any(name in table.shown and self._rows[row, at] >= 0 for at, table in enumerate(self._tables))

    def _possible(self, row: int, name: str, version: Numbers, l: int) -> int:  # noqa: E741
        """How many values somebody could have, at most l: those of all with whom she can be exchanged."""
        values = version[self._records.candidates(row) | self._single[name].candidates(row)]
        return min(len(np.unique(values[values >= 0])), l)

    def _of_one_value(self, name: str) -> _Exchange:
        """Exchanging the values of one attribute only: tables that do not tell it stay as they are.

        A table that shows it keeps its rows if neither of two people has one, or if they look alike and it
        shows nothing else. In a table selected by it, who has no row could get one.
        """
        labels, rows, written = [], [], []
        for at, table in enumerate(self._tables):
            if name not in table.attributes:
                continue
            own, cells, nobody = self._labels[:, at], self._rows[:, at], self._nobody_else()
            alone = set(table.shown) <= {name}
            looks = own if alone else nobody
            if table.selecting == name:
                looks = np.where(own == ABSENT, ABSENT, looks)
            else:
                looks = np.where(cells < 0, UNSEEN, looks)
            labels.append(looks)
            rows.append(cells)
            written.append(self._written[:, at] if alone else nobody)
        return _Exchange(self._matrix(labels), self._matrix(rows), self._matrix(written))

    def _with_few_alike(self, version: Numbers, l: int) -> Numbers:  # noqa: E741
        """One of each kind of people who may be exposed.

        People who look alike in every table can be exchanged at will, so where they have l values nobody of
        them is. Of the others, those who also have the same rows have the same possible values.
        """
        alike, _ = _kinds(self._labels)
        seen = version >= 0
        pairs = np.unique(np.stack([alike[seen], version[seen]], axis=1), axis=0)
        number = int(alike.max(initial=-1)) + 1
        few = np.bincount(pairs[:, 0], minlength=number)[alike] < l
        _, first = np.unique(self._records.kind[few], return_index=True)
        return np.flatnonzero(few)[first]

    def _nobody_else(self) -> Numbers:
        """A number for everybody that nobody else has, and no label or row."""
        return -10 - np.arange(len(self._people), dtype=np.int64)

    def _written_of(self, table: Told, at: Numbers) -> Numbers:
        written = _taken(table.written, at, -1)
        return np.where(written < 0, self._nobody_else(), written)

    def _rows_of(self, table: Told, at: Numbers) -> Numbers:
        """The row of everybody in a table; of who could not be in it, whether she would have had one."""
        rows = _taken(table.rows, at, WOULD_BE_SELECTED)
        if not table.selecting:
            return rows
        code = self._codes[table.selecting]
        chosen = [code[mark] for mark in table.chosen if mark in code]
        versions = self._matrix(self._versions[table.selecting])
        would_not = (versions >= 0).any(axis=1) & ~np.isin(versions, chosen).any(axis=1)
        rows[(at < 0) & would_not] = NO_ROW
        return rows

    def _values(self, name: str) -> list[Numbers]:
        """The values of an attribute as codes; one that differs from what it was stands beside it."""
        code = self._codes.setdefault(name, {})
        versions: list[Numbers] = []
        for table, at in self._each():
            if name not in table.values:
                continue
            found = table.values[name].cast(pa.binary()).dictionary_encode()
            numbers = np.array(
                [code.setdefault(mark, len(code)) for mark in found.dictionary.to_pylist()], dtype=np.int64
            )
            places = np.asarray(pc.fill_null(found.indices.cast(pa.int64()), -1))
            own = np.where(places >= 0, np.append(numbers, -1)[places], -1)
            own = _taken(own, at, -1)
            for version in versions:
                if not ((version >= 0) & (own >= 0) & (version != own)).any():
                    np.copyto(version, own, where=version < 0)
                    break
            else:
                versions.append(own)
        return versions


class _Exchange:
    """Who can be exchanged with whom: in every table they look alike, or have the same row, or have rows
    that are written alike.
    """

    def __init__(self, labels: Numbers, rows: Numbers, written: Numbers) -> None:
        self._each = labels, rows, written
        self.kind, first = _kinds(np.concatenate([labels, rows, np.maximum(written, -1)], axis=1))
        self._lines = [matrix[first] for matrix in self._each]

    def candidates(self, row: int) -> Mask:
        """With whom somebody can be exchanged, herself included."""
        same = np.zeros(self._lines[0].shape, dtype=bool)
        for lines, own in zip(self._lines, self._each, strict=True):
            same |= lines == own[row]
        found: Mask = np.asarray(same.all(axis=1))[self.kind]
        found[row] = True
        return found


def _taken(numbers: Numbers, at: Numbers, otherwise: int) -> Numbers:
    return np.where(at >= 0, np.append(numbers, otherwise)[at], otherwise)


def _kinds(matrix: Numbers) -> tuple[Numbers, Numbers]:
    """Which lines of a matrix are equal: the kind of each, and where the first one of each kind is."""
    if not matrix.size:
        return np.zeros(len(matrix), np.int64), np.zeros(min(len(matrix), 1), np.int64)
    columns = [_dense(column) for column in matrix.T]
    found = group_codes(columns, [int(column.max()) + 1 for column in columns])
    return found.ids.astype(np.int64), np.asarray(found.representatives, dtype=np.int64)


def _dense(column: Numbers) -> npt.NDArray[np.int32]:
    """The same numbers from 0 on; those of people are far apart, all others are few and small."""
    least, most = int(column.min()), int(column.max())
    if most - least <= len(column) + 16:
        return (column - least).astype(np.int32)
    return np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int32)
