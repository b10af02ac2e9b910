"""Packages as bytes, which are signed, kept and sent."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping

import pyarrow as pa

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.exchange.checking import Recommendation
from tarnkappe.exchange.request import DataRequest
from tarnkappe.job.release import plain
from tarnkappe.pseudonym import Registrar, Reversible
from tarnkappe.state import Key
from tarnkappe.table import Role, Table

PSEUDONYM = "pseudonym"
"""The column by which somebody can be identified again, where that was asked for and consented to."""


@dataclasses.dataclass(frozen=True, eq=False)
class Package:
    """A package.

    Attributes:
        content: the package as bytes; None if there is none.
        roles: the roles of its columns, but for the pseudonym.
        table: its rows as they were verified, without pseudonyms.
    """

    content: bytes | None
    roles: Mapping[str, str]
    table: Table

    @property
    def digest(self) -> str | None:
        """Stands for the whole package."""
        return None if self.content is None else digest_of(self.content)

    @property
    def columns(self) -> list[list[str]]:
        """The names and roles of all columns in their order, the pseudonym's included."""
        if self.content is None:
            return []
        return [[name, self.roles.get(name, PSEUDONYM)] for name in opened(self.content).column_names]


def pseudonyms_of(key: Key, request: str) -> Reversible:
    """The pseudonyms in the package of a request, by its digest: those of another request are others."""
    return Reversible(key, f"exchange {request}")


def packed(found: Recommendation, request: DataRequest, key: Key, registrar: Registrar | None) -> Package:
    """The package of a recommendation.

    Where somebody may have to be identified again, each row gets a pseudonym, another one in every request.
    The way back has two stages: the institution's key leads to a pseudonym of its vault, and two people of
    the vault together to the patient.
    """
    if found.package is None:
        return Package(None, {}, Table(pa.table({})))
    table = found.package.release
    # Nothing but names, types and rows: what else a schema or a dictionary carries would leave unseen.
    data = pa.table({name: plain(table.data.column(name)) for name in table.column_names})
    if request.reidentification:
        if registrar is None:
            raise ParameterError(
                "exchange.somebody-may-identified-again",
                "somebody may have to be identified again, and there is no vault that keeps who they are: "
                "name one in the site file, or reject the request",
            )
        in_vault = registrar.pseudonyms([(patient,) for patient in found.patients])
        names = pseudonyms_of(key, request.digest).pseudonyms([(name,) for name in in_vault])
        data = data.append_column(PSEUDONYM, pa.array(names, pa.string()))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, data.schema) as writer:
        writer.write_table(data.combine_chunks())
    return Package(bytes(sink.getvalue()), {name: str(role) for name, role in table.roles.items()}, table)


def unpacked(content: bytes, roles: Mapping[str, str]) -> Package:
    """The package in some bytes; all of its columns but the pseudonym must have a role."""
    data = opened(content)
    if PSEUDONYM in data.column_names and PSEUDONYM not in roles:
        data = data.drop_columns([PSEUDONYM])
    if data.column_names != list(roles):
        raise InputError("exchange.package-other-columns", "this package has other columns than it should")
    return Package(content, roles, Table(data, {name: Role.parse(role) for name, role in roles.items()}))


def opened(content: bytes) -> pa.Table:
    """The rows of a package as it was sent."""
    try:
        return pa.ipc.open_file(content).read_all()
    except (pa.ArrowException, OSError, ValueError):
        raise InputError("exchange.no-package-damaged", "this is no package, or a damaged one") from None


def digest_of(content: bytes) -> str:
    """Stands for the bytes of a package."""
    return hashlib.sha256(content).hexdigest()
