"""What travels: medical data, sealed for who will use them, under a name that changes on the way."""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from tarnkappe.pseudonym.sealing import KeyPair, seal

Data = Mapping[str, Any]
"""Medical data of one person: plain values by name."""

Item = TypeVar("Item")


@dataclasses.dataclass(frozen=True)
class Parcel:
    """Sealed medical data and the name (a PID, then a pseudonym) that they go by.

    Attributes:
        name: the only thing that is changed on the way.
        sealed: what only the recipient can read.
    """

    name: str
    sealed: bytes = dataclasses.field(repr=False)

    @classmethod
    def pack(cls, name: str, data: Data, recipient: bytes, project: str) -> Parcel:
        """Seal data for a recipient, for one project."""
        return cls(name, seal(recipient, json.dumps(dict(data)).encode(), _place(project)))

    def unpack(self, recipient: KeyPair, project: str) -> dict[str, Any]:
        """Read the data; one that was packed for another project is refused."""
        content: dict[str, Any] = json.loads(recipient.unseal(self.sealed, _place(project)))
        return content


def shuffled(items: Iterable[Item]) -> list[Item]:
    """In a random order, since the order in which things arrive could tell whose they are."""
    found: list[Item] = list(items)
    secrets.SystemRandom().shuffle(found)
    return found


def renamed(parcels: Sequence[Parcel], names: Sequence[str]) -> list[Parcel]:
    """The same parcels under other names, in a random order."""
    return shuffled(Parcel(name, parcel.sealed) for name, parcel in zip(names, parcels, strict=True))


def _place(project: str) -> bytes:
    return json.dumps(["medical data", project]).encode()
