"""The stochastic competitor of k-Optimize: climb from random value sets, again and again.

Each try starts from a random value set. Its first phase removes values, the one that saves most first, until
nothing gets better; its second phase adds values likewise. The published method never stops by itself; this
one stops after some tries in a row that found nothing better, or when its time is over.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice import SearchProblem
from tarnkappe.recoding.deadline import patience
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.value_set_search import Standing
from tarnkappe.recoding.value_sets import require_sizes_only, value_sets
from tarnkappe.schema import Rows, Seconds, Whole, param
from tarnkappe.table import Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Progress


class Stochastic(Method, kw_only=True):
    """Two-phase hill climbing over value sets."""

    name = "stochastic"
    summary = (
        "Climbs from random value sets to better ones; a heuristic without a bound. Here to be compared with "
        "k-optimize, which searches the same partitions and proves its result."
    )
    keeps_level_limits = True

    tries: Annotated[
        Rows, param("after how many tries in a row that found nothing better to stop", unit="tries")
    ] = 10
    seed: Annotated[Whole, param("for the random starts; no promise rests on them")] = 0
    seconds: Annotated[
        Seconds | None,
        param("when to stop with the best result so far; without it, never", kind="seconds", unit="seconds"),
    ] = None

    def check(self, problem: SearchProblem) -> None:
        """Refuse also models that look at more than the size of a class."""
        super().check(problem)
        require_sizes_only(self.name, problem)

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Climb until nothing better is found."""
        self.check(problem)
        sets = value_sets(problem)
        own, random = sets.alphabet, np.random.default_rng(self.seed)
        best: tuple[Standing, Mask] | None = None
        tried, idle = 0, 0
        with patience(self.seconds) as time:
            while idle < self.tries and not (best and time.over):
                start = own.required | (own.free & (random.random(own.size) < random.random()))
                found = sets.hill.two_phases(start)
                tried, idle = tried + 1, idle + 1
                if best is None or found[0] < best[0]:
                    best, idle = found, 0
                if progress:
                    progress("tries", tried, tried + self.tries - idle, f"{sets.minimized} {best[0].cost:,}")
            stopped = time.over if idle < self.tries else ""
        assert best is not None
        standing, head = best
        if standing.excess:
            raise NoSolutionError(
                "recoding.found-nothing-most-rows",
                "{name} found nothing with at most {limit} of {num_rows} rows suppressed: raise the "
                "greatest levels or the suppression limit",
                name=self.name,
                limit=problem.limit,
                num_rows=problem.tuples.num_rows,
            )
        return sets.recoding(rows, head, (f"{tried} tries",), stopped=stopped)
