"""Local recoding: the optimal search is repeated over the rows that it suppressed.

One node for all rows must be general enough for the rarest of them, or suppress them. Here each pass may
leave many rows to the next one, which searches them as a table of their own. In the end few rows or none
are suppressed, and most rows are at lower levels than one node could give them.

What a pass may leave is tried out: the loss of the whole release decides. The optimal single node is tried
too, so a local recoding never loses more than that, measured in the same way. It is not claimed to be the
best of all local recodings.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import Evaluation, Node, Search, SearchProblem, Solution
from tarnkappe.lattice.problem import TIE
from tarnkappe.lattice.solution import Counters
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import DifferentialPrivacy, Model, protect, satisfied
from tarnkappe.privacy.verify import Verification
from tarnkappe.recoding.recode import CellTreatment, write
from tarnkappe.recoding.written import Parts, split
from tarnkappe.schema import replace
from tarnkappe.table import ClassState, Tuples
from tarnkappe.table.classes import Mask, release_everything
from tarnkappe.table.encoding import Progress

ALLOWANCES = (0.5, 0.2, 0.1, 0.05)
"""Which shares of its rows a pass may leave to the next one, one after the other, when none is given."""

MOST_PASSES = 40
"""After so many passes one node takes all rows that are left, if it can."""


@dataclasses.dataclass(frozen=True)
class Pass:
    """One pass of a local recoding.

    Attributes:
        levels: the level of each quasi-identifier.
        rows: how many rows it kept.
        classes: in how many classes.
        loss: what these rows lose, measured as a table of their own.
        verified: what the independent path found for the models on classes, among these rows alone.
    """

    levels: Mapping[str, int]
    rows: int
    classes: int
    loss: float
    verified: tuple[Verification, ...] = ()


@dataclasses.dataclass(frozen=True)
class LocalRecoding:
    """A search in passes.

    Attributes:
        search: how each pass is searched.
        allowance: the share of its rows that a pass may leave to the next one; without it, several are tried.
    """

    search: Search
    allowance: float | None = None

    def __post_init__(self) -> None:
        if self.allowance is not None and not 0 < self.allowance <= 1:
            raise ParameterError(
                "recoding.pass-local-recoding-may-leave",
                "a pass of a local recoding may leave a share of its rows above 0 and up to 1, not "
                "{allowance}",
                allowance=self.allowance,
            )

    def run(self, problem: SearchProblem, progress: Progress | None = None) -> Solution:
        """The best recoding found.

        The loss of the solution is that of the whole release. It is never called optimal.
        """
        if not problem.loss.measures_cells:
            able = [each.name for each in LOSSES if each.examples()[0].measures_cells]
            raise ParameterError(
                "recoding.cannot-measure-table-columns",
                "{loss} cannot measure a table whose columns are at several levels at once, as local "
                "recoding makes it: use {able}",
                loss=problem.loss,
                able=", ".join(able),
            )
        return _Run(self, problem, progress).best()


def local_search(search: Search, local_recoding: bool | float, models: Sequence[Model]) -> LocalRecoding:
    """The search in passes that a job asks for: true, or the share of rows that a pass may leave."""
    for part in (part for model in models for part in model.parts):
        if isinstance(part, DifferentialPrivacy):
            raise ParameterError(
                "recoding.local-recoding-chooses-levels",
                "{part}: local recoding chooses levels by looking at the data",
                part=part.name,
            )
    return LocalRecoding(search, None if local_recoding is True else float(local_recoding))


class _StoppedError(Exception):
    """A search ended before its time, so no further one is begun."""


class _Run:
    def __init__(self, recoding: LocalRecoding, problem: SearchProblem, progress: Progress | None) -> None:
        self._recoding = recoding
        self._problem = problem
        self._progress = progress
        self._started = time.monotonic()
        self._counters = Counters()
        self._nodes = 0
        self._stopped = ""
        self._solved: dict[bytes, list[tuple[int, Evaluation | None]]] = {}

    def best(self) -> Solution:
        problem = self._problem
        found: list[tuple[float, tuple[Node, ...], ClassState]] = []
        everything = np.ones(problem.tuples.num_tuples, dtype=bool)
        try:
            single = self._optimum(everything, problem.limit)
            if single is not None:
                self._judge((single,), found)
            for allowance in self._allowances():
                self._judge(tuple(self._passes(everything, allowance, MOST_PASSES)), found)
        except _StoppedError:
            pass
        name = f"local recoding with {self._recoding.search.name}"
        solution = Solution(None, False, self._nodes, name, counters=self._counters, stopped=self._stopped)
        if not found:
            if self._stopped == "interrupted":
                raise KeyboardInterrupt
            return solution
        loss, nodes, state = found[0]
        for other in found[1:]:
            if other[0] < loss - TIE * max(1.0, abs(loss)):
                loss, nodes, state = other
        best = Evaluation(nodes[0], True, loss, state.suppressed_rows, state.num_kept)
        return dataclasses.replace(solution, best=best, passes=nodes)

    def _allowances(self) -> tuple[float, ...]:
        if self._recoding.allowance is not None:
            return (self._recoding.allowance,)
        return ALLOWANCES

    def _judge(
        self, nodes: tuple[Node, ...], found: list[tuple[float, tuple[Node, ...], ClassState]]
    ) -> None:
        """Measure the whole release that some passes make, and note it if it keeps all promises."""
        if not nodes or any(nodes == others for _, others, _ in found):
            return
        problem = self._problem
        state = local_state(problem, nodes)
        if satisfied(state, problem.models, problem.limit):
            found.append((problem.loss(state), nodes, state))

    def _passes(self, left: Mask, allowance: float, most: int) -> list[Node]:
        """The nodes that recode the rows that are left; they may leave some for good.

        If they do, one node that keeps all rows of this pass is better.
        """
        rows = int(self._problem.tuples.counts[left].sum())
        node = self._optimum(left, int(allowance * rows)) if most > 1 else None
        nodes: list[Node] = []
        if node is not None:
            rest = left & ~self._kept(left, node)
            remaining = int(self._problem.tuples.counts[rest].sum())
            if remaining == 0:
                return [node]
            if remaining < rows:
                nodes = [node, *self._passes(rest, allowance, most - 1)]
            if self._left_by(left, nodes) == 0:
                return nodes
        whole = self._optimum(left, 0)
        return nodes if whole is None else [whole]

    def _left_by(self, left: Mask, nodes: Sequence[Node]) -> int:
        for node in nodes:
            left = left & ~self._kept(left, node)
        return int(self._problem.tuples.counts[left].sum())

    def _kept(self, left: Mask, node: Node) -> Mask:
        problem = self._problem
        classes = problem.tuples.part(left).classes(problem.quasi_identifiers, node, problem.distributions)
        return np.asarray(protect(classes, problem.models).kept[classes.ids])

    def _optimum(self, left: Mask, limit: int) -> Node | None:
        """The best node for the rows that are left, if at most so many of them may be suppressed.

        What is best with a larger limit is so with a smaller one that it keeps to.
        """
        solved = self._solved.setdefault(left.tobytes(), [])
        for allowed, known in solved:
            if allowed == limit or (allowed > limit and (known is None or known.suppressed <= limit)):
                return None if known is None else known.node
        found = self._search(_own_table(self._problem, left), limit)
        solved.append((limit, found))
        return None if found is None else found.node

    def _search(self, tuples: Tuples, limit: int) -> Evaluation | None:
        problem, search = self._problem, self._recoding.search
        if self._stopped:
            raise _StoppedError
        if search.seconds is not None:
            remaining = search.seconds - (time.monotonic() - self._started)
            search = replace(search, seconds=max(remaining, 1e-9))
        try:
            share = min(1.0, (limit + 0.5) / tuples.num_rows)  # of which the whole rows are the limit
            part = dataclasses.replace(problem, tuples=tuples, suppression_limit=share if limit else 0.0)
        except ParameterError:  # the whole table is fit for the models, so these rows are too few
            return None
        try:
            solution = search.run(part, self._progress)
        except KeyboardInterrupt:
            self._stopped = "interrupted"
            raise _StoppedError from None
        self._nodes += solution.nodes
        self._counters = _sum(self._counters, solution.counters)
        self._stopped = solution.stopped
        return solution.best


def local_state(problem: SearchProblem, nodes: Sequence[Node]) -> ClassState:
    """The classes that the whole release has after some passes, and which of them may be released."""
    tuples, names, models = problem.tuples, problem.quasi_identifiers, problem.models
    parts = split(tuples, names, nodes, models)
    return write(tuples, names, nodes, models, CellTreatment(), problem.distributions, parts).state


def describe_passes(
    problem: SearchProblem, rows: Tuples, nodes: Sequence[Node], parts: Parts
) -> tuple[Pass, ...]:
    """What each pass did to the rows that it kept."""
    passes = []
    for number, node in enumerate(nodes):
        own = rows.part(parts == number)
        classes = own.classes(problem.quasi_identifiers, node, problem.loss.distributions)
        state = release_everything(classes)
        levels = dict(zip(problem.quasi_identifiers, node, strict=True))
        loss = problem.loss(state) if own.num_rows else 0.0
        passes.append(Pass(levels, own.num_rows, state.num_kept, loss))
    return tuple(passes)


def _own_table(problem: SearchProblem, left: Mask) -> Tuples:
    """The rows that are left as a table of their own.

    Of the others only the sensitive values count, for the distributions of the whole input, so they take the
    place of a row that is left and are merged.
    """
    if left.all():
        return problem.tuples
    part = problem.tuples.part(left)
    first = int(np.argmax(left))
    columns = {
        name: dataclasses.replace(column, codes=np.where(left, column.codes, column.codes[first]))
        if name in problem.quasi_identifiers
        else column
        for name, column in part.columns.items()
    }
    return dataclasses.replace(part, columns=columns).distinct()


def _sum(one: Counters, other: Counters) -> Counters:
    return Counters(
        *(a + b for a, b in zip(dataclasses.astuple(one), dataclasses.astuple(other), strict=True))
    )
