"""What a steward has decided about a file so far: a job that is being written, kept between visits."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tarnkappe.errors import JobError
from tarnkappe.web.aside import aside

if TYPE_CHECKING:
    from tarnkappe.web.visit import Visit


STATEMENTS = {
    "identifier": "identifiers",
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "insensitive": "publish",
}
"""The statement of a proposal that gives a column a role."""


@dataclasses.dataclass
class Draft:
    """A job that is being written.

    Attributes:
        file: the file it is about.
        roles: what each column is to an attacker.
        proposed: what was proposed for each column; roles that differ were stated.
        hierarchies: how columns generalize, as builders of a job file; the others are proposed.
        privacy: the guarantees, as in a job file.
        loss: what to minimize.
        suppression_limit: the share of rows that may be left out.
        several_rows: whether a person may have several rows.
        reading: how the file is written, where it was read wrongly: arguments of `read`.
        audience: who gets the release.
        population: the file of everybody who could be in the table; empty if there is none.
        revision: how often it was kept; whoever keeps it next must have seen the last one.
    """

    file: str
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    proposed: dict[str, str] = dataclasses.field(default_factory=dict)
    hierarchies: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    privacy: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    loss: str = "entropy"
    suppression_limit: float = 0.05
    several_rows: bool = False
    population: str = ""
    reading: dict[str, Any] = dataclasses.field(default_factory=dict)
    audience: str = "partner"
    revision: int = dataclasses.field(default=0, compare=False)
    _turn: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock, init=False, compare=False)

    def with_role(self, role: str) -> list[str]:
        """The columns that have a role."""
        return [name for name, each in self.roles.items() if each == role]

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns to generalize."""
        return self.with_role("quasi-identifier")

    def promises(self) -> dict[str, list[str]]:
        """The models that promise something about each sensitive column, which may be none."""
        return {
            name: [str(said["model"]) for said in self.privacy if name in _about(said)]
            for name in self.with_role("sensitive")
        }

    def take_over(self, proposed: Mapping[str, str]) -> None:
        """Begin with what is proposed for a file as it is read now; what somebody has stated stays."""
        stated = {name: role for name, role in self.roles.items() if role != self.proposed.get(name)}
        self.proposed = dict(proposed)
        self.roles = {name: stated.get(name, role) for name, role in proposed.items()}
        self.hierarchies = {name: said for name, said in self.hierarchies.items() if name in proposed}

    @property
    def statements(self) -> dict[str, Any]:
        """What was decided otherwise than it was proposed, as a proposal takes it."""
        said: dict[str, Any] = {} if self.audience == "partner" else {"for": self.audience}
        for name, role in self.roles.items():
            if role != self.proposed.get(name):
                said.setdefault(STATEMENTS[role], []).append(name)
        return said

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
                "web.no-column-quasi-identifier",
                "no column is a quasi-identifier: say on the page of the columns what an attacker may know",
            )
        if not self.privacy:
            raise JobError(
                "web.no-guarantee-chosen-add",
                "no guarantee is chosen: add at least one on the page of the guarantees",
            )
        return {
            "input": {
                **self.reading,
                "file": self.file,
                **({"several_rows_per_person": True} if self.several_rows else {}),
            },
            "columns": self.columns(),
            "privacy": self.privacy,
            "search": {"loss": self.loss, "suppression_limit": self.suppression_limit},
            **({"population": {"file": self.population}} if self.population else {}),
        }

    async def save(self, visit: Visit) -> None:
        """Keep it for the next visit; one change after the other, since each must have seen the last.

        Raises:
            ConflictError: it was changed in another tab since this one has read it.
        """
        async with self._turn:
            kept = (each.name for each in dataclasses.fields(self) if each.compare)
            content = copy.deepcopy({name: getattr(self, name) for name in kept})
            self.revision = await aside(visit.house.drafts.save, self.file, visit.who, content, self.revision)


async def load_draft(visit: Visit, file: str) -> Draft | None:
    """What was kept about a file."""
    kept = await aside(visit.house.drafts.load, file, visit.who)
    return None if kept is None else Draft(**kept.content, revision=kept.revision)


def _about(promise: Mapping[str, Any]) -> list[str]:
    """The columns that a promise names."""
    said = promise.get("column", promise.get("columns", ()))
    return [said] if isinstance(said, str) else list(said)
