"""What attackers of a service know of it: where it is, and what they were given."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

API = "/api/v1"
PATIENCE = 300.0
"""Seconds for one answer; a busy machine is slow, and nothing is won by giving up early."""


@dataclasses.dataclass(frozen=True)
class Served:
    """A service that runs.

    Attributes:
        url: where it is.
        folder: where it keeps everything.
        tokens: by whom they were given to the attacker.
        known: ids that he has heard of, by what they name.
        cells: cells of the victim's table that occur nowhere else.
    """

    url: str
    folder: Path
    tokens: Mapping[str, str]
    known: Mapping[str, str] = dataclasses.field(default_factory=dict)
    cells: tuple[str, ...] = ()

    def client(self, whose: str) -> httpx.Client:
        """A program that shows one of the tokens."""
        shown = {"Authorization": f"Bearer {self.tokens[whose]}"}
        return httpx.Client(base_url=self.url + API, headers=shown, timeout=PATIENCE)

    def openapi(self) -> dict[str, Any]:
        """What the service says of its operations; anybody may read it."""
        found: dict[str, Any] = httpx.get(f"{self.url}{API}/openapi.json", timeout=PATIENCE).json()
        return found
