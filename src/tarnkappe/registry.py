"""Named families: privacy models, losses, searches, attacks.

A family is a visible list of classes. Everything that must hold for all members (lookup by name,
construction from a job file, the common tests) reads that list, so a new member is one file and one
line.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from tarnkappe.errors import ParameterError
from tarnkappe.parameters import checked, shown


class Named(Protocol):
    """A class with a name by which users call it."""

    name: ClassVar[str]


Member = TypeVar("Member", bound=Named)


class Registry(Generic[Member]):
    """The members of one family by name, in a fixed order."""

    def __init__(self, family: str, *members: type[Member]) -> None:
        self.family = family
        self._members: dict[str, type[Member]] = {member.name: checked(member) for member in members}
        if len(self._members) != len(members):
            raise ValueError(f"two members of the family '{family}' share a name")

    def __iter__(self) -> Iterator[type[Member]]:
        return iter(self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._members

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all members."""
        return tuple(self._members)

    def __getitem__(self, name: str) -> type[Member]:
        """The member with this name; an unknown name is refused with the nearest known ones."""
        if not isinstance(name, str):
            raise ParameterError(f"a {self.family} is called by its name, a text, not by {shown(name)}")
        if name not in self._members:
            near = difflib.get_close_matches(name, self._members, n=3)
            known = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(self._members)}"
            raise ParameterError(f"unknown {self.family} '{name}': {known}")
        return self._members[name]

    def create(self, name: str, parameters: Mapping[str, Any]) -> Member:
        """Build the member with this name; unknown and missing parameters are refused by name."""
        member = self[name]
        if not isinstance(parameters, Mapping):
            raise ParameterError(f"{self.family} '{name}': parameters are a table, not {shown(parameters)}")
        fields = {f.name: f for f in dataclasses.fields(member) if f.init}  # type: ignore[arg-type]
        for given in parameters:
            if given not in fields:
                takes = ", ".join(fields) or "no parameters"
                raise ParameterError(f"{self.family} '{name}' has no parameter '{given}' (it takes {takes})")
        for required in fields.values():
            optional = (
                required.default is not dataclasses.MISSING
                or required.default_factory is not dataclasses.MISSING
            )
            if not optional and required.name not in parameters:
                raise ParameterError(f"{self.family} '{name}' needs the parameter '{required.name}'")
        return member(**parameters)
