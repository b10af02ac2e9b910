"""The exact strategy: the witness pool with a solver that never gives up."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from tarnkappe.gate.witness_pool import WitnessPool
from tarnkappe.schema import Positive, param


class Exact(WitnessPool):
    """Refuse exactly what breaks k-assign anonymity, or add the minimum of artificial values that prevents
    it.

    Deciding this is NP-complete, and an answer may take long when thousands of people are each returned
    many times.
    """

    name: ClassVar[str] = "exact"
    minimal: ClassVar[bool] = True

    steps: Annotated[
        int, param("how long the local search tries to mend one witness", ge=1, le=10**9, unit="steps")
    ] = 100
    work: Annotated[
        Annotated[int, Meta(ge=1, le=10**12)] | None,
        param(
            "how many steps all searches for one answer may take before it settles for more values",
            unit="steps",
        ),
    ] = None
    effort: Annotated[
        Positive | None,
        param("the budget of one question to the solver; 0.01 is about 50 ms on a usual machine"),
    ] = None
    pairs: Annotated[
        Annotated[int, Meta(ge=1, le=10**12)] | None,
        param(
            "the largest problem, in pairs of a kind and a value, about which the solver is asked",
            unit="pairs",
        ),
    ] = None
