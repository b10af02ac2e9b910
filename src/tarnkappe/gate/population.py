"""The protected table: who can be asked for, and everybody's sensitive value."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table.encoding import encode_column
from tarnkappe.table.table import MISSING, Role, Table


class Population:
    """Everybody in the protected table, by identifier, with one sensitive value each.

    Every person has exactly one tuple, and there is exactly one sensitive column: the guarantee rests on
    both. A missing value is a value like any other. The quasi-identifiers play no part here: whoever knows
    them all knows exactly who is in an answer, and that is what the attacker is presumed to know.

    >>> people = Population({"Ann": "flu", "Bob": None})
    >>> len(people), people.labels
    (2, ['flu', '(missing)'])
    """

    def __init__(self, secrets: Mapping[Hashable, str | None], labels: Iterable[str] = ()) -> None:
        self.labels: list[str] = []
        self._codes: dict[str, int] = {}
        self._secret: dict[Hashable, int] = {}
        for label in labels:
            self.code(label)
        for person, secret in secrets.items():
            self._secret[person] = self.code(secret)

    @classmethod
    def from_table(cls, table: Table) -> Population:
        """The population of a table with one identifier, one sensitive column and any quasi-identifiers."""
        identifier, sensitive = (_the_only(table, role) for role in (Role.IDENTIFIER, Role.SENSITIVE))
        people = table.data.column(identifier).to_pylist()
        if None in people:
            raise ColumnError(
                "gate.column-must-name-person",
                "the column '{identifier}' must name a person in every row; some rows have none",
                identifier=identifier,
            )
        if len(set(people)) < len(people):
            raise ColumnError(
                "gate.column-names-rows-twice",
                "the column '{identifier}' names {people} {people:row|rows} twice: every person must have "
                "exactly one row",
                identifier=identifier,
                people=len(people) - len(set(people)),
            )
        column = encode_column(sensitive, table.data.column(sensitive))
        secrets = [column.labels[code] for code in column.codes.tolist()]
        return cls(dict(zip(people, secrets, strict=True)), column.labels)

    def __len__(self) -> int:
        return len(self._secret)

    def __contains__(self, person: object) -> bool:
        return person in self._secret

    def secret(self, person: Hashable) -> int:
        """The code of a person's sensitive value."""
        try:
            return self._secret[person]
        except KeyError:
            raise ParameterError(
                "gate.query-names-somebody-not-protected",
                "the query names somebody who is not in the protected table",
            ) from None

    def put(self, person: Hashable, secret: str | None) -> None:
        """Insert somebody, or replace the value of somebody."""
        self._secret[person] = self.code(secret)

    def remove(self, person: Hashable) -> None:
        """Take somebody out of the table."""
        self.secret(person)
        del self._secret[person]

    def code(self, label: str | None) -> int:
        """The code of a sensitive value; one that nobody had before gets the next."""
        text = MISSING if label is None else label
        if text not in self._codes:
            self._codes[text] = len(self.labels)
            self.labels.append(text)
        return self._codes[text]


@dataclasses.dataclass(frozen=True)
class Version:
    """A value that began to count before an answer: another one than before, or one that counts as known.

    Attributes:
        person: who has it.
        label: how it is shown.
        stored: a mark of the value as the table has it.
        is_change: whether he had another one before.
    """

    person: Hashable
    label: str = dataclasses.field(repr=False)
    stored: str = dataclasses.field(default="", repr=False)
    is_change: bool = True


def _the_only(table: Table, role: Role) -> str:
    columns = table.columns_with(role)
    if len(columns) != 1:
        named = ", ".join(f"'{column}'" for column in columns) or "none"
        raise ColumnError(
            "gate.protected-table-needs-exactly",
            "a protected table needs exactly one column with the role {role}; it has {named}",
            role=role,
            named=named,
        )
    return columns[0]
