"""Regions: the best cuts in any column, and then rows exchanged between neighbouring classes.

Each row is written as the box of its class: a value where all rows of the class have it, otherwise a run of
readable labels for numbers and dates and the lowest common label for anything else. So equal values may be
written differently in different rows, which loses far less than one level for a whole column, and less than
Mondrian, which cuts the widest column at its median.

1. *Cuts* (`best_cuts.py`): every region is cut where that lowers the loss of its two sides most, in any
   column, as long as both sides keep the promises.
2. *Refinement* (`refine.py`): within blocks of neighbouring classes rows are moved, exchanged, and classes
   are dissolved, split and divided anew, each step only if the loss falls and the promises are kept. Classes
   may overlap then.
3. *Suppression*, only within the limit of the job: a row that makes its class lose more than a suppressed
   row costs is left out.
4. *A bound* (`loss_bound.py`): what no release of this kind goes below.

Models on classes are asked of every class that a step changes: the common ones by compiled rules
(`class_rules.py`), all others in batches, and a block in which they object goes back to its cuts. Models that
look at groups of classes, at the whole table or at labels, and models that classes which read alike might
break together, are asked of the whole table as it would be written.

What the method does not protect: who knows it can conclude from a cut that was not made that one side would
have broken a promise (`docs/explanation/limits.md`). With `blind`, or where no model looks at sensitive
values, what is written into quasi-identifiers does not depend on them, and there is nothing to conclude.

The idea of cutting comes from Mondrian (LeFevre, DeWitt and Ramakrishnan 2006, doi:10.1109/ICDE.2006.101),
the loss that is minimized from Xu et al. 2006 (doi:10.1145/1150402.1150504), the bound from (k,1)-anonymity
(Gionis, Mazza and Tassa 2008).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

import numpy as np
from msgspec import Meta

from tarnkappe.lattice import SearchProblem
from tarnkappe.recoding.deadline import patience
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.regions_run import RegionsRun
from tarnkappe.schema import Seconds, param
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Progress


class IntervalEnds(StrEnum):
    """How numbers and dates of a class are written that has several of them."""

    LABELS = "labels"
    """As a run of labels of level 1: readable, and the ends are nobody's value."""
    EXACT = "exact"
    """From the least to the greatest value of the class: narrower, but the ends are values of rows."""


class Regions(Method, kw_only=True):
    """Best cuts and refinement."""

    name = "regions"
    cites = ("lefevre2006", "xu2006")
    summary = (
        "Cuts the table into small classes where a cut loses least, exchanges rows between neighbouring "
        "classes, and tells how far from the best it may be. Right for most tables; a column has many words."
    )

    refine: Annotated[
        bool, param("whether rows are exchanged between neighbouring classes after the cuts")
    ] = True
    intervals: Annotated[IntervalEnds, param("how numbers and dates of a class are written")] = (
        IntervalEnds.LABELS
    )
    block: Annotated[
        int,
        param(
            "rows of the neighbouring classes between which rows are exchanged; at least eight times the "
            "least class",
            ge=1,
            le=1_000_000,
            unit="rows",
        ),
    ] = 500
    sweeps: Annotated[
        int, param("how often all exchanges within a block are tried at most", ge=0, le=1_000)
    ] = 4
    balance: Annotated[
        Annotated[int, Meta(ge=0, le=0)] | Annotated[float, Meta(ge=0, lt=1)],
        param("how much cuts into large halves are preferred"),
    ] = 0.1
    blind: Annotated[
        bool,
        param("whether sensitive values decide nothing; what would break a promise on them is then refused"),
    ] = False
    bound: Annotated[bool, param("whether the bound on the loss is computed however much work it is")] = False
    seconds: Annotated[
        Seconds | None,
        param("when to stop with the classes made so far; without it, never", kind="seconds", unit="seconds"),
    ] = None

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """With and without refinement, with either kind of intervals, and blind."""
        return (cls(), cls(refine=False), cls(intervals=IntervalEnds.EXACT, block=8), cls(blind=True))

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Cut, exchange rows, and write the boxes."""
        self.check(problem)
        with patience(self.seconds) as own:
            run = RegionsRun(
                rows,
                problem,
                own,
                progress,
                labels=self.intervals is IntervalEnds.LABELS,
                block=self.block,
                balance=self.balance,
                blind=self.blind,
            )
            run.cut()
            if self.refine:
                run.refine(self.sweeps)
            run.suppress()
            run.require_promises()
            bound = run.bound(any_size=self.bound)
            return Recoding(
                run.write(run.classes),
                np.asarray(run.kept),
                bound=bound,
                stopped=own.over if run.unfinished else "",
                steps=tuple(run.steps),
            )
