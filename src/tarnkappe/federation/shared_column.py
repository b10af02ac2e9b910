"""A column of a federated release, as all parties agree on it."""

from __future__ import annotations

import dataclasses
import re

import pyarrow as pa

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.federation.field_types import require_types
from tarnkappe.table import Role

DEFAULT_WIDTH = 40


@dataclasses.dataclass(frozen=True)
class SharedColumn:
    """A column of the release.

    Attributes:
        name: its name.
        role: quasi-identifier, sensitive or insensitive. Identifiers never leave a party.
        kind: the type of its values, as Arrow names it.
        height: the highest level of its hierarchy; 0 if it has none.
        least_level: the level to which parties generalize it before anything is encrypted.
        width: the greatest number of bytes of a value or label.
        owner: the party that has it, where data are distributed vertically.
        owners: the parties that have it for some people each, where the distribution is hybrid.
        labels: how many labels the common hierarchy has at each level, in an oblivious run.
        hierarchy_digest: the SHA-256 of the common hierarchy, in an oblivious run.
    """

    name: str
    role: Role = Role.QUASI_IDENTIFIER
    kind: str = "string"
    height: int = 0
    least_level: int = 0
    width: int = DEFAULT_WIDTH
    owner: str | None = None
    owners: tuple[str, ...] = ()
    labels: tuple[int, ...] = ()
    hierarchy_digest: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        if self.role is Role.IDENTIFIER:
            raise ColumnError(
                "federation.identifies-people-cannot-part",
                "'{name}' identifies people: it cannot be part of a release",
                name=self.name,
            )
        if self.role is Role.UNSTATED:
            raise ColumnError(
                "federation.no-role-say-what-leave",
                "'{name}' has no role: say what it is, or leave it out of the contract",
                name=self.name,
            )
        if self.role is Role.QUASI_IDENTIFIER and self.height < 1:
            raise ColumnError(
                "federation.quasi-identifier-needs-hierarchy",
                "the quasi-identifier '{name}' needs a hierarchy: say how high it is",
                name=self.name,
            )
        if not 0 <= self.least_level <= self.height:
            raise ParameterError(
                "federation.levels-0",
                "'{name}' has the levels 0 to {height}, not {least_level}",
                name=self.name,
                height=self.height,
                least_level=self.least_level,
            )
        if self.labels and (len(self.labels) != self.height + 1 or min(self.labels) < 1):
            raise ParameterError(
                "federation.needs-number-labels-levels",
                "'{name}' needs a number of labels for each of its levels",
                name=self.name,
            )
        if self.type is None:
            raise ColumnError(
                "federation.type-release",
                "'{name}' is of the type '{kind}', which a release cannot have",
                name=self.name,
                kind=self.kind,
            )

    @property
    def type(self) -> pa.DataType | None:
        """The type of its values, or None if it is not one that text can be read as."""
        decimal = re.fullmatch(r"decimal128\((\d+), (\d+)\)", self.kind)
        if decimal:
            return pa.decimal128(*map(int, decimal.groups()))
        try:
            return pa.type_for_alias(self.kind)
        except ValueError:
            return None
