"""The people of an institution who take part in the exchange, and what each may do."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from tarnkappe.errors import AccessError, JobError
from tarnkappe.exchange.sections import built, read_toml, refuse_unknown
from tarnkappe.state.statement import is_public_key


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
class StaffMember:
    """Somebody of the staff, known by her public key.

    Attributes:
        name: who it is.
        duties: what she may do.
        public_key: her public Ed25519 key, in hexadecimal digits.
        until: the last day on which she may do it; None if it is not known when that ends.
    """

    name: str
    duties: frozenset[Duty]
    public_key: str
    until: date | None = None

    @property
    def is_active(self) -> bool:
        """Whether she belongs to the staff today."""
        return self.until is None or datetime.now(UTC).date() <= self.until


class Staff:
    """The staff of an institution.

    Raises:
        JobError: if two people have one key or look alike by name, or a key is none: then nobody could tell
            whose decision it was.
    """

    def __init__(self, people: Iterable[StaffMember]) -> None:
        self._people = _apart(list(people))
        self._file: Path | None = None
        self._read = 0

    @classmethod
    def load(cls, path: str | Path) -> Staff:
        """Read a file with a section [people.NAME] for each person.

        It is read again when it has changed: a decision counts if its key is in the file when it counts.
        """
        staff = cls([])
        staff._file = Path(path)
        staff._read_again()
        return staff

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
                raise JobError(
                    "exchange.name-error-people", "[people.{name}]: {error}", name=name, error=error
                ) from None
            person = built(StaffMember, {"name": name, **values}, f"[people.{name}]")
            if person.until is not None and type(person.until) is not date:
                raise JobError(
                    "exchange.people-until-day-2027",
                    "[people.{name}]: until is a day, such as 2027-01-31",
                    name=name,
                )
            people.append(person)
        return cls(people)

    def _read_again(self) -> None:
        if self._file is None:
            return
        try:
            changed = self._file.stat().st_mtime_ns
        except OSError as error:
            raise JobError(
                "exchange.cannot-read-staff-file",
                "cannot read the staff file {file}: {strerror}",
                file=self._file,
                strerror=error.strerror,
            ) from None
        if changed != self._read:
            self._people = self.from_dict(read_toml(self._file, "staff file"))._people
            self._read = changed

    def refuse_key(self, public_key: str) -> None:
        """Refuse a staff file in which somebody has the key of the institution."""
        self._read_again()
        for person in self._people.values():
            if person.public_key == public_key:
                raise JobError(
                    "exchange.people-institution-key-everybody",
                    "[people.{person}]: this is the institution's key: everybody needs an own one",
                    person=person.name,
                )

    def find(self, name: str) -> StaffMember | None:
        """The person with this name, if she belongs to the staff now."""
        self._read_again()
        person = self._people.get(name)
        return None if person is None or not person.is_active else person

    def require(self, name: str, duties: frozenset[Duty]) -> StaffMember:
        """The person with this name, who must have one of some duties."""
        person = self.find(name)
        if person is None:
            raise AccessError(
                "exchange.nobody-name-belongs-staff", "nobody of this name belongs to the staff"
            )
        if not person.duties & duties:
            raise AccessError(
                "exchange.duties-needs", "this needs a {duties}", duties=" or a ".join(sorted(duties))
            )
        return person


def _apart(people: list[StaffMember]) -> dict[str, StaffMember]:
    """People by name, if they can be told apart by name and by key."""
    names: dict[str, str] = {}
    keys: dict[str, str] = {}
    for person in people:
        if not is_public_key(person.public_key) or person.public_key != person.public_key.lower():
            raise JobError(
                "exchange.people-public-key-no-public",
                "[people.{person}]: public_key is no public key: `tarn exchange key FILE` prints the right "
                "one",
                person=person.name,
            )
        alike = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", person.name).casefold())
        for seen, mine, what in ((names, alike, "name"), (keys, person.public_key, "public key")):
            if mine in seen:
                raise JobError(
                    "exchange.people-same-people-dual",
                    "[people.{person}] has the same {what} as [people.{seen}]: dual control needs two people",
                    person=person.name,
                    what=what,
                    seen=seen[mine],
                )
            seen[mine] = person.name
    return {person.name: person for person in people}
