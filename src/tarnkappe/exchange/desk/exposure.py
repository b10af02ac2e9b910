"""What everybody who has ever been in a package is known by, over all packages together.

People are in one group if they were in the same packages, and in each of them in the same group. Of everybody
there is also what was told of him, by column. All packages are then like one, in which people are told apart
by their groups and in which everything stands that any of them says. Values and people are marks under a key.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import InputError
from tarnkappe.exchange.checking.unverified_package import class_ids
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.job.release import plain
from tarnkappe.privacy.several_sensitive import detect
from tarnkappe.state import Key
from tarnkappe.state.key import MARK
from tarnkappe.table import MISSING, SUPPRESSED, Table
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import as_text
from tarnkappe.table.grouping import group_codes

ABSENT = -1
WHO, GROUP = "mark", "group"
Groups = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class Trails:
    """Everybody who is in some packages.

    Attributes:
        people: their marks.
        groups: the group of each.
        values: by column, what was told of each, as a mark; nothing where nothing was.
    """

    people: pa.Array
    groups: Groups
    values: Mapping[str, pa.Array]

    @classmethod
    def none(cls) -> Trails:
        """Before the first package."""
        return cls(pa.array([], MARK), np.empty(0, np.int64), {})

    @classmethod
    def of_package(cls, release: Table, marks: Sequence[bytes], key: Key) -> Trails:
        """Those of one package."""
        values = {name: _marked(release.data.column(name), name, key) for name in release.sensitive}
        return cls(pa.array(marks, MARK), class_ids(release), values)

    @classmethod
    def from_bytes(cls, content: bytes) -> Trails:
        """As `to_bytes` wrote them."""
        try:
            table = pa.ipc.open_file(content).read_all().combine_chunks()
        except pa.ArrowInvalid:
            raise InputError(
                "exchange.what-known-earlier-packages",
                "what is known of earlier packages is damaged: nothing can be released",
            ) from None
        values = {
            name: table.column(name).combine_chunks()
            for name in table.column_names
            if name not in (WHO, GROUP)
        }
        groups = np.asarray(table.column(GROUP), dtype=np.int64)
        return cls(table.column(WHO).combine_chunks(), groups, values)

    def to_bytes(self) -> bytes:
        """To be kept; in the order of the marks, so that the order of rows is not."""
        table = pa.table({WHO: self.people, GROUP: self.groups, **self.values})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table.sort_by(WHO).combine_chunks())
        return bytes(sink.getvalue())

    def joined(self, other: Trails) -> Trails:
        """Those of these packages and another one together."""
        people = pc.unique(pa.concat_arrays([self.people, other.people]))
        own, others = (_places(people, each.people) for each in (self, other))
        codes = [
            (_taken(each.groups, places) - ABSENT).astype(np.int32)
            for each, places in ((self, own), (other, others))
        ]
        found = group_codes(codes, [int(each.max(initial=0)) + 1 for each in codes])
        values = {name: column.take(own) for name, column in self.values.items()}
        for name, column in other.values.items():
            _add(values, name, column.take(others))
        return Trails(people, found.ids.astype(np.int64), values)

    def only(self, chosen: Mask) -> Trails:
        """Those of some of the people."""
        rows = pa.array(np.flatnonzero(chosen))
        taken = {name: column.take(rows) for name, column in self.values.items()}
        return Trails(self.people.take(rows), self.groups[chosen], taken)


def joined(several: Sequence[Trails]) -> Trails:
    """Those of several packages together."""
    return reduce(Trails.joined, several) if several else Trails.none()


def objection(before: Trails, package: Trails, limits: Thresholds) -> str:
    """Why a package must not follow earlier ones; nothing if it may.

    Only groups that the package has somebody of are looked at: it tells nothing new of the others.
    """
    if not len(before.people):
        return ""
    after = before.joined(package)
    in_package = _places(after.people, package.people).is_valid()
    ids = _taken(before.groups, _places(after.people, before.people))
    present = np.asarray(in_package)
    after = after.only(present | np.isin(ids, np.setdiff1d(ids[present], [ABSENT])))
    if np.bincount(np.unique(after.groups, return_inverse=True)[1]).min() < limits.joint:
        return (
            f"Together with earlier packages it would tell groups of fewer than {limits.joint} people apart."
        )
    if not after.values:
        return ""
    told = pa.table({name: _readable(column) for name, column in after.values.items()})
    rows = np.flatnonzero(
        np.logical_or.reduce([np.asarray(column.is_valid()) for column in after.values.values()])
    )
    found = detect(told.take(pa.array(rows)), pa.array(after.groups[rows]), tuple(after.values), limits.l)
    if any(each.groups for each in found):
        return f"Together with earlier packages it would leave fewer than {limits.l} sensitive values."
    return ""


def _marked(column: pa.ChunkedArray, name: str, key: Key) -> pa.Array:
    texts = as_text(plain(column)).combine_chunks().fill_null(MISSING).dictionary_encode()
    marks = [
        None if text == SUPPRESSED else key.mark(f"value of {name}", [text])
        for text in texts.dictionary.to_pylist()
    ]
    return pa.array(marks, MARK).take(texts.indices)


def _add(values: dict[str, pa.Array], name: str, column: pa.Array) -> None:
    """Add what is told of a column; what differs from what was told before stands beside it."""
    place = name
    while place in values:
        known = values[place]
        if not pc.any(pc.not_equal(_binary(known), _binary(column))).as_py():
            values[place] = pc.coalesce(_binary(known), _binary(column)).cast(MARK)
            return
        place += "'"
    values[place] = column


def _binary(column: pa.Array) -> pa.Array:
    return column.cast(pa.binary())


def _readable(column: pa.Array) -> pa.Array:
    codes = column.dictionary_encode().indices
    return codes.cast(pa.string()).fill_null(SUPPRESSED)


def _places(people: pa.Array, among: pa.Array) -> pa.Array:
    return pc.index_in(people, value_set=among)


def _taken(groups: Groups, places: pa.Array) -> Groups:
    """The group of everybody at these places; who has none is absent."""
    if not len(groups):
        return np.full(len(places), ABSENT, np.int64)
    return np.where(
        np.asarray(places.is_valid()), groups[np.asarray(places.fill_null(0), dtype=np.int64)], ABSENT
    )
