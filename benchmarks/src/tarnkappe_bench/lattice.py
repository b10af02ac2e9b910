"""Optimal search on Adult: the same optima as another implementation, in which share of its time?"""

from __future__ import annotations

import math
import statistics
from typing import Any

from tarnkappe.lattice import SEARCHES, Exhaustive, Solution, explore
from tarnkappe.privacy import MODELS, Model
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.adult import Adult, Reference, read_adult, read_reference, reference_folder
from tarnkappe_bench.cold_start import cold_start
from tarnkappe_bench.yardstick import Ruler

LIMITS = {"different": 0.0, "ratio_geometric_mean": 1 / 3, "slower": 0.0, "exhaustive_yardsticks": 130.0}
"""What `make bench-check` holds us to, where the reference data are present."""
SMALL = 3.0
"""The other implementation's times below so many yardsticks count as so many."""
ALIKE = 1e-8


def run(
    progress: Progress | None = None, *, repeats: int = 3, every: int = 1, starts: bool = True
) -> dict[str, Any]:
    """Solve configurations of the reference from the table in memory, its encoding included.

    Without the reference data a made-up table of the same shape is searched, and nothing is compared.

    Args:
        progress: told about the progress.
        repeats: how many times each is measured at most.
        every: solve only one in so many of them.
        starts: whether to measure starts from the shell as well, one of which compiles everything.
    """
    folder = reference_folder()
    adult, references = read_adult(folder), read_reference(folder)[::every]
    ruler = Ruler(adult.table.data)
    found = []
    for done, reference in enumerate(references or _without_reference()):
        if progress:
            progress("configurations", done, len(references) or 4)
        found.append(_measure(adult, reference, ruler, repeats))
    k5 = (MODELS.create("k-anonymity", {"k": 5}),)
    exhaustive = ruler.measure(lambda: Exhaustive().run(adult.problem(k5, "entropy", 0.05)), repeats)
    classified = ruler.measure(lambda: explore(adult.problem(k5, "entropy", 0.05)), repeats)
    return {
        "reference": bool(references),
        "rows": adult.table.num_rows,
        "yardstick_seconds": statistics.median(ruler.units),
        "yardstick_seconds_least": min(ruler.units),
        "yardstick_seconds_most": max(ruler.units),
        **(_compared(found) if references else {}),
        "exhaustive_yardsticks": exhaustive.yardsticks,
        "classify_yardsticks": classified.yardsticks,
        **(cold_start(adult) if starts else {}),
        "configurations": found,
    }


def _without_reference() -> list[Reference]:
    models: tuple[Model, ...] = (MODELS.create("k-anonymity", {"k": 5}),)
    return [
        Reference("k-anonymity(k=5)", models, loss, limit, math.nan, math.nan)
        for loss in ("entropy", "aecs")
        for limit in (0.0, 0.05)
    ]


def _measure(adult: Adult, reference: Reference, ruler: Ruler, repeats: int) -> dict[str, Any]:
    search, asked = SEARCHES["auto"](), (reference.models, reference.loss, reference.limit)
    seconds, yardsticks, solution = ruler.measure(lambda: search.run(adult.problem(*asked)), repeats)
    assert isinstance(solution, Solution)
    assert solution.best is not None
    measured = {
        "model": reference.model,
        "loss": reference.loss,
        "suppression_limit": reference.limit,
        "score": solution.best.loss,
        "optimal": solution.optimal,
        "checked": solution.checked,
        "seconds": seconds,
        "yardsticks": yardsticks,
    }
    if math.isnan(reference.score):
        return measured
    theirs = max(reference.yardsticks, SMALL)
    return measured | {
        "reference_score": reference.score,
        "equal": math.isclose(solution.best.loss, reference.score, rel_tol=ALIKE, abs_tol=ALIKE),
        "reference_yardsticks": reference.yardsticks,
        "ratio": yardsticks / reference.yardsticks,
        "slower": yardsticks > theirs,
    }


def _compared(found: list[dict[str, Any]]) -> dict[str, Any]:
    worst = max(found, key=lambda each: each["yardsticks"] / max(each["reference_yardsticks"], SMALL))
    return {
        "different": sum(not each["equal"] for each in found),
        "not_proven_optimal": sum(not each["optimal"] for each in found),
        "ratio_geometric_mean": statistics.geometric_mean(each["ratio"] for each in found),
        "ratio_worst": worst["yardsticks"] / max(worst["reference_yardsticks"], SMALL),
        "worst": {key: worst[key] for key in ("model", "loss", "suppression_limit")},
        "slower": sum(each["slower"] for each in found),
    }
