"""The attribute catalogue: what every column of an institution is to an attacker and to the law.

The four classes are the four roles of a table: a primary identifier is an `identifier`, a secondary one a
`quasi-identifier`. A column that the catalogue does not know is never released.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import JobError, ParameterError
from tarnkappe.exchange.request import Purpose
from tarnkappe.exchange.sections import built, read_toml, refuse_unknown
from tarnkappe.hierarchy import Hierarchy, propose
from tarnkappe.hierarchy.plan import HierarchyPlan, planned_hierarchy
from tarnkappe.risk import IdentifierKind
from tarnkappe.table import Column, Role


@dataclasses.dataclass(frozen=True)
class Attribute:
    """One attribute.

    Attributes:
        name: the column.
        role: its class, unless a steward says otherwise for one request.
        title: what it is called in reports.
        selects: whether requests may select people by it (diseases, medications, symptoms).
        hierarchy: how it generalizes; without one, a proposal is made.
        useful_level: the greatest level that still tells something; the one below the root if not given.
        purposes: what it may be essential for; for anything else it is dropped.
        special_category: the part of the legal list of sensitive data that it belongs to, if any.
        identifier_kind: which of HIPAA's 18 identifiers it is, if any.
        conspicuous: values that are hidden wherever they occur, among others; nobody is selected by one.
        damage: how much harm its disclosure does, in units of the institution's choice.
        conditions: whether people with one value of it are a group of which the statistics are asked what is
            frequent there (an occupation, a region).
    """

    name: str
    role: Role
    title: str = ""
    selects: bool = False
    hierarchy: HierarchyPlan | None = dataclasses.field(default=None, hash=False)
    useful_level: int | None = None
    purposes: frozenset[Purpose] = frozenset(Purpose)
    special_category: str = ""
    identifier_kind: IdentifierKind | None = None
    conspicuous: tuple[str, ...] = ()
    damage: float = 1.0
    conditions: bool = True

    def __post_init__(self) -> None:
        if self.role is Role.IDENTIFIER and self.selects:
            raise ParameterError(
                "exchange.identifies-person-nobody-may-selected",
                "'{name}' identifies a person: nobody may be selected by it",
                name=self.name,
            )
        if self.conspicuous and self.role is Role.QUASI_IDENTIFIER:
            raise ParameterError(
                "exchange.conspicuous-values-cannot-hidden",
                "'{name}': conspicuous values cannot be hidden in a quasi-identifier, which is generalized:"
                " give it a hierarchy that has them in a larger group",
                name=self.name,
            )
        if self.damage < 0:
            raise ParameterError(
                "exchange.damage-number-0", "'{name}': a damage is a number from 0", name=self.name
            )
        if self.useful_level is not None and self.useful_level < 0:
            raise ParameterError(
                "exchange.useful-level-level-whole",
                "'{name}': useful_level is a level, a whole number from 0",
                name=self.name,
            )

    @property
    def called(self) -> str:
        """What reports call it."""
        return self.title or self.name

    def hierarchy_for(self, column: Column) -> Hierarchy:
        """How a column of this attribute generalizes."""
        return (
            propose(column).hierarchy if self.hierarchy is None else planned_hierarchy(self.hierarchy, column)
        )

    def last_useful_level(self, height: int) -> int:
        """The greatest level at which the attribute may be released: at the root it tells nothing."""
        return min(height - 1 if self.useful_level is None else self.useful_level, height - 1)


@dataclasses.dataclass(frozen=True)
class Reclassification:
    """An attribute that has another class in one request than in the catalogue.

    >>> Reclassification("ward", Role.INSENSITIVE, Role.QUASI_IDENTIFIER).protects_less
    False
    >>> Reclassification("weight", Role.QUASI_IDENTIFIER, Role.SENSITIVE).protects_less
    True
    """

    attribute: str
    was: Role
    now: Role
    reason: str = ""

    @property
    def protects_less(self) -> bool:
        """Whether something is not protected any more: against who knows it, or against being learned."""
        return (
            self.now is not self.was and self.was is not Role.INSENSITIVE and self.now is not Role.IDENTIFIER
        )

    def to_dict(self) -> dict[str, str]:
        """As plain data."""
        return {
            "attribute": self.attribute,
            "was": str(self.was),
            "now": str(self.now),
            "reason": self.reason,
        }


class AttributeCatalogue:
    """All attributes of an institution.

    >>> age, name = Attribute("age", Role.QUASI_IDENTIFIER), Attribute("name", Role.IDENTIFIER)
    >>> catalogue = AttributeCatalogue([age, name])
    >>> catalogue["age"].role.value, "weight" in catalogue
    ('quasi-identifier', False)
    """

    def __init__(self, attributes: list[Attribute] | tuple[Attribute, ...]) -> None:
        self._attributes = {attribute.name: attribute for attribute in attributes}
        if len(self._attributes) < len(attributes):
            raise ParameterError("exchange.catalogue-attribute-twice", "the catalogue has an attribute twice")

    @classmethod
    def load(cls, path: str | Path) -> AttributeCatalogue:
        """Read a catalogue: a TOML file with a section [attributes.NAME] for each column."""
        return cls.from_dict(read_toml(path, "catalogue"), Path(path).parent, name=str(path))

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], folder: Path = Path(), *, name: str = "the catalogue"
    ) -> AttributeCatalogue:
        """A catalogue from the content of its file; hierarchy files are looked for in the folder."""
        refuse_unknown(content, ("attributes",), f"section of {name}")
        sections = content.get("attributes", {})
        return cls([_attribute(column, said, folder) for column, said in sections.items()])

    def __getitem__(self, name: str) -> Attribute:
        return self._attributes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._attributes

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self._attributes.values())

    def reclassified(
        self, roles: Mapping[str, Role], less_protected: Mapping[str, str]
    ) -> tuple[Reclassification, ...]:
        """What changes if a steward gives some attributes another class for one request.

        A primary identifier stays one: no context makes a name harmless. Who says nothing of it does not
        protect an attribute less than the catalogue does.

        Args:
            roles: the classes.
            less_protected: why, of each attribute that is protected less by its new class.
        """
        self._require_changeable(roles)
        changes = []
        for name, role in roles.items():
            change = Reclassification(name, self[name].role, role, less_protected.get(name, "").strip())
            if change.protects_less and not change.reason:
                raise ParameterError(
                    "exchange.protected-less-catalogue-wants",
                    "as {role}, '{name}' is protected less than the catalogue wants: name it in "
                    "less_protected with a reason, or leave its class as it is",
                    role=role,
                    name=name,
                )
            changes += [change] if role is not self[name].role else []
        return tuple(changes)

    def override(self, roles: Mapping[str, Role]) -> AttributeCatalogue:
        """The catalogue for one request, in which some attributes have another class."""
        self._require_changeable(roles)
        return AttributeCatalogue(
            [
                dataclasses.replace(each, role=roles[each.name]) if each.name in roles else each
                for each in self
            ]
        )

    def _require_changeable(self, roles: Mapping[str, Role]) -> None:
        for name, role in roles.items():
            if name not in self:
                raise ParameterError(
                    "exchange.catalogue-no-attribute-reclassify",
                    "the catalogue has no attribute '{name}' to reclassify",
                    name=name,
                )
            if self[name].role is Role.IDENTIFIER and role is not Role.IDENTIFIER:
                raise ParameterError(
                    "exchange.identifies-person-itself-cannot-anything",
                    "'{name}' identifies a person by itself: it cannot be anything else",
                    name=name,
                )

    def select(self, role: Role) -> tuple[str, ...]:
        """The attributes of one class."""
        return tuple(each.name for each in self if each.role is role)


def _attribute(name: str, said: Any, folder: Path) -> Attribute:
    where = f"[attributes.{name}]"
    if not isinstance(said, Mapping) or "role" not in said:
        raise JobError("exchange.must-section-role", "{where} must be a section with a role", where=where)
    values = dict(said)
    values["role"] = Role.parse(values["role"])
    if isinstance(values.get("hierarchy"), str):
        values["hierarchy"] = str(folder / values["hierarchy"])
    try:
        if "purposes" in values:
            values["purposes"] = frozenset(map(Purpose, values["purposes"]))
        if "identifier_kind" in values:
            values["identifier_kind"] = IdentifierKind(values["identifier_kind"])
    except (ValueError, TypeError) as error:
        raise JobError("exchange.where-error", "{where}: {error}", where=where, error=error) from None
    if "conspicuous" in values:
        values["conspicuous"] = tuple(map(str, values["conspicuous"]))
    return built(Attribute, {"name": name, **values}, where)
