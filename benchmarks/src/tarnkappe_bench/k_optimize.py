"""k-Optimize on Adult: seconds to the proven optimum, or how near to it after some time.

The published experiments have the sizes k of `SIZES`, two partitionings (single years of age, or intervals of
five years: 166 or 109 values) and three limits of suppression. For one of them, not said which, 5,359 seconds
are reported, and 14,104 for the stochastic competitor.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

from tarnkappe.lattice import SearchProblem
from tarnkappe.privacy import MODELS
from tarnkappe.recoding import KOptimize, Stochastic
from tarnkappe.recoding.deadline import patience
from tarnkappe.recoding.k_optimize import KOptimizeRun
from tarnkappe.recoding.value_sets import value_sets
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.adult import Adult, read_adult, reference_folder
from tarnkappe_bench.yardstick import yardstick

SIZES = (1000, 500, 250, 100, 50, 25, 10, 5)
PUBLISHED_SECONDS = 5359.0
LIMITS: dict[str, float] = {}
WARM_UP = 60.0
"""Seconds in which everything is compiled, by proving the optimum of the easiest problem."""
FIVE_YEARS = 1
"""The level of ages in intervals of five years."""


def run(
    progress: Progress | None = None,
    *,
    seconds: float = 30.0,
    sizes: Sequence[int] = SIZES,
    suppressed: Sequence[int] = (0,),
) -> dict[str, Any]:
    """Search every configuration for at most so many seconds.

    Args:
        progress: told about the progress.
        seconds: for each configuration.
        sizes: the values of k.
        suppressed: how many rows may be suppressed; -1 for any number.
    """
    adult = read_adult(reference_folder())
    unit = yardstick(adult.table.data)
    _measure(adult_problem(adult, max(sizes), 0, fine=False), 0, 0, False, WARM_UP, unit)  # compiles
    asked = [(fine, limit, k) for fine in (False, True) for limit in suppressed for k in sizes]
    found = []
    for done, (fine, limit, k) in enumerate(asked):
        if progress:
            progress("configurations", done, len(asked))
        found.append(_measure(adult_problem(adult, k, limit, fine=fine), k, limit, fine, seconds, unit))
    return {
        "rows": adult.table.num_rows,
        "yardstick_seconds": unit,
        "seconds_for_each": seconds,
        "proven": sum(each["optimal"] for each in found),
        "worst_gap": max(each["gap"] for each in found),
        "published_seconds": PUBLISHED_SECONDS,
        "configurations": found,
    }


def adult_problem(adult: Adult, k: int, suppressed: int, *, fine: bool) -> SearchProblem:
    """k-anonymity of all nine columns with the least discernibility."""
    problem = adult.problem((MODELS.create("k-anonymity", {"k": k}),), "discernibility", 0.0)
    share = 1.0 if suppressed < 0 else min(1.0, (suppressed + 0.5) / adult.table.num_rows)
    height = problem.lattice.heights[problem.quasi_identifiers.index("age")]
    limits = {} if fine else {"age": (FIVE_YEARS, height)}
    return dataclasses.replace(problem, suppression_limit=share if suppressed else 0.0, level_limits=limits)


def _measure(
    problem: SearchProblem, k: int, suppressed: int, fine: bool, seconds: float, unit: float
) -> dict[str, Any]:
    KOptimize().check(problem)
    start = time.perf_counter()
    with patience(seconds) as own:
        search = KOptimizeRun(value_sets(problem))
        search.run(own)
    taken = time.perf_counter() - start
    start = time.perf_counter()
    climbed = Stochastic(tries=3, seconds=seconds).recode(problem.tuples, problem)
    return {
        "partitioning": "fine" if fine else "coarse",
        "k": k,
        "may_suppress": suppressed,
        "loss": search.cost,
        "bound": search.bound,
        "gap": search.cost / search.bound - 1,
        "optimal": search.bound == search.cost,
        "nodes": search.nodes,
        "seconds": taken,
        "yardsticks": taken / unit,
        "stochastic": climbed.steps[-1],
        "stochastic_seconds": time.perf_counter() - start,
    }
