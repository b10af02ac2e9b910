"""Named families: privacy models, losses, searches, attacks.

A family is a visible list of classes. Everything that must hold for all members (lookup by name,
construction from a job file, the common tests, reference pages, forms) reads that list, so a new member is
one file and one line.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar, Union

from tarnkappe.errors import ParameterError
from tarnkappe.schema.parameters import Parameters, fields_of
from tarnkappe.schema.problem import InvalidError, Problem, near, shown


class Named(Protocol):
    """A class with a name by which users call it."""

    name: ClassVar[str]


Member = TypeVar("Member", bound=Named)


class Family(Generic[Member]):
    """The members of one family by name, in a fixed order."""

    def __init__(self, family: str, *members: type[Member]) -> None:
        self.family = family
        self._members: dict[str, type[Member]] = {member.name: member for member in members}
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

    @property
    def union(self) -> Any:
        """The type of a document that names a member and gives its parameters, as msgspec understands it."""
        return Union[tuple(self)]  # noqa: UP007  as many as there are

    def __getitem__(self, name: str) -> type[Member]:
        """The member with this name; an unknown name is refused with the nearest known ones."""
        if not isinstance(name, str):
            raise ParameterError(
                "schema.called-name-text",
                "a {family} is called by its name, a text, not by {name}",
                family=self.family,
                name=shown(name),
            )
        if name not in self._members:
            close = near(name, self._members, 3)
            known = (
                f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(self._members)}"
            )
            raise ParameterError(
                "schema.family-name-known-unknown",
                "unknown {family} {name}: {known}",
                family=self.family,
                name=shown(name),
                known=known,
            )
        return self._members[name]

    def create(self, name: str, parameters: Mapping[str, Any]) -> Member:
        """Build the member with this name; all that is wrong with its parameters is told at once."""
        member = self[name]
        if not isinstance(parameters, Mapping):
            raise ParameterError(
                "schema.parameters-table",
                "{family} '{name}': parameters are a table, not {parameters}",
                family=self.family,
                name=name,
                parameters=shown(parameters),
            )
        problems = list(problems_of(member, parameters))
        if problems:
            raise InvalidError.of(f"{self.family} '{name}'", problems)
        return member(**parameters)


def problems_of(member: type, parameters: Mapping[Any, Any]) -> Iterator[Problem]:
    """What is wrong with the parameters of a member, each looked at by itself."""
    known = {field.name: field for field in fields_of(member)}
    if all(name in known for name in parameters) and all(
        field.name in parameters for field in known.values() if field.required
    ):
        return  # the member looks at each value itself
    from tarnkappe.schema.explain import MOST_PROBLEMS, of_fields, plain

    given = dict(parameters)
    given |= {name: plain(given[name], field.info) for name, field in known.items() if name in given}
    expected = {name: (field.info, field.required) for name, field in known.items()}
    yield from itertools.islice(of_fields(given, expected, ()), MOST_PROBLEMS)


def parse(family: Family[Member], document: object, key: str) -> Member:
    """The member that a document names by a key, with the parameters beside it."""
    if not isinstance(document, Mapping):
        raise ParameterError(
            "schema.table-key",
            "a {family} is a table with the key '{key}', not {document}",
            family=family.family,
            key=key,
            document=shown(document),
        )
    if key not in document:
        raise ParameterError(
            "schema.needs-key",
            "a {family} needs the key '{key}': which one is it?",
            family=family.family,
            key=key,
        )
    return family.create(document[key], {name: value for name, value in document.items() if name != key})


__all__ = ["Family", "Member", "Named", "Parameters", "parse", "problems_of"]
