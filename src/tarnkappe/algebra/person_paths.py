"""How the person of a row is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tarnkappe.errors import ParameterError

if TYPE_CHECKING:
    from tarnkappe.algebra.persons import Persons


HIDDEN = "\ue000person"
"""The column that tells people apart, as plans carry it. No table has a column of this name to ask for."""


@dataclass(frozen=True)
class PersonPath:
    """How the person of a row is found: in a column, or through a foreign key in another relation.

    Attributes:
        column: the column that tells people apart; empty if it is found through another relation.
        through: the column that leads to the other relation, where it is a key under the same name.
        to: the other relation, whose rows have a person themselves.
        space: which kind of people these are; tables of one space have one budget. Empty: not named.
        rows: the most rows that one person has; one, if it is not said. Verified before it is relied on.
    """

    column: str = ""
    through: str = ""
    to: str = ""
    space: str = ""
    rows: int = 1

    def __post_init__(self) -> None:
        if bool(self.column) == bool(self.through) or bool(self.through) != bool(self.to):
            raise ParameterError(
                "algebra.person-column-found-through",
                "a person is a column, or found `through` a column `to` another relation",
            )
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
            raise ParameterError(
                "algebra.rows-per-person-whole", "rows_per_person is a whole number of at least 1"
            )

    @property
    def own(self) -> str:
        """The column of the relation itself."""
        return self.column or self.through


def path_of(persons: Persons, relation: str) -> PersonPath | None:
    """How the person of a row of a relation is found; None if nobody is declared."""
    said = persons.get(relation)
    return PersonPath(said) if isinstance(said, str) else said


def space_of(persons: Persons, relation: str) -> str:
    """The space of the people of a relation, which is that of the relation that its path ends in."""
    seen = {relation}
    path = path_of(persons, relation)
    while path is not None and path.to:
        if path.to in seen or path.to not in persons:
            raise ParameterError(
                "algebra.person-found-through-none",
                "the person of '{relation}' is found through '{to}', which has none itself: declare it",
                relation=relation,
                to=path.to,
            )
        seen.add(path.to)
        path = path_of(persons, path.to)
    return path.space if path is not None else ""


def payer(persons: Persons, relation: str) -> str:
    """Whose privacy budget a relation spends: that of its space, or, without a named one, its own."""
    return space_of(persons, relation) or relation
