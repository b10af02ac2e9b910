"""Mondrian: the space of the quasi-identifiers is cut into regions, as long as both sides keep the promises.

Each row is written as the ranges of its region: numbers and dates as the interval from the least to the
greatest value of its rows, other values as their lowest common label. So equal values may be written
differently in different rows (multidimensional recoding), which loses far less than one level for a whole
column.

A region is cut in its widest dimension in which a cut is allowed (`cuts.py` has the order of tries).
Widths are shares: of the range of all numbers, of the values of the hierarchy. Of equally wide dimensions
the one whose name comes first is taken, so neither the order of the columns nor the number of cores
matters. It is a greedy method: good, fast (O(n log n)) and not optimal. It suppresses nothing by itself.

- *strict*: regions do not overlap; all rows with the same value of the cut dimension go to the same side.
  Where a dimension of numbers has an allowed cut at all, it is found, so for k-anonymity over d such
  dimensions a region has at most 2·d·(k - 1) + m rows, of which at most m are equal.
- *relaxed*: regions may overlap; rows with the median value go to either side, so that both are halves. A
  region has k to 2k - 1 rows, unless all its rows are equal.
- *fallback*: strict, and relaxed where a region has no strict cut.

Models on classes are asked of both sides of each cut. Models that look at groups of classes, at the whole
table or at labels are asked of the whole table as it would be written: of all cuts of a round at once
and, where they object, of halves of them. So what they forbid together is not found one by one, and some
allowed cut may be left out.

With a population its members are cut along, so strict regions contain whoever could be in them. Relaxed
regions do not say where somebody belongs who is not in the table, so they are refused.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Annotated, Self

import numpy as np

from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.lattice import SearchProblem
from tarnkappe.privacy import KAnonymity, ModelScope, satisfied
from tarnkappe.recoding.batch import Batch
from tarnkappe.recoding.cuts import CANDIDATES, HALVES, MISSING_APART
from tarnkappe.recoding.deadline import Patience, patience
from tarnkappe.recoding.dimensions import dimension
from tarnkappe.recoding.method import Method, Recoding, told_cuts
from tarnkappe.recoding.mondrian_regions import RegionPartition, Regions
from tarnkappe.recoding.recode import recoded
from tarnkappe.schema import MOST_NAMES, Name, Seconds, param
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Progress

HALVINGS = 6
"""How often the cuts of a round are halved when the whole table objects."""


class Overlap(StrEnum):
    """Whether regions may overlap."""

    STRICT = "strict"
    RELAXED = "relaxed"
    FALLBACK = "fallback"


class Mondrian(Method, kw_only=True):
    """Multidimensional recoding (LeFevre, DeWitt and Ramakrishnan 2006)."""

    name = "mondrian"
    cites = ("lefevre2006",)
    summary = (
        "Cuts the table into many small regions and writes each row as the ranges of its region. Right for "
        "large tables whose readers count and correlate; a column has many overlapping ranges."
    )

    mode: Annotated[Overlap, param("whether regions may overlap")] = Overlap.STRICT
    prefer: Annotated[
        tuple[Name, ...],
        param(
            "columns that come first among equally wide ones, in this order",
            kind="columns",
            max_length=MOST_NAMES,
        ),
    ] = ()
    categorical: Annotated[
        tuple[Name, ...],
        param(
            "columns of numbers or dates that are cut along their hierarchy nevertheless",
            kind="columns",
            max_length=MOST_NAMES,
        ),
    ] = ()
    seconds: Annotated[
        Seconds | None,
        param("when to stop with the best result so far; without it, never", kind="seconds", unit="seconds"),
    ] = None

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """One of each mode."""
        return tuple(cls(mode=mode) for mode in Overlap)

    def check(self, problem: SearchProblem) -> None:
        """Refuse also unknown columns, and relaxed regions where a population must be placed."""
        super().check(problem)
        for name in (*self.prefer, *self.categorical):
            if name not in problem.quasi_identifiers:
                raise ColumnError(
                    "recoding.mondrian-no-quasi-identifier",
                    "mondrian: '{name}' is no quasi-identifier",
                    name=name,
                )
        if problem.tuples.population is not None and self.mode != Overlap.STRICT:
            raise ParameterError(
                "recoding.relaxed-regions-nobody-can-tell",
                "in relaxed regions nobody can tell where a member of the population belongs who is not in "
                'the table: use mode = "strict", or leave the population out',
            )

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Cut until no cut is left that is allowed."""
        self.check(problem)
        with patience(self.seconds) as own:
            return _Run(self, rows, problem, progress).recoding(own)


class _Run:
    def __init__(
        self, method: Mondrian, rows: Tuples, problem: SearchProblem, progress: Progress | None
    ) -> None:
        parts = [part for model in problem.models for part in model.parts]
        self._rows, self._problem, self._progress = rows, problem, progress
        self._mode = method.mode
        on_classes = [part for part in parts if part.scope is ModelScope.CLASS and not part.measures_labels]
        self._on_table = [part for part in parts if part not in on_classes]
        least = max([1, *(part.least_size(problem.tuples) for part in on_classes)])
        size_alone = all(isinstance(part, KAnonymity) for part in on_classes)
        self._batch = None if size_alone else Batch(rows, on_classes)
        first = {name: rank for rank, name in enumerate(method.prefer)}
        names = sorted(problem.quasi_identifiers, key=lambda name: (first.get(name, len(first)), name))
        dimensions = [dimension(rows.columns[n], categorical=n in method.categorical) for n in names]
        allowed = np.full(CANDIDATES, method.mode != Overlap.RELAXED)
        allowed[MISSING_APART], allowed[HALVES] = True, method.mode == Overlap.RELAXED
        overlap = method.mode != Overlap.STRICT
        self._partition = RegionPartition(rows, dimensions, least, allowed, overlap=overlap)
        self._made: Counter[str] = Counter()

    def recoding(self, patience: Patience) -> Recoding:
        active, rounds = np.zeros(1, np.int64), 0
        while len(active) and not patience.over:
            active = self._round(active)
            rounds += 1
            if self._progress:
                whole = self._rows.num_tuples
                self._progress("cutting", whole - self._partition.count(active), whole)
        number = len(self._partition.regions)
        if number == 1:
            self._require_whole()
        by_column = told_cuts(self._made)
        return Recoding(
            self._partition.write(),
            np.ones(self._rows.num_tuples, dtype=bool),
            stopped=patience.over if len(active) else "",
            steps=(
                f"{self._mode} regions: {number:,} after {rounds:,} rounds",
                f"cuts: {by_column or 'none was allowed'}",
            ),
        )

    def _round(self, active: Regions) -> Regions:
        """Cut every region once, if it can be; what may be cut further is returned."""
        partition = self._partition
        proposed = partition.propose(active, by_size=self._batch is None)
        if self._batch is None:
            accepted, rejected = proposed, proposed[:0]
        else:
            accepted, rejected = self._ask(proposed, self._batch)
        if self._on_table and len(accepted):
            accepted, objected = self._ask_table(accepted)
            rejected = np.concatenate([rejected, objected])
            partition = self._partition
        partition.attempts[rejected] += 1
        return np.concatenate([self._cut(accepted), rejected])

    def _cut(self, accepted: Regions) -> Regions:
        for d, times in enumerate(np.bincount(self._partition.cut_in[accepted]).tolist()):
            if times:
                self._made[self._partition.dimensions[d].column.name] += times
        return self._partition.cut(accepted)

    def _ask(self, proposed: Regions, batch: Batch) -> tuple[Regions, Regions]:
        """Which cuts the models on classes allow; children of a label that they do not are pooled."""
        partition, asked = self._partition, proposed
        accepted = np.zeros(len(partition.starts), dtype=bool)
        while len(asked):
            rows, parts, first = partition.parts(asked)
            sizes, good = batch.judge(rows, parts, int(first[-1]))
            fine = np.logical_and.reduceat(good, first[:-1])
            accepted[asked[fine]] = True
            again = ~fine & partition.cut_by_label(asked)
            asked = partition.enlarge_pools(asked[again], first[:-1][again], sizes, good)
        return proposed[accepted[proposed]], proposed[~accepted[proposed]]

    def _ask_table(self, accepted: Regions) -> tuple[Regions, Regions]:
        """Which cuts the whole table bears, tried together and, where it does not, in halves."""
        smallest = max(1, len(accepted) >> HALVINGS)
        waiting, allowed, objected = [accepted], accepted[:0], accepted[:0]
        while waiting:
            tried = waiting.pop()
            trial = self._partition.copy()
            trial.cut(np.concatenate([allowed, tried]))
            if self._bears(trial):
                allowed = np.concatenate([allowed, tried])
            elif len(tried) > smallest:
                middle = len(tried) // 2
                waiting += [tried[middle:], tried[:middle]]
            else:
                objected = np.concatenate([objected, tried])
        return allowed, objected

    def _bears(self, partition: RegionPartition) -> bool:
        everything = Recoding(partition.write(), np.ones(self._rows.num_tuples, dtype=bool))
        problem = self._problem
        found = recoded(self._rows, everything, problem.models, problem.distributions)
        return satisfied(found.state, problem.models, problem.limit)

    def _require_whole(self) -> None:
        if not self._bears(self._partition):
            promised = ", ".join(map(str, self._problem.models))
            raise NoSolutionError(
                "recoding.even-region-all-rows",
                "even one region with all rows does not meet {promised}: ask for less, or use a search, "
                "which may suppress rows",
                promised=promised,
            )
