"""How good the results on lattices of any size are: the gap to the proven bound, and to the optimum."""

from __future__ import annotations

import time
from typing import Any

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.lattice import AutoSearch, BestFirst, Genetic, SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.table.examples import ExampleData, shaped, wide
from tarnkappe.table.row_tuples import row_tuples

LIMITS = {"adult_shaped_worst": 0.01}
"""What `make bench-check` holds us to."""


def run(seconds: float = 60.0, seeds: int = 20, rows: int = 30_162) -> dict[str, Any]:
    """Measure on tables of 24 columns, and on 20 Adult-shaped tables, whose optimum is known."""
    return {
        "seconds": seconds,
        "wide": [
            _wide(loss, limit, seed, rows, seconds)
            for loss, limit in (("entropy", 0.05), ("entropy", 0.0), ("loss", 0.05), ("precision", 0.05))
            for seed in (0, 1)
        ],
        "adult_shaped_worst": max(_above_optimum(seed) for seed in range(seeds)),
    }


def _problem(example: ExampleData, loss: str, limit: float) -> SearchProblem:
    names = example.table.quasi_identifiers
    tuples = row_tuples(example.table, names, [])
    levels = {n: Hierarchy.from_rows(example.hierarchies[n]).encode(tuples.columns[n]) for n in names}
    models = (MODELS.create("k-anonymity", {"k": 5}),)
    return SearchProblem(tuples.with_levels(levels).distinct(), names, models, LOSSES.create(loss, {}), limit)


def _wide(loss: str, limit: float, seed: int, rows: int, seconds: float) -> dict[str, Any]:
    problem = _problem(wide(24, rows, seed), loss, limit)
    measured: dict[str, Any] = {"loss": loss, "suppression_limit": limit, "seed": seed}
    for search in (BestFirst(seconds=seconds), Genetic(seconds=seconds)):
        start = time.perf_counter()
        found = search.run(problem)
        assert found.best is not None
        measured[search.name] = {
            "loss": found.best.loss,
            "bound": found.bound,
            "gap": found.gap,
            "checked": found.checked,
            "seconds": time.perf_counter() - start,
        }
    return measured


def _above_optimum(seed: int) -> float:
    """How far above the optimum the best node after 1,000 of 4,320 tests is."""
    problem = _problem(shaped("ADULT", seed=seed), "entropy", 0.05)
    found, optimum = BestFirst(seconds=None, max_tests=1000).run(problem).best, AutoSearch().run(problem).best
    assert found is not None
    assert optimum is not None
    return found.loss / optimum.loss - 1


if __name__ == "__main__":
    import json

    print(json.dumps(run(), indent=2))
