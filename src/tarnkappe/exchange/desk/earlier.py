"""What was released before: packages must keep their promises all together, whoever got them.

The attacker is the strongest there can be: he has all packages, knows in which of them somebody is, and
recognizes her row from one to the next. To him all packages together are one, in which people are told apart
by the group that they are in, in each package, or by not being in it. So this one package must be k-anonymous
and l-diverse. Then neither one requester who splits a question into many, nor several who compare their
packages, nor one who asks again when a patient has come or gone, gets more than one package may tell.

Of every patient only a hash of all her groups so far is kept, under a mark. A check therefore takes as long
after a thousand packages as after one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from tarnkappe.errors import InputError
from tarnkappe.exchange.checking.protect import class_ids, values_by_group
from tarnkappe.exchange.desk.people import PatientRegister
from tarnkappe.exchange.desk.tables import TRAILS
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.state import Store
from tarnkappe.state.key import MARK
from tarnkappe.table import Table
from tarnkappe.table.grouping import group_codes

ABSENT = -1
Groups = npt.NDArray[np.int64]


class EarlierReleases:
    """The packages that have left an institution, as the trails of its patients through them."""

    def __init__(self, store: Store, register: PatientRegister, institution: str) -> None:
        self._store, self._register, self._institution = store, register, institution

    def objection(self, release: Table, patients: Sequence[str], limits: Thresholds) -> str:
        """Why a package must not follow the earlier ones; nothing if it may.

        Args:
            release: the package.
            patients: whose row each of its rows is.
            limits: what must be left to everybody over all packages.
        """
        with self._store.reading() as connection:
            return self.objection_within(connection, release, self._register.marks(patients), limits)

    def objection_within(
        self, connection: sa.Connection, release: Table, marks: Sequence[bytes], limits: Thresholds
    ) -> str:
        """The same in a transaction, by the marks of the patients."""
        trails = self._trails(connection)
        if not trails.num_rows:
            return ""
        everybody, groups = _joined(trails, release, marks)
        smallest = int(np.bincount(groups).min())
        if smallest < limits.k:
            return (
                f"Together with earlier packages it would tell groups of fewer than {limits.k} people apart."
            )
        own = groups[np.asarray(pc.index_in(pa.array(marks, MARK), value_set=everybody), dtype=np.int64)]
        for name in release.sensitive:
            if values_by_group(release.data.column(name), own).min(initial=limits.l) < limits.l:
                return (
                    f"Together with earlier packages it would leave fewer than {limits.l} sensitive values."
                )
        return ""

    def remember(self, connection: sa.Connection, release: Table, marks: Sequence[bytes]) -> None:
        """Note a package, in the transaction that lets it go."""
        before = self._trails(connection)
        everybody, _ = _joined(before, release, marks)
        place = pc.index_in(everybody, value_set=before.column("mark").combine_chunks())
        known = before.column("trail").take(place).to_pylist()
        table = pa.table(
            {
                "mark": everybody,
                "trail": pa.array(_extended(known, _classes(everybody, release, marks)), MARK),
            }
        )
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table.sort_by("mark"))
        mine = TRAILS.c.institution == self._institution
        connection.execute(sa.delete(TRAILS).where(mine))
        values = {"institution": self._institution, "trails": bytes(sink.getvalue())}
        connection.execute(sa.insert(TRAILS).values(values))

    def _trails(self, connection: sa.Connection) -> pa.Table:
        found = connection.execute(
            sa.select(TRAILS.c.trails).where(TRAILS.c.institution == self._institution)
        ).scalar()
        if found is None:
            return pa.table({"mark": pa.array([], MARK), "trail": pa.array([], MARK)})
        try:
            return pa.ipc.open_file(found).read_all()
        except pa.ArrowInvalid:
            raise InputError(
                "what is known of earlier packages is damaged: nothing can be released"
            ) from None


def _joined(trails: pa.Table, release: Table, marks: Sequence[bytes]) -> tuple[pa.Array, Groups]:
    """Everybody who is or was in a package, and the group of each over all packages and this one."""
    old = trails.column("mark").combine_chunks()
    everybody = pc.unique(pa.concat_arrays([old, pa.array(marks, MARK)]))
    trail = trails.column("trail").combine_chunks().dictionary_encode()
    place = pc.index_in(everybody, value_set=old)
    before = np.asarray(trail.indices.take(place).fill_null(ABSENT), dtype=np.int64)
    codes = [(own - ABSENT).astype(np.int32) for own in (before, _classes(everybody, release, marks))]
    groups = group_codes(codes, [int(own.max(initial=0)) + 1 for own in codes])
    return everybody, groups.ids.astype(np.int64)


def _classes(everybody: pa.Array, release: Table, marks: Sequence[bytes]) -> Groups:
    """The group of everybody in a package; who is not in it is in none."""
    classes = np.full(len(everybody), ABSENT, np.int64)
    classes[np.asarray(pc.index_in(pa.array(marks, MARK), value_set=everybody), dtype=np.int64)] = class_ids(
        release
    )
    return classes


def _extended(trails: Sequence[bytes | None], classes: Groups) -> list[bytes]:
    """Each trail with one more group; equal trails that go on equally stay equal."""
    return [
        hashlib.blake2b((trail or b"") + b"/%d" % group, digest_size=MARK.byte_width).digest()
        for trail, group in zip(trails, classes.tolist(), strict=True)
    ]
