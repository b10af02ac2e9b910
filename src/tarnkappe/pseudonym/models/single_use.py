"""Models 1 and 2: data for one use, from which nobody can be identified again.

Model 1, one source: what says who it is is left out (`without_identity`). Nothing can be joined.

Model 2, several sources that know people by the same PID: an independent service puts one-way pseudonyms in
the place of PIDs, so that the user can join what belongs to one person.

| party | sees | never sees |
|---|---|---|
| source | PID and data of its own patients | pseudonyms |
| service | PIDs, the key | data; it stores nothing, so no list of who is who |
| user | pseudonyms, data | PIDs, the key |

Each party is an attacker: the service wants the data, the user wants the PIDs and has a list of all possible
ones. What is not withstood: the service and the user together, who can try all PIDs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tarnkappe.errors import ColumnError
from tarnkappe.pseudonym.models.parcels import Data, Parcel, renamed, shuffled
from tarnkappe.pseudonym.one_way import OneWay
from tarnkappe.pseudonym.sealing import KeyPair
from tarnkappe.state import Key
from tarnkappe.table import Table


def without_identity(table: Table) -> Table:
    """Model 1: a table without its identifiers, in a random order; it still has to be anonymized.

    >>> import pyarrow as pa
    >>> ward = Table(pa.table({"name": ["Ann"], "age": [34]})).with_roles(identifiers=["name"])
    >>> without_identity(ward).column_names
    ('age',)
    """
    kept = [name for name in table.column_names if name not in table.identifiers]
    if not kept or len(kept) == len(table.column_names):
        raise ColumnError(
            "pseudonym.say-columns-identifiers-some",
            "say which columns are identifiers, and that some are not",
        )
    data = table.data.select(kept).take(shuffled(range(table.num_rows)))
    return Table(data, {name: table.roles[name] for name in kept})


class DataProvider:
    """A hospital with the data of its patients by PID."""

    def __init__(self, patients: Mapping[str, Data]) -> None:
        self._patients = dict(patients)

    def deliver(self, user: bytes, project: str) -> list[Parcel]:
        """What goes to the service: PIDs, and data that only the user can read."""
        return [Parcel.pack(pid, data, user, project) for pid, data in self._patients.items()]


class OneWayService:
    """The independent body that makes one-way pseudonyms, and keeps nothing of it."""

    def __init__(self, key: Key, project: str) -> None:
        self._method = OneWay(key, project)

    def forward(self, parcels: Sequence[Parcel]) -> list[Parcel]:
        """What goes to the user: pseudonyms in the place of PIDs, in a random order."""
        return renamed(parcels, self._method.pseudonyms([(parcel.name,) for parcel in parcels]))


class User:
    """Who uses the data: he has the only key to them."""

    def __init__(self, project: str) -> None:
        self._keys, self._project = KeyPair.new(), project
        self.people: dict[str, list[dict[str, Any]]] = {}

    @property
    def public(self) -> bytes:
        """The public key that data for him are sealed with."""
        return self._keys.public

    def receive(self, parcels: Sequence[Parcel]) -> None:
        """Open what the service has forwarded, and join it by person."""
        for parcel in parcels:
            data = parcel.unpack(self._keys, self._project)
            self.people.setdefault(parcel.name, []).append(data)
