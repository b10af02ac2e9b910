"""What has been released: schema, classes and keyed marks, never a value that can be read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.state.audit import AuditLog
from tarnkappe.state.component import Component
from tarnkappe.state.key import MARK
from tarnkappe.state.store import Store

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

METADATA = sa.MetaData()
RELEASES_COMPONENT = Component("releases", METADATA)
RELEASES = sa.Table(
    "releases",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("population", sa.String, nullable=False, index=True),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("time", sa.String, nullable=False),
    sa.Column("key", sa.String, nullable=False),
    sa.Column("about", sa.Text, nullable=False),
    sa.Column("sizes", sa.LargeBinary, nullable=False),
    sa.Column("people", sa.LargeBinary, nullable=False),
    sa.Column("values", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("population", "name"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class ValueMarks:
    """The sensitive values of each class, as marks: those of class c are at `offsets[c]:offsets[c + 1]`.

    Attributes:
        offsets: where the values of each class begin.
        marks: the distinct values.
        counts: how often each occurs in its class.
    """

    offsets: Counts
    marks: pa.Array
    counts: Counts


@dataclasses.dataclass(frozen=True, eq=False)
class ReleaseRecord:
    """What is kept of a release.

    Attributes:
        name: its name among the releases of its population.
        about: the schema: which columns it has and what they are; nothing about a person.
        people: the marks of the people who are in it; once for every class that somebody may be in.
        classes: the class of each of them.
        sizes: how many rows each class has, those of nobody (counterfeits) included.
        values: the sensitive values of each class, by column.
        key: the fingerprint of the key that the marks are made with.
        time: when it was recorded; filled in by the store.
    """

    name: str
    about: Mapping[str, Any]
    people: pa.Array
    classes: Codes
    sizes: Counts
    values: Mapping[str, ValueMarks]
    key: str
    time: str = ""


class ReleaseStore:
    """The releases of one population in a store."""

    def __init__(self, store: Store, population: str) -> None:
        store.ensure(RELEASES_COMPONENT)
        self.store, self.population = store, population
        self._log = AuditLog(store)

    def add(self, record: ReleaseRecord) -> None:
        """Keep a release, and log it; a name can be given only once."""
        with self.store.writing() as connection:
            taken = sa.select(RELEASES.c.number).where(self._ours, RELEASES.c.name == record.name)
            if connection.execute(taken).first() is not None:
                raise ParameterError(
                    "state.history-release-already-choose",
                    "the history of '{population}' has a release '{record}' already: choose another name",
                    population=self.population,
                    record=record.name,
                )
            connection.execute(
                sa.insert(RELEASES).values(
                    population=self.population,
                    name=record.name,
                    time=datetime.now(UTC).isoformat(timespec="seconds"),
                    key=record.key,
                    about=json.dumps(dict(record.about)),
                    sizes=record.sizes.astype("<i8").tobytes(),
                    people=_people_bytes(record),
                    values=_values_bytes(record),
                )
            )
            told = {"population": self.population, "name": record.name, "rows": int(record.sizes.sum())}
            self._log.append("release recorded", told, connection)

    def all(self) -> list[ReleaseRecord]:
        """All releases of the population, the oldest first."""
        with self.store.reading() as connection:
            rows = connection.execute(sa.select(RELEASES).where(self._ours).order_by(RELEASES.c.number))
            return [self._record(row) for row in rows]

    @property
    def _ours(self) -> sa.ColumnElement[bool]:
        return RELEASES.c.population == self.population

    def _record(self, row: sa.Row[Any]) -> ReleaseRecord:
        try:
            people = pa.ipc.open_file(row.people).read_all()
            values = pa.ipc.open_file(row.values).read_all()
        except pa.ArrowInvalid:
            raise InputError(
                "state.record-damaged",
                "{store}: the record of '{row}' is damaged",
                store=self.store.place,
                row=row.name,
            ) from None
        sizes = np.frombuffer(row.sizes, dtype="<i8").astype(np.int64)
        return ReleaseRecord(
            row.name,
            json.loads(row.about),
            people.column("mark").combine_chunks(),
            people.column("class").to_numpy().astype(np.int32),
            sizes,
            {
                name: _value_marks(values, name, len(sizes))
                for name in pc.unique(values["column"]).to_pylist()
            },
            row.key,
            row.time,
        )


def _people_bytes(record: ReleaseRecord) -> bytes:
    # In the order of the marks, so that the order of the rows is not kept.
    table = pa.table({"mark": record.people, "class": pa.array(record.classes, pa.int32())})
    return _ipc(table.sort_by("mark"))


def _values_bytes(record: ReleaseRecord) -> bytes:
    parts = [
        pa.table(
            {
                "column": pa.array([name] * len(found.marks), pa.string()),
                "class": pa.array(np.repeat(np.arange(len(found.offsets) - 1), np.diff(found.offsets))),
                "mark": found.marks,
                "count": pa.array(found.counts, pa.int64()),
            }
        )
        for name, found in record.values.items()
    ]
    columns = {"column": pa.string(), "class": pa.int64(), "mark": MARK, "count": pa.int64()}
    return _ipc(pa.concat_tables([pa.schema(columns).empty_table(), *parts]))


def _value_marks(values: pa.Table, name: str, classes: int) -> ValueMarks:
    own = values.filter(pc.equal(values.column("column"), name))
    numbers = np.bincount(own.column("class").to_numpy(), minlength=classes)
    offsets = np.concatenate([[0], np.cumsum(numbers)]).astype(np.int64)
    return ValueMarks(offsets, own.column("mark").combine_chunks(), own.column("count").to_numpy())


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
