"""What is measured, how, and against what. `tarn bench NAME` runs one of these, `make bench` runs all.

Each is a module with `run(progress)`, which returns the figures, and `LIMITS`, which `make bench-check` holds
us to. A time is given as a ratio to something measured in the same run where that is possible.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from tarnkappe.errors import ParameterError
from tarnkappe.table.encoding import Progress

NAMES = ("lattice", "scale", "recoding", "risk", "gate", "algebra", "federation", "exchange", "service")


class Bench(Protocol):
    """One measurement."""

    LIMITS: dict[str, float]

    def run(self, progress: Progress | None = None, **size: Any) -> dict[str, Any]:
        """Measure; the keys are stable. A measurement that can be smaller takes `rows`."""


def bench(name: str) -> Bench:
    """A measurement by its name."""
    if name not in NAMES:
        raise ParameterError(
            "bench.no-measurement",
            "there is no measurement '{name}': there are {names}",
            name=name,
            names=", ".join(NAMES),
        )
    return cast(Bench, import_module(f"tarnkappe_bench.{name}"))
