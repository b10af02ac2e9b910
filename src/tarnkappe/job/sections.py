"""Models and losses as a job file or Python describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tarnkappe.schema import shown


def create_model(entry: Mapping[str, Any]) -> Model:
    """A privacy model as a job file describes it."""
    if "model" not in entry:
        raise JobError(
            "job.privacy-section-names-no-model",
            "a privacy section names no model: known are {names}",
            names=", ".join(MODELS.names),
        )
    return MODELS.create(entry["model"], {k: v for k, v in entry.items() if k != "model"})


def create_models(privacy: Model | Mapping[str, Any] | Sequence[Model | Mapping[str, Any]]) -> list[Model]:
    """Privacy models, as objects or as a job file describes them; a single one need not be in a list."""
    given = [privacy] if isinstance(privacy, Model | Mapping) else list(privacy)
    return [model if isinstance(model, Model) else create_model(model) for model in given]


def create_loss(entry: str | Mapping[str, Any]) -> Loss:
    """A loss as a job file describes it: its name, or a table with its name and parameters."""
    if isinstance(entry, str):
        return LOSSES.create(entry, {})
    if not isinstance(entry, Mapping):
        raise JobError(
            "job.loss-name-table-name",
            "a loss is a name, or a table with a name and parameters, not {entry}",
            entry=shown(entry),
        )
    return LOSSES.create(entry.get("name", "entropy"), {k: v for k, v in entry.items() if k != "name"})
