"""One run of the method `regions`: what it has made so far, and whom it asks before each step."""

from __future__ import annotations

import numpy as np

from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import AggregateFunction
from tarnkappe.native.interpreted import suited
from tarnkappe.privacy import (
    DistinctDiversity,
    Model,
    ModelScope,
    XYAnonymity,
    needed_distributions,
    satisfied,
)
from tarnkappe.recoding.batch import Batch
from tarnkappe.recoding.box_costs import ONE, box_costs, minimized
from tarnkappe.recoding.class_rules import ruled
from tarnkappe.recoding.cut_tree import HALVINGS, CutTree, in_threads
from tarnkappe.recoding.deadline import Patience
from tarnkappe.recoding.dimensions import dimension, labelled
from tarnkappe.recoding.loss_bound import AFFORDABLE, SAMPLE, deltas, different_rows
from tarnkappe.recoding.method import Recoding, told_cuts
from tarnkappe.recoding.recode import recoded
from tarnkappe.recoding.refine import dispensable, refine
from tarnkappe.recoding.written import WrittenColumn
from tarnkappe.table import Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts, Progress

AT_ONCE = 256
"""So many blocks are refined between two looks at the clock."""


class RegionsRun:
    """The classes of some rows, from one class with all of them to the last exchange.

    Attributes:
        tree: the cuts.
        costs: what boxes cost.
        classes: the class of each row, in the order of the table.
        kept: which rows are not suppressed.
        steps: what was done, in words.
        unfinished: whether something was left undone for want of time.
    """

    def __init__(
        self,
        rows: Tuples,
        problem: SearchProblem,
        patience: Patience,
        progress: Progress | None,
        *,
        labels: bool,
        block: int,
        balance: float,
        blind: bool,
    ) -> None:
        parts = [_on_classes(part) for model in problem.models for part in model.parts]
        self._blind = blind and any(part.distributions for part in parts)
        if blind:
            parts = [part for part in parts if not part.distributions]
        self._asked = parts
        on_classes = [part for part in parts if part.scope is ModelScope.CLASS and not part.measures_labels]
        # Classes that read alike are one: a model that does not survive merging is asked of the whole, too.
        self._ask_whole = any(
            part not in on_classes or not part.monotonicity.without_suppression for part in parts
        )
        self._rows, self._problem, self._patience, self._progress = rows, problem, patience, progress
        self._least = max([1, *(part.least_size(problem.tuples) for part in on_classes)])
        self._ruled = ruled(rows, on_classes)
        self._rest = Batch(rows, self._ruled.others) if self._ruled.others else None
        self._loss, self._is_loss = minimized(problem.loss)
        names = sorted(problem.quasi_identifiers)
        columns = [rows.columns[name] for name in names]
        dimensions = [labelled(own) if labels else dimension(own) for own in columns]
        self.costs = box_costs(problem.tuples, dimensions, self._loss)
        looked_at = sorted({name for group in needed_distributions(parts) for name in group} - {*names})
        self.tree = CutTree(rows, dimensions, looked_at, self.costs, self._ruled, self._least, balance, block)
        self.classes: Codes = np.zeros(rows.num_tuples, np.int32)
        self.kept: Mask = np.ones(rows.num_tuples, dtype=bool)
        self.steps: list[str] = []
        self.unfinished = False

    # ------------------------------------------------------------------ the steps

    def cut(self) -> None:
        """Cut the table as long as a cut is allowed."""
        tree = self.tree
        if not self._bears(self.classes):
            promised = ", ".join(map(str, self._problem.models))
            raise NoSolutionError(
                "recoding.even-class-all-rows",
                "even one class with all rows does not meet {promised}: ask for less, or use a search, "
                "which may suppress rows",
                promised=promised,
            )
        bears = self._bears if self._ask_whole else None
        self.unfinished = not tree.grow(self._rest, bears, self._patience, self._progress)
        self.classes = tree.in_table_order(tree.classes)
        by_column = told_cuts(tree.made)
        self.steps += [
            f"best cuts: {len(tree.regions):,} classes after {tree.rounds:,} rounds",
            f"cuts: {by_column or 'none was allowed'}",
        ]
        if any(part.distributions for part in self._asked):
            self.steps.append(
                "not protected: a cut that was not made tells that one of its sides would have broken a "
                "promise on sensitive values (minimality); blind = true decides without looking at them"
            )
        if not self._is_loss:
            self.steps.append(f"minimized: loss, since {self._problem.loss.name} is no sum over cells")

    def refine(self, sweeps: int) -> None:
        """Exchange rows between the classes of each block."""
        if self._rows.population is not None:
            self.steps.append(
                "no rows were exchanged: of a member of the population who is not in the table nobody could "
                "tell the class"
            )
            return
        tree, ruled_ = self.tree, self._ruled
        starts, stops = tree.blocks
        before = tree.classes
        classes = _from_zero(before, starts, stops)
        values = np.ascontiguousarray(ruled_.values[tree.order])
        done, exchange = 0, suited(refine, tree.codes)
        while done < len(starts) and not self._patience.over:
            some = slice(done, done + AT_ONCE)
            first, last = starts[some], stops[some]

            def work(own: slice, first: Counts = first, last: Counts = last) -> None:
                exchange(
                    tree.codes, values, classes, first[own], last[own], ruled_.num_counts, ruled_.room,
                    self._least, self.costs, ruled_.rules, sweeps,
                )  # fmt: skip

            in_threads(work, last - first)
            done += len(first)
            if self._progress:
                self._progress("exchanging rows", done, len(starts))
        self.unfinished |= done < len(starts)
        block_of = np.repeat(np.arange(len(starts)), stops - starts)
        after = _numbered(block_of, classes)
        accepted = self._accept(before, after, block_of)
        self.classes = tree.in_table_order(accepted)
        number = len(np.unique(accepted))
        self.steps.append(f"rows exchanged: {number:,} classes in {len(starts):,} blocks")

    def suppress(self) -> None:
        """Leave rows out that make their class lose more than a suppressed row costs, best savings first."""
        limit = self._problem.limit
        if limit == 0 or self._rows.population is not None or self._rest is not None:
            return
        price = self._price_of_suppression
        if price is None:
            return
        tree, ruled_ = self.tree, self._ruled
        starts, stops = tree.blocks
        numbered = self.classes[tree.order]
        classes = _from_zero(numbered, starts, stops)
        values = np.ascontiguousarray(ruled_.values[tree.order])
        saving, left = np.zeros(len(classes), np.int64), limit
        find = suited(dispensable, tree.codes)
        while left > 0 and not self._patience.over:
            find(
                tree.codes, values, classes, starts, stops, ruled_.num_counts, ruled_.room, self._least,
                self.costs, ruled_.rules, price, saving,
            )  # fmt: skip
            best = np.flatnonzero(saving)
            best = best[np.argsort(-saving[best], kind="stable")][:left]
            if len(best) == 0:
                break
            classes[best] = -1
            left -= len(best)
        kept = tree.in_table_order((classes >= 0).astype(np.int32)) > 0
        if not kept.all() and self._bears(self.classes, kept):
            self.kept = kept
            self.steps.append(
                f"suppressed: {limit - left:,} rows that cost their classes more than themselves"
            )

    def bound(self, *, any_size: bool) -> float | None:
        """A loss that nothing goes below, if all rows were looked at; about where it is otherwise."""
        if not self._is_loss or self._rows.population is not None or self._patience.over:
            return None
        tree = self.tree
        places, times = different_rows(tree.codes)
        drawn = np.sort(np.random.default_rng(0).choice(len(places), min(SAMPLE, len(places)), False))
        found = deltas(tree, self.costs, self._least, places[drawn], self._patience)
        exact = any_size or found is None or found[1] * len(places) <= AFFORDABLE * len(drawn)
        if exact:
            found = deltas(tree, self.costs, self._least, places, self._patience)
        else:
            places, times = places[drawn], times[drawn]
        if found is None:
            self.steps.append("no bound: there was no time for it")
            return None
        charged, most = found[0] * self._charge_of_generalization, self._charge_of_suppression
        if self._problem.limit:
            charged = np.minimum(charged, most * ONE)
        mean = float((charged * times).sum()) / int(times.sum()) / ONE
        # Sums of a million roundings differ in the last digits: a bound must stay below.
        loss = mean * self._scale * (1 - 1e-9)
        if exact:
            return loss
        self.steps.append(
            f"no release of this kind can lose less than about {loss:.3g} (from {len(places):,} rows; "
            "bound = true looks at all of them)"
        )
        return None

    def write(self, classes: Codes) -> dict[str, WrittenColumn]:
        """Every quasi-identifier as it is written, row by row."""
        tree = self.tree
        numbers = np.unique(classes, return_inverse=True)[1].astype(np.int32)
        shown = self.kept
        number = int(numbers.max(initial=-1)) + 1
        low = np.full((number, len(tree.dimensions)), np.iinfo(np.int32).max, np.int32)
        high = np.full_like(low, -1)
        places = tree.codes[np.argsort(tree.order)]
        for d in range(len(tree.dimensions)):
            np.minimum.at(low[:, d], numbers[shown], places[shown, d])
            np.maximum.at(high[:, d], numbers[shown], places[shown, d])
        empty = high[:, 0] < 0
        low[empty], high[empty] = 0, 0
        return {
            own.column.name: own.write(low[:, d], high[:, d], numbers)
            for d, own in enumerate(tree.dimensions)
        }

    # ------------------------------------------------------------------ whom it asks

    def require_promises(self) -> None:
        """Refuse what was decided without looking at sensitive values and does not keep a promise on them.

        Nothing is repaired: leaving a class out, or undoing a cut, would tell that its values broke it.
        """
        if not self._blind:
            return
        everything = Recoding(self.write(self.classes), self.kept)
        found = recoded(self._rows, everything, self._problem.models, self._problem.distributions)
        kept = int(self._rows.counts[self.kept].sum())
        if found.state.suppressed_rows > self._rows.num_rows - kept:
            promised = ", ".join(map(str, self._problem.models))
            raise NoSolutionError(
                "recoding.classes-made-without-looking",
                "classes that were made without looking at sensitive values do not all meet {promised}: ask"
                " for a larger k, or leave blind out",
                promised=promised,
            )

    def _bears(self, classes: Codes, kept: Mask | None = None) -> bool:
        """Whether the whole table may be written so."""
        before = self.kept
        self.kept = before if kept is None else kept
        try:
            everything = Recoding(self.write(classes), self.kept)
        finally:
            self.kept = before
        problem, asked = self._problem, self._asked
        found = recoded(self._rows, everything, asked, needed_distributions(asked))
        return satisfied(found.state, asked, problem.limit)

    def _accept(self, before: Codes, after: Codes, block_of: Counts) -> Codes:
        """The new classes of the blocks in which all models allow them, and the old ones of the others."""
        tree, number = self.tree, int(block_of[-1]) + 1
        good = np.ones(number, dtype=bool)
        if self._rest is not None:
            _, allowed = self._rest.judge(tree.order, after, int(after.max()) + 1)
            good[block_of[~allowed[after]]] = False
        if not self._ask_whole:
            return np.where(good[block_of], after, before + len(after)).astype(np.int32)
        smallest = max(1, number >> HALVINGS)
        waiting, chosen = [np.flatnonzero(good)], np.zeros(number, dtype=bool)
        while waiting:
            tried = waiting.pop()
            trial = chosen.copy()
            trial[tried] = True
            classes = np.where(trial[block_of], after, before + len(after)).astype(np.int32)
            if self._bears(tree.in_table_order(classes)):
                chosen = trial
            elif len(tried) > smallest:
                middle = len(tried) // 2
                waiting += [tried[middle:], tried[:middle]]
        return np.where(chosen[block_of], after, before + len(after)).astype(np.int32)

    # ------------------------------------------------------------------ what is charged

    @property
    def _charge_of_generalization(self) -> float:
        return self._loss.price_of_generalization

    @property
    def _charge_of_suppression(self) -> float:
        return self._loss.price_of_suppression

    @property
    def _price_of_suppression(self) -> int | None:
        """What a suppressed row costs in the unit of boxes; None if generalization costs nothing."""
        kept = self._charge_of_generalization
        return None if kept == 0 else int(self._charge_of_suppression / kept * ONE)

    @property
    def _scale(self) -> float:
        """The loss of a table that tells nothing."""
        if self._loss.aggregate is not AggregateFunction.SUM:
            return 1.0
        return sum(float(self._loss.weights.get(name, 1.0)) for name in self._problem.quasi_identifiers)


def _on_classes(part: Model) -> Model:
    """The same promise as one on single classes, where it is one: these are asked at every cut.

    (X,Y)-anonymity of all quasi-identifiers and one column is distinct diversity (Wang and Fung 2006).
    """
    if isinstance(part, XYAnonymity) and not part.x and len(part.y) == 1:
        return DistinctDiversity(part.y[0], part.k)
    return part


def _from_zero(classes: Codes, starts: Counts, stops: Counts) -> Codes:
    """Classes numbered from 0 in each block, in the order of their first rows."""
    block_of = np.repeat(np.arange(len(starts)), stops - starts)
    numbers = _numbered(block_of, classes)
    return (numbers - numbers[starts][block_of]).astype(np.int32)


def _numbered(block_of: Counts, classes: Codes) -> Codes:
    """Classes of blocks numbered through: block after block, each by its first row."""
    pairs = block_of.astype(np.int64) * (int(classes.max(initial=0)) + 1) + classes
    _, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse].astype(np.int32)
