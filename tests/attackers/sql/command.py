"""The command as an attacker sees it: what he types, and what comes back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a command has printed, and how it ended."""

    code: int
    output: str
    errors: str

    @property
    def told(self) -> dict[str, Any]:
        """The JSON object that it has printed; empty if it was refused."""
        return dict(json.loads(self.output)) if self.code == 0 and self.output.startswith("{") else {}

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows of the answer."""
        return [tuple(row) for row in self.told.get("data", ())]


Command = Callable[..., Answer]
"""Runs a command with its words."""
