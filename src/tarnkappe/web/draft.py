"""What a steward has decided about a file so far: a job that is being written, kept between visits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.web.visit import Visit


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
        revision: how often it was kept; whoever keeps it next must have seen the last one.
    """

    file: str
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    hierarchies: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    privacy: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    loss: str = "entropy"
    suppression_limit: float = 0.05
    several_rows: bool = False
    population: str = ""
    revision: int = dataclasses.field(default=0, compare=False)

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

    def save(self, visit: Visit) -> None:
        """Keep it for the next visit.

        Raises:
            ConflictError: it was changed in another tab since this one has read it.
        """
        content = dataclasses.asdict(self)
        del content["revision"]
        self.revision = visit.house.drafts.save(self.file, visit.who, content, self.revision)


def load_draft(visit: Visit, file: str) -> Draft | None:
    """What was kept about a file."""
    kept = visit.house.drafts.load(file, visit.who)
    return None if kept is None else Draft(**kept.content, revision=kept.revision)


def _about(promise: Mapping[str, Any]) -> list[str]:
    """The columns that a promise names."""
    said = promise.get("column", promise.get("columns", ()))
    return [said] if isinstance(said, str) else list(said)
