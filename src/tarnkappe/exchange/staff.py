"""The people of an institution who take part in the exchange, and what each may do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from tarnkappe.errors import AccessError, JobError
from tarnkappe.exchange.sections import built, read_toml, refuse_unknown


class Duty(StrEnum):
    """What somebody may do."""

    STEWARD = "steward"
    """Receives requests, lets them be checked, classifies attributes."""
    PHYSICIAN = "physician"
    """Decides, and answers for it."""
    SECOND_REVIEWER = "second reviewer"
    """Agrees to what a physician decided, or does not."""
    AUDITOR = "auditor"
    """Reads the log."""


DECIDING = frozenset({Duty.PHYSICIAN, Duty.SECOND_REVIEWER})


@dataclasses.dataclass(frozen=True)
class Person:
    """Somebody of the staff, known by her public key."""

    name: str
    duties: frozenset[Duty]
    public_key: str


class Staff:
    """The staff of an institution."""

    def __init__(self, people: Iterable[Person]) -> None:
        self._people = {person.name: person for person in people}

    @classmethod
    def load(cls, path: str | Path) -> Staff:
        """Read a file with a section [people.NAME] for each person."""
        return cls.from_dict(read_toml(path, "staff file"))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Staff:
        """The staff from the content of its file."""
        refuse_unknown(content, ("people",), "section of the staff file")
        people = []
        for name, said in content.get("people", {}).items():
            values = dict(said)
            try:
                values["duties"] = frozenset(map(Duty, values.get("duties", ())))
            except ValueError as error:
                raise JobError(f"[people.{name}]: {error}") from None
            people.append(built(Person, {"name": name, **values}, f"[people.{name}]"))
        return cls(people)

    def require(self, name: str, duties: frozenset[Duty]) -> Person:
        """The person with this name, who must have one of some duties."""
        person = self._people.get(name)
        if person is None:
            raise AccessError("nobody of this name belongs to the staff")
        if not person.duties & duties:
            raise AccessError(f"this needs a {' or a '.join(sorted(duties))}")
        return person
