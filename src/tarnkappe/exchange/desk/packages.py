"""Packages as bytes, which are signed, kept and sent."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping

import pyarrow as pa

from tarnkappe.errors import InputError
from tarnkappe.exchange.checking import Recommendation
from tarnkappe.exchange.request import Request
from tarnkappe.pseudonym.reversible import Reversible
from tarnkappe.state import Key
from tarnkappe.table import Role, Table

PSEUDONYM = "pseudonym"
"""The column by which somebody can be identified again, where that was asked for and consented to."""


@dataclasses.dataclass(frozen=True, eq=False)
class Package:
    """A package.

    Attributes:
        content: the package as bytes; None if there is none.
        roles: the roles of its columns.
        table: its rows as they were verified, without pseudonyms.
    """

    content: bytes | None
    roles: Mapping[str, str]
    table: Table

    @property
    def digest(self) -> str | None:
        """Stands for the whole package."""
        return None if self.content is None else digest_of(self.content)


def packed(found: Recommendation, request: Request, key: Key) -> Package:
    """The package of a recommendation.

    Where somebody may have to be identified again, each row gets a pseudonym that only this institution can
    undo, another one in every request.
    """
    if found.package is None:
        return Package(None, {}, Table(pa.table({})))
    table = found.package.release
    data = table.data
    if request.reidentification:
        names = Reversible(key, f"exchange {request.digest}").pseudonyms([(p,) for p in found.patients])
        data = data.append_column(PSEUDONYM, pa.array(names, pa.string()))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, data.schema) as writer:
        writer.write_table(data.combine_chunks())
    return Package(bytes(sink.getvalue()), {name: str(role) for name, role in table.roles.items()}, table)


def unpacked(content: bytes, roles: Mapping[str, str]) -> Package:
    """The package in some bytes."""
    data = opened(content).select(list(roles))
    return Package(content, roles, Table(data, {name: Role.parse(role) for name, role in roles.items()}))


def opened(content: bytes) -> pa.Table:
    """The rows of a package as it was sent."""
    try:
        return pa.ipc.open_file(content).read_all()
    except pa.ArrowInvalid:
        raise InputError("this is no package, or a damaged one") from None


def digest_of(content: bytes) -> str:
    """Stands for the bytes of a package."""
    return hashlib.sha256(content).hexdigest()
