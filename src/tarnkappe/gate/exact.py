"""The exact strategy: the witness pool with a solver that never gives up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.gate.witness_pool import WitnessPool


@dataclass
class Exact(WitnessPool):
    """Refuse exactly what breaks k-assign anonymity, or add the minimum of artificial values that prevents
    it.

    Deciding this is NP-complete, and an answer may take long when thousands of people are each returned
    many times.
    """

    name: ClassVar[str] = "exact"
    minimal: ClassVar[bool] = True

    steps: int = 100
    work: int | None = None
    effort: float | None = None
    pairs: int | None = None
