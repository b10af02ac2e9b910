"""What every way of making pseudonyms offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tarnkappe.pseudonym.identity import Identity


class Pseudonyms(Protocol):
    """Gives the same identity the same pseudonym, and others another."""

    def pseudonyms(self, people: Sequence[Identity]) -> list[str]:
        """The pseudonym of each person."""
