"""The table: Arrow data with a role for every column."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from tarnkappe.drawing import html_table
from tarnkappe.errors import ColumnError, ParameterError, Reason
from tarnkappe.schema import near, shown
from tarnkappe.schema.problem import meant_or
from tarnkappe.table.frames import FrameKind, as_arrow, as_pandas, as_polars
from tarnkappe.table.reading import Reading
from tarnkappe.table.spelling.spelling import Spelling

MISSING = "(missing)"
"""How a missing value is shown. It is a value like any other: it can be grouped and generalized."""

SUPPRESSED = "*"
"""How a suppressed cell is shown. It is no value: it adds nothing to the diversity of a class."""


class Role(StrEnum):
    """What a column is to an attacker."""

    IDENTIFIER = "identifier"
    """Names one person by itself (name, insurance number). Never released."""
    QUASI_IDENTIFIER = "quasi-identifier"
    """Known to an attacker and identifying in combination (age, sex, postcode). Generalized."""
    SENSITIVE = "sensitive"
    """What an attacker wants to learn (diagnosis). Released in protected groups."""
    INSENSITIVE = "insensitive"
    """Neither known to an attacker nor of interest to him. Released as it is."""
    UNSTATED = "unstated"
    """Nobody has said what it is. Never released."""

    @classmethod
    def parse(cls, text: str) -> Role:
        """The role with this name."""
        try:
            return cls(text)
        except (ValueError, RecursionError):  # what is nested deeply cannot even be told
            raise ParameterError(
                "table.unknown-role-use",
                "unknown role {text}: use one of {stated}",
                text=shown(text),
                stated=", ".join(STATED),
            ) from None


STATED = tuple(role for role in Role if role is not Role.UNSTATED)
"""The roles that a column can be given."""

SHOWN_COLUMNS = 40
"""So many columns are named where a table is shown in a line."""

WITHHELD = (Role.IDENTIFIER, Role.UNSTATED)
"""Columns with these roles are in no release."""


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Arrow data and the role of each column; a column without a stated role is in no release.

    What was read from a file knows how (`reading`), so that it is written in the same way; what was a data
    frame knows which (`frame`).

    >>> import pyarrow as pa
    >>> table = Table(pa.table({"age": [34, 45], "diagnosis": ["flu", None]}))
    >>> table = table.with_roles(quasi_identifiers=["age"], sensitive=["diagnosis"])
    >>> table.quasi_identifiers, table.sensitive, table.num_rows
    (('age',), ('diagnosis',), 2)
    """

    data: pa.Table
    roles: Mapping[str, Role] = dataclasses.field(default_factory=dict)
    reading: Reading | None = None
    frame: FrameKind | None = None

    def __post_init__(self) -> None:
        names = self.data.column_names
        twice = (
            sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        )
        if twice:
            raise ColumnError(
                "table.column-name-occur-more-once",
                "the column name{what} {repr} occur more than once: rename the columns so that every name "
                "is unique",
                what="s" if len(twice) > 1 else "",
                repr=", ".join(map(repr, twice)),
            )
        for name in self.roles:
            self.require(name)
        full = {name: self.roles.get(name, Role.UNSTATED) for name in names}
        object.__setattr__(self, "roles", MappingProxyType(full))

    @property
    def num_rows(self) -> int:
        """How many rows the table has."""
        return int(self.data.num_rows)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all columns, in their order."""
        return tuple(self.data.column_names)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that name a person by themselves."""
        return self.columns_with(Role.IDENTIFIER)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that identify in combination."""
        return self.columns_with(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that an attacker wants to learn."""
        return self.columns_with(Role.SENSITIVE)

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that a release may have: all but identifiers and those without a stated role."""
        return tuple(name for name in self.data.column_names if self.roles[name] not in WITHHELD)

    def columns_with(self, role: Role) -> tuple[str, ...]:
        """The columns that have this role, in table order."""
        return tuple(name for name in self.data.column_names if self.roles[name] is role)

    def require(self, name: str) -> str:
        """Return the name if the table has such a column, else refuse it with the nearest one."""
        if name not in self.data.column_names:
            meant = near(name, self.data.column_names)
            hint = meant_or(
                meant, Reason("table.it-has", "it has {names}", names=", ".join(self.data.column_names))
            )
            raise ColumnError(
                "table.table-no-column", "the table has no column '{name}': {hint}", name=name, hint=hint
            )
        return name

    def with_roles(
        self,
        roles: Mapping[str, Role | str] | None = None,
        *,
        identifiers: Iterable[str] = (),
        quasi_identifiers: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        insensitive: Iterable[str] = (),
    ) -> Table:
        """The same data with other roles; a column that is not named has none, and is in no release."""
        chosen: dict[str, Role] = {}
        named = [
            *((name, Role.parse(role)) for name, role in (roles or {}).items()),
            *((name, Role.IDENTIFIER) for name in identifiers),
            *((name, Role.QUASI_IDENTIFIER) for name in quasi_identifiers),
            *((name, Role.SENSITIVE) for name in sensitive),
            *((name, Role.INSENSITIVE) for name in insensitive),
        ]
        for name, role in named:
            if chosen.setdefault(self.require(name), role) is not role:
                raise ColumnError(
                    "table.column-given-two-roles",
                    "the column '{name}' is given two roles: {chosen} and {role}",
                    name=name,
                    chosen=chosen[name],
                    role=role,
                )
        return Table(self.data, chosen, self.reading, self.frame)

    def with_data(self, data: pa.Table) -> Table:
        """Other rows of the same columns, with the same roles and spellings."""
        return Table(data, self.roles, self.reading, self.frame)

    def spelling(self, name: str) -> Spelling | None:
        """How the texts of a column are spelled, where they stand for numbers or dates or have an order."""
        found = None if self.reading is None else self.reading.spelling(name)
        return found if found is not None and (found.number or found.date or found.order) else None

    def to_pandas(self) -> Any:
        """The data as a pandas data frame."""
        return as_pandas(self.data, {})

    def to_polars(self) -> Any:
        """The data as a polars data frame."""
        return as_polars(self.data, {})

    def to_arrow(self) -> pa.Table:
        """The data as an Arrow table."""
        return as_arrow(self.data, {})

    def write(self, target: str | os.PathLike[str], **options: Any) -> None:
        """Write the table to a file or database; the options are those of `tarnkappe.write`."""
        from tarnkappe.table.write import write  # which needs this class

        write(self, target, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.data, dict(self.roles), self.reading, self.frame)

    def _repr_html_(self) -> str:
        rows = [
            (name, str(self.roles[name]), str(self.data.schema.field(name).type))
            for name in self.column_names
        ]
        return html_table((f"{self.num_rows:,} rows", "role", "type"), rows)

    def __repr__(self) -> str:
        shown_names = self.column_names[:SHOWN_COLUMNS]
        columns = ", ".join(f"{name} ({self.roles[name]})" for name in shown_names)
        more = len(self.column_names) - len(shown_names)
        return f"Table({self.num_rows} rows: {columns}{f' and {more} more' if more else ''})"
