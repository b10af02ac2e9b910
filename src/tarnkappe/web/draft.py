"""What a steward has decided about a file so far: a job that is being written, kept between visits."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

from tarnkappe.errors import JobError
from tarnkappe.table.files import replace_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from tarnkappe.service.house import House

_ID = re.compile(r"[\w-]{1,64}")


@dataclasses.dataclass
class Draft:
    """A job that is being written.

    Attributes:
        file: the file it is about.
        roles: what each column is to an attacker.
        hierarchies: how columns generalize, as builders of a job file; the others are proposed.
        privacy: the guarantees, as in a job file.
        loss: what to minimize.
        suppression_limit: the share of rows that may be left out.
        several_rows: whether a person may have several rows.
        population: the file of everybody who could be in the table; empty if there is none.
    """

    file: str
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    hierarchies: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    privacy: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    loss: str = "entropy"
    suppression_limit: float = 0.05
    several_rows: bool = False
    population: str = ""

    def with_role(self, role: str) -> list[str]:
        """The columns that have a role."""
        return [name for name, each in self.roles.items() if each == role]

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns to generalize."""
        return self.with_role("quasi-identifier")

    def columns(self) -> dict[str, dict[str, Any]]:
        """The columns as a job document names them."""
        said: dict[str, dict[str, Any]] = {name: {"role": role} for name, role in self.roles.items()}
        for name in self.quasi_identifiers:
            said[name]["hierarchy"] = self.hierarchies.get(name, {"builder": "auto"})
        return said

    def document(self) -> dict[str, Any]:
        """The job; what is missing for it is refused before anything runs."""
        if not self.quasi_identifiers:
            raise JobError(
                "no column is a quasi-identifier: say on the page of the columns what an attacker may know"
            )
        if not self.privacy:
            raise JobError("no guarantee is chosen: add at least one on the page of the guarantees")
        return {
            "input": {"file": self.file, **({"several_rows_per_person": True} if self.several_rows else {})},
            "columns": self.columns(),
            "privacy": self.privacy,
            "search": {"loss": self.loss, "suppression_limit": self.suppression_limit},
            **({"population": {"file": self.population}} if self.population else {}),
        }

    def save(self, house: House) -> None:
        """Keep it for the next visit."""
        place = _place(house, self.file)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replace_atomically(place) as partial:
            partial.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")


def load_draft(house: House, file: str) -> Draft | None:
    """What was kept about a file."""
    place = _place(house, file)
    return Draft(**json.loads(place.read_text(encoding="utf-8"))) if place.is_file() else None


def _place(house: House, file: str) -> Path:
    if not _ID.fullmatch(file):
        raise JobError("this is not the address of a file: choose one from the list of files")
    return house.settings.folder / "drafts" / f"{file}.json"
