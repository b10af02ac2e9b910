"""Setting up a compiled search, running it in turns, and telling what it found.

A turn is some tests. Between turns the attempt keeps time, hears Ctrl-C and tells about progress. It goes on
where bounds exclude little: a compiled test costs no more than one of those that are made in a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tarnkappe.lattice.border_search import Axes, climbs
from tarnkappe.lattice.checker import NodeCheck
from tarnkappe.lattice.core import run
from tarnkappe.lattice.core_classes import (
    BEST,
    HITS,
    LAST,
    NEXT,
    REACHED,
    RING,
    ROLLED,
    ROWS,
    SNAPSHOTS,
    TESTS,
    VISITS,
    Core,
)
from tarnkappe.lattice.forecast import Forecast
from tarnkappe.lattice.kernels import Kernel, KernelPlan, kernel_of
from tarnkappe.lattice.problem import Evaluation
from tarnkappe.lattice.search_run import Attempt
from tarnkappe.lattice.solution import Counters
from tarnkappe.privacy import KAnonymity

if TYPE_CHECKING:
    from tarnkappe.lattice.auto import Hunt

TURN = 64
VISITS_A_TURN = 1_000_000
"""A turn is at most so many tests, and about so many classes, which take some 20 ms."""

BYTES = 16
"""What a class takes in the arena."""


class CompiledSweep:
    """What `Sweep` does, for models and losses that have kernels.

    Attributes:
        core: all that changes.
        plan: what is to be done.
        kernel: the loss.
    """

    def __init__(self, hunt: Hunt, plan: KernelPlan, kernel: Kernel) -> None:
        self._hunt = hunt
        self.plan = plan
        self.kernel = kernel
        self.core = _lay_out(hunt, plan)

    @classmethod
    def of(cls, hunt: Hunt) -> CompiledSweep | None:
        """The compiled search, if the problem is made for it."""
        problem, bottom = hunt.problem, hunt.checker.bottom
        parts = [part for model in problem.models for part in model.parts]
        if not (hunt.monotone and hunt.lower_bounds and all(type(part) is KAnonymity for part in parts)):
            return None
        effort, packing = bottom.frame.effort, bottom.frame.packing
        fits = packing.num_words == 1 and not bottom.are_many and problem.tuples.population is None
        if not (fits and effort.projection and effort.roll_up and effort.snapshots):
            return None
        kernel = kernel_of(problem, packing.arrays())
        if kernel is None:
            return None
        plan = KernelPlan(
            k=max(part.k for part in parts if isinstance(part, KAnonymity)),
            limit=problem.limit,
            rows=problem.tuples.num_rows,
            loss_monotone=hunt.loss_monotone,
            charges=problem.loss.charge_grows_downward,
            visits_above=hunt.case != 1,
            climbs=climbs(hunt),
        )
        return cls(hunt, plan, kernel)

    def search(self) -> None:
        """Search until no node is left that could satisfy and be better than the best found."""
        hunt, whole, done = self._hunt, self.core.whole, False
        turn = max(1, min(TURN, VISITS_A_TURN // max(int(whole[ROWS]), 1)))
        while not done:
            hunt.keep_time()
            before = int(whole[TESTS])
            done = run(self.core, self.plan, self.kernel, before + turn)
            self._tell(self.core.tested[before : int(whole[TESTS])].tolist())

    def _tell(self, tested: list[int]) -> None:
        """Let the attempt know of some tests, and what all of them cost so far."""
        hunt, core = self._hunt, self.core
        for index in tested:
            suppressed = int(core.suppressed[index])
            node, satisfied = hunt.space.node(index), suppressed <= self.plan.limit
            found = Evaluation(node, satisfied, float(core.losses[index]), suppressed, int(core.kept[index]))
            Attempt.learn(hunt, NodeCheck(found, satisfied, None))
        hunt.checker.counters = Counters(*(int(core.whole[place]) for place in (TESTS, ROLLED, HITS, VISITS)))


def _lay_out(hunt: Hunt, plan: KernelPlan) -> Core:
    space, bottom, problem = hunt.space, hunt.checker.bottom, hunt.problem
    forecast, axes, fields = Forecast(problem), Axes.of(space), bottom.frame.packing.arrays()
    nodes, columns, room = len(space.known), len(space.shape), bottom.num_classes
    ring = min(int(bottom.frame.effort.megabytes * 2**20) // BYTES, SNAPSHOTS * room)
    # Memory is taken when it is first written to, so what is too large costs nothing.
    words, sizes = np.empty(3 * room + ring, np.uint64), np.empty(3 * room + ring, np.int64)
    words[:room], sizes[:room] = bottom.words[0], bottom.sizes
    slots = 1 << max(6, (2 * room - 1).bit_length())
    snap_sizes = np.zeros(3 + SNAPSHOTS, np.int64)
    snap_sizes[0] = room
    snap_levels = np.zeros((3 + SNAPSHOTS, columns), np.int64)
    snap_levels[0] = bottom.node
    whole, real = np.zeros(16, np.int64), np.zeros(2)
    whole[LAST], whole[RING], whole[NEXT], whole[ROWS] = 1, 3 * room, 3, room
    whole[REACHED] = -1
    real[BEST] = np.inf
    values = [column.cardinality for column in problem.columns]
    return Core(
        known=space.known,
        bounds=space.bounds,
        least=space.least,
        by_bound=space.by_bound,
        by_levels=space.bounds.copy(),
        rank=space.rank if plan.visits_above and not plan.charges else space.by_bound,  # costly, and not used
        shape=space.shape,
        strides=space.strides,
        low=np.array(space.low, np.int64),
        starts=forecast.starts[:-1],
        labels=forecast.labels,
        terms=forecast.terms,
        spread=forecast.spread,
        **{
            f"axis_{name}": axis
            for name, axis in zip(("low", "high", "starts", "strides"), axes, strict=True)
        },
        words=words,
        sizes=sizes,
        shifts=fields.shifts,
        masks=fields.masks,
        lifts=fields.lifts,
        tables=fields.tables,
        counts=fields.counts,
        slot_words=np.empty(slots, np.uint64),
        slot_marks=np.zeros(slots, np.uint64),
        snap_levels=snap_levels,
        snap_starts=np.zeros(3 + SNAPSHOTS, np.int64),
        snap_sizes=snap_sizes,
        wheels=np.array(sorted(range(columns), key=lambda i: -values[i]), np.int64),
        useless=np.zeros(nodes, np.uint8),
        tested=np.empty(nodes, np.int64),
        suppressed=np.zeros(nodes, np.int64),
        kept=np.zeros(nodes, np.int64),
        losses=np.full(nodes, np.inf),
        stack=np.empty(nodes * columns + 1, np.int64),
        whole=whole,
        real=real,
    )
