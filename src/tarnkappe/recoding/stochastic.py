"""The stochastic competitor of k-Optimize: climb from random value sets, again and again.

Each try starts from a random value set. Its first phase removes values, the one that saves most first, until
nothing gets better; its second phase adds values likewise. The published method never stops by itself; this
one stops after some tries in a row that found nothing better, or when its time is over.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice import Problem
from tarnkappe.privacy.model import require_whole
from tarnkappe.recoding.climbing import Standing
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.patience import patience, require_seconds
from tarnkappe.recoding.value_sets import require_sizes_only, value_sets
from tarnkappe.table import Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stochastic(Method):
    """Two-phase hill climbing over value sets.

    Attributes:
        tries: after how many tries in a row that found nothing better to stop.
        seed: for the random starts; no promise rests on them.
        seconds: when to stop in any case.
    """

    name = "stochastic"
    summary = (
        "Climbs from random value sets to better ones; a heuristic without a bound. Here to be compared with "
        "k-optimize, which searches the same partitions and proves its result."
    )
    keeps_level_limits = True

    tries: int = 10
    seed: int = 0
    seconds: float | None = None

    def __post_init__(self) -> None:
        require_whole(self.name, "tries", self.tries)
        require_whole(self.name, "seed", self.seed, 0)
        require_seconds(self.name, self.seconds)

    def check(self, problem: Problem) -> None:
        """Refuse also models that look at more than the size of a class."""
        super().check(problem)
        require_sizes_only(self.name, problem)

    def recode(self, rows: Tuples, problem: Problem, progress: Progress | None = None) -> Recoding:
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
                f"{self.name} found nothing with at most {problem.limit} of {problem.tuples.num_rows} rows "
                "suppressed: raise the greatest levels or the suppression limit"
            )
        return sets.recoding(rows, head, (f"{tried} tries",), stopped=stopped)
