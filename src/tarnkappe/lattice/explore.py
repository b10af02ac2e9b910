"""Looking at the whole lattice: what every node does to the table, not only the best one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.lattice.checker import NodeCheck
from tarnkappe.lattice.exhaustive import Exhaustive
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import TIE, BestNodes, Evaluation, SearchProblem
from tarnkappe.lattice.search_run import TOLD_EVERY, Attempt
from tarnkappe.lattice.solution import Counters, Solution
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.table.encoding import Progress

MAX_NODES = 10_000_000
"""More nodes than this are not looked at one by one."""

LevelsOf = Mapping[str, int] | Sequence[int]
"""A node: the level of each quasi-identifier by name, or all levels in their order."""


@dataclasses.dataclass(frozen=True, eq=False)
class LatticeView:
    """What nodes do to a table, from the least general to the most general.

    A view is iterated node by node, asked for one node (`view[{"age": 1, "sex": 0}]`), narrowed (`where`),
    walked (`successors`, `predecessors`) and taken away as a table (`to_arrow`).

    Attributes:
        problem: what is promised, and how loss is measured.
        levels: one line a node: the level of each quasi-identifier.
        satisfied: whether the node keeps the promises.
        losses: its loss, if as many rows may be suppressed as it needs; not a number where nothing helps.
        suppressed: how many rows have to be suppressed.
        classes: how many classes are left.
    """

    problem: SearchProblem
    levels: npt.NDArray[np.int16]
    satisfied: npt.NDArray[np.bool_]
    losses: npt.NDArray[np.float64]
    suppressed: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.levels)

    def __iter__(self) -> Iterator[Evaluation]:
        return map(self._evaluation, range(len(self)))

    def __contains__(self, levels: object) -> bool:
        return self._place(node_of(self.problem, cast(LevelsOf, levels))) >= 0

    def __getitem__(self, levels: LevelsOf) -> Evaluation:
        place = self._place(node_of(self.problem, levels))
        if place < 0:
            raise ParameterError(
                "lattice.node-not-view-filtered", "this node is not in the view: it was filtered out"
            )
        return self._evaluation(place)

    @cached_property
    def best(self) -> Evaluation | None:
        """The node of least loss that keeps the promises; ties are broken as in every search."""
        best = BestNodes(self.problem)
        good = np.flatnonzero(self.satisfied)
        if len(good):
            least = self.losses[good].min()
            for place in good[self.losses[good] <= least + 2 * TIE * max(1.0, abs(least))]:
                found = self._evaluation(int(place))
                best.offer(self.problem.evaluate(found.node) if self.problem.loss.has_ranks else found)
        return best.evaluation

    def where(
        self,
        *,
        satisfied: bool | None = None,
        loss_at_most: float = math.inf,
        suppressed_at_most: int | None = None,
        levels: Mapping[str, int | tuple[int, int]] | None = None,
    ) -> LatticeView:
        """The nodes that meet all conditions.

        Args:
            satisfied: whether they keep the promises.
            loss_at_most: the greatest loss.
            suppressed_at_most: the greatest number of suppressed rows.
            levels: for some quasi-identifiers the level, or the least and the greatest level.
        """
        chosen = np.ones(len(self), dtype=bool)
        if satisfied is not None:
            chosen &= self.satisfied == satisfied
        if loss_at_most < math.inf:
            chosen &= self.losses <= loss_at_most
        if suppressed_at_most is not None:
            chosen &= self.suppressed <= suppressed_at_most
        for name, limits in (levels or {}).items():
            least, greatest = (limits, limits) if isinstance(limits, int) else limits
            column = self.levels[:, _position(self.problem, name)]
            chosen &= (column >= least) & (column <= greatest)
        return self.take(np.flatnonzero(chosen))

    def take(self, places: npt.NDArray[np.int64]) -> LatticeView:
        """Some nodes of the view, in the given order."""
        return LatticeView(
            self.problem,
            self.levels[places],
            self.satisfied[places],
            self.losses[places],
            self.suppressed[places],
            self.classes[places],
        )

    def successors(self, levels: LevelsOf) -> list[Evaluation]:
        """The nodes of the view that generalize one column by one level more."""
        return self._known(self.problem.lattice.successors(node_of(self.problem, levels)))

    def predecessors(self, levels: LevelsOf) -> list[Evaluation]:
        """The nodes of the view that generalize one column by one level less."""
        return self._known(self.problem.lattice.predecessors(node_of(self.problem, levels)))

    def to_arrow(self) -> pa.Table:
        """One row a node: `level_` and the name of each column, and what the node does."""
        names = [f"level_{name}" for name in self.problem.quasi_identifiers]
        columns = dict(zip(names, map(pa.array, self.levels.T.copy()), strict=True))
        losses = pa.array(self.losses, mask=np.isnan(self.losses))
        return pa.table(
            columns
            | {
                "satisfied": pa.array(self.satisfied),
                "loss": losses,
                "suppressed": pa.array(self.suppressed),
                "classes": pa.array(self.classes),
            }
        )

    def __repr__(self) -> str:
        best = self.best
        lines = [
            f"{len(self):,} of {self.problem.num_nodes:,} nodes; {int(self.satisfied.sum()):,} keep "
            + ", ".join(map(str, self.problem.models))
        ]
        if best is not None:
            lines.append(
                f"best: {named_levels(self.problem, best.node)}; {self.problem.loss.name} {best.loss:,.6g}, "
                f"{best.suppressed:,} rows suppressed, {best.classes:,} classes"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from tarnkappe.lattice.picture import lattice_html  # drawn only when looked at

        return lattice_html(self)

    def _known(self, nodes: Iterable[Node]) -> list[Evaluation]:
        places = [self._place(node) for node in nodes if within_limits(self.problem, node)]
        return [self._evaluation(place) for place in places if place >= 0]

    def _evaluation(self, place: int) -> Evaluation:
        loss = float(self.losses[place])
        return Evaluation(
            tuple(map(int, self.levels[place])),
            bool(self.satisfied[place]),
            math.inf if math.isnan(loss) else loss,
            int(self.suppressed[place]),
            int(self.classes[place]),
        )

    def _place(self, node: Node) -> int:
        ranges = self.problem.level_ranges
        return int(self._places[tuple(level - r[0] for level, r in zip(node, ranges, strict=True))])

    @cached_property
    def _places(self) -> npt.NDArray[np.int32]:
        """Where each node that may be chosen stands in the view, or -1."""
        ranges = self.problem.level_ranges
        places = np.full([len(r) for r in ranges], -1, dtype=np.int32)
        places[tuple((self.levels - [r[0] for r in ranges]).T)] = np.arange(len(self))
        return places


def explore(problem: SearchProblem, progress: Progress | None = None) -> LatticeView:
    """Test every node of a lattice."""
    if problem.num_nodes > MAX_NODES:
        raise ParameterError(
            "lattice.combinations-levels-more-can-looked",
            "there are {num_nodes:,} combinations of levels, more than the {max_nodes:,} that can be looked"
            " at one by one: narrow the levels of some columns (level, min_level, max_level)",
            num_nodes=problem.num_nodes,
            max_nodes=MAX_NODES,
        )
    # With no limit to suppression every node has a loss, and the limit is looked at afterwards.
    record = _Record(dataclasses.replace(problem, suppression_limit=1.0), problem.limit, progress)
    Exhaustive().search(cast(Traversal, record))
    ranges = problem.level_ranges
    levels = np.indices([len(r) for r in ranges], dtype=np.int16).reshape(len(ranges), -1).T
    levels = levels + np.array([r[0] for r in ranges], dtype=np.int16)
    satisfied = record.satisfied & (record.suppressed <= problem.limit)
    losses = np.where(np.isfinite(record.losses), record.losses, np.nan)
    view = LatticeView(problem, levels, satisfied, losses, record.suppressed, record.classes)
    return view.take(np.lexsort((*levels.T[::-1], levels.sum(axis=1))))


class _Record(Attempt):
    """Writes down every test, at the place of the node in the order of `SearchProblem.nodes`."""

    def __init__(self, problem: SearchProblem, limit: int, progress: Progress | None) -> None:
        super().__init__(problem, progress, implied_criteria=False)
        self._limit = limit
        self.satisfied = np.zeros(problem.num_nodes, dtype=bool)
        self.losses = np.full(problem.num_nodes, np.nan)
        self.suppressed = np.zeros(problem.num_nodes, dtype=np.int64)
        self.classes = np.zeros(problem.num_nodes, dtype=np.int64)
        self._steps = [math.prod(map(len, problem.level_ranges[i + 1 :])) for i in range(len(self.bottom))]
        self._done = 0

    def learn(self, found: NodeCheck) -> None:
        node = found.evaluation
        steps = zip(node.node, self.bottom, self._steps, strict=True)
        place = sum((level - least) * step for level, least, step in steps)
        self.satisfied[place] = node.satisfied
        self.losses[place] = node.loss
        self.suppressed[place] = node.suppressed
        self.classes[place] = node.classes
        self.count(node.node, satisfied=node.satisfied and node.suppressed <= self._limit)
        self._done += 1
        if self._done % TOLD_EVERY == 0:
            self.tell("classifying", self._done, len(self.losses))


def choose(problem: SearchProblem, levels: LevelsOf, bound: float | None = None) -> Solution:
    """A node that somebody has chosen, as a solution; a node that does not keep the promises is refused.

    It is called optimal if its loss reaches a bound that no satisfying node goes below, and no other
    choice of suppressed classes may lose less.
    """
    node = node_of(problem, levels)
    found = problem.evaluate(node)
    if not found.satisfied:
        needs = f"{found.suppressed:,} of {problem.tuples.num_rows:,} rows would have to be suppressed, "
        reason = (
            f"{needs}but at most {problem.limit:,} may be"
            if found.suppressed > problem.limit
            else "suppressing rows does not help here"
        )
        promised = ", ".join(map(str, problem.models))
        raise NoSolutionError(
            "lattice.not-keep",
            "{problem} does not keep {promised}: {reason}",
            problem=named_levels(problem, node),
            promised=promised,
            reason=reason,
        )
    reaches = bound is not None and found.loss <= bound + TIE * max(1.0, abs(bound))
    optimal = reaches and not problem.suppression_rule and not problem.loss.has_ranks
    why = "" if optimal else "chosen, not searched for"
    return Solution(found, optimal, problem.num_nodes, "choice", Counters(checked=1), bound, why)


def node_of(problem: SearchProblem, levels: LevelsOf) -> Node:
    """A node that may be chosen; anything else is refused."""
    names = problem.quasi_identifiers
    if isinstance(levels, Mapping):
        for name in levels:
            _position(problem, name)
        missing = [name for name in names if name not in levels]
        if missing:
            raise ParameterError(
                "lattice.no-level-given-node",
                "no level is given for {missing}: a node has one for each column",
                missing=", ".join(missing),
            )
        levels = [levels[name] for name in names]
    node = tuple(map(int, levels))
    if len(node) != len(names):
        raise ParameterError(
            "lattice.node-level-not-levels",
            "a node has one level for each of {names}, not {node} levels",
            names=", ".join(names),
            node=len(node),
        )
    for name, level, allowed in zip(names, node, problem.level_ranges, strict=True):
        if level not in allowed:
            raise ParameterError(
                "lattice.level-impossible",
                "level {level} of '{name}' is impossible: it may be from {allowed} to {allowed_2}",
                level=level,
                name=name,
                allowed=allowed[0],
                allowed_2=allowed[-1],
            )
    return node


def within_limits(problem: SearchProblem, node: Node) -> bool:
    """Whether a node of the lattice may be chosen."""
    return all(level in allowed for level, allowed in zip(node, problem.level_ranges, strict=True))


def named_levels(problem: SearchProblem, node: Node) -> str:
    """A node in words."""
    return ", ".join(f"{n} {level}" for n, level in zip(problem.quasi_identifiers, node, strict=True))


def _position(problem: SearchProblem, name: str) -> int:
    if name not in problem.quasi_identifiers:
        raise ColumnError(
            "lattice.no-quasi-identifier",
            "'{name}' is no quasi-identifier: there are {quasi_identifiers}",
            name=name,
            quasi_identifiers=", ".join(problem.quasi_identifiers),
        )
    return problem.quasi_identifiers.index(name)
