"""The institutions that know each other, and what each may ask for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.exchange.request import Purpose
from tarnkappe.exchange.sections import built, read_toml, refuse_unknown


@dataclasses.dataclass(frozen=True)
class NetworkMember:
    """An institution of the network.

    Attributes:
        name: what it is called.
        purposes: for what it has shown its competence to use data.
        bound_to_secrecy: whether its people are bound to secrecy by law, or otherwise reliable; None if that
            is not known.
        public_key: its public Ed25519 key, in hexadecimal digits.
        revoked: whether it takes part no more.
    """

    name: str
    purposes: frozenset[Purpose] = frozenset()
    bound_to_secrecy: bool | None = None
    public_key: str = ""
    revoked: bool = False


class Network:
    """The members of the network, as one institution knows them."""

    def __init__(self, members: Iterable[NetworkMember]) -> None:
        self._members = {member.name: member for member in members}
        self._file: Path | None = None
        self._read = 0

    @classmethod
    def load(cls, path: str | Path) -> Network:
        """Read a file with a section [members.NAME] for every institution.

        It is read again when it has changed, so a member can be revoked while the exchange is running.
        """
        network = cls([])
        network._file = Path(path)
        network._read_again()
        return network

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Network:
        """A network from the content of its file."""
        refuse_unknown(content, ("members",), "section of the network file")
        members = []
        for name, said in content.get("members", {}).items():
            values = dict(said)
            try:
                values["purposes"] = frozenset(map(Purpose, values.get("purposes", ())))
            except ValueError as error:
                raise JobError(
                    "exchange.name-error-members", "[members.{name}]: {error}", name=name, error=error
                ) from None
            members.append(built(NetworkMember, {"name": name, **values}, f"[members.{name}]"))
        return cls(members)

    def _read_again(self) -> None:
        assert self._file is not None
        try:
            changed = self._file.stat().st_mtime_ns
        except OSError as error:
            raise JobError(
                "exchange.cannot-read-network-file",
                "cannot read the network file {file}: {strerror}",
                file=self._file,
                strerror=error.strerror,
            ) from None
        if changed != self._read:
            self._members = self.from_dict(read_toml(self._file, "network file"))._members
            self._read = changed

    def find(self, name: str) -> NetworkMember | None:
        """The member with this name, unless it takes part no more."""
        if self._file is not None:
            self._read_again()
        member = self._members.get(name)
        return None if member is None or member.revoked else member
