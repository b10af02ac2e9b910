"""The fewest artificial values with which an answer keeps everybody's anonymity.

More published values only make more distributions possible, so what suffices stays sufficient if more is
added. The search goes from below, by *implicit hitting sets*. A set of values is tried. If somebody still
lacks a value, the solver gives the reason: a set of labels without more of which nothing helps. Every set
that suffices must add one of them, so the next set to try is a smallest one that hits all reasons so far.
The first that suffices is a minimum, and the size of the last one tried is a lower bound if the search is
given up.

Where the solver's effort is limited, a reason may be a guess: the labels that some witness of the history
so far would need to survive. Then what suffices is still sound, but no longer known to be a minimum.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from tarnkappe.gate.candidate_values import Guess
from tarnkappe.gate.exact_test import representatives
from tarnkappe.gate.hitting_set import ConflictSet, LabelCounts, smallest
from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.problem import problem
from tarnkappe.gate.solver import FeasibleAssignment, Impossible, Solver, Unknown, solver


@dataclasses.dataclass(frozen=True)
class SolverBudget:
    """How hard to try.

    Attributes:
        steps: how long the local search tries to mend one witness, and ten times as long where the solver
            gave up.
        work: how many steps all searches for one answer may take before none is long; None for no limit.
        solver: the budget of one question to the solver; None for no limit.
        pairs: the largest problem (in pairs of a kind and a value) that the solver is asked about.
        patience: how many questions of one answer the solver may leave open before it is asked no more.
        reasons: how many reasons the solver gives before the next set is tried.
        options: of how many values somebody may lack some for each to be looked at by itself.
    """

    steps: int = 100
    work: int | None = None
    solver: float | None = None
    pairs: int | None = None
    patience: int = 3
    reasons: int = 3
    options: int = 24


@dataclasses.dataclass(frozen=True)
class Cover:
    """What was found.

    Attributes:
        added: how many artificial values of each label are added.
        pool: witnesses, of the history with this answer, that show k values for everybody.
        least: no smaller number of artificial values would have sufficed, as far as it is proven.
    """

    added: Integers
    pool: Pool
    least: int


class OpenSolvers:
    """The solver for the newest result while it is open: one for all the sets of values that are tried."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._solver: Solver | None = None

    def of(self, knowledge: Knowledge, tuple_: int, largest: int | None) -> Solver | None:
        """The solver for the newest result, in the component of a tuple of it; None if it is too large."""
        newest = knowledge.results - 1
        members, counts = knowledge.members(newest).copy(), knowledge.counts(newest)
        key = (newest, knowledge.values, members.tobytes(), largest)
        if key != self._key:
            knowledge.retract()
            knowledge.publish(members, np.full(knowledge.values, len(members), dtype=np.int32))
            question = problem(knowledge, tuple_, is_open=True)
            knowledge.retract()
            knowledge.publish(members, counts)
            self._key = key
            self._solver = solver(question) if largest is None or len(question.kinds) <= largest else None
        return self._solver


class LeastCover:
    """The search for one answer. The knowledge is as before when it is over."""

    def __init__(
        self,
        pool: Pool,
        members: Integers,
        real: Integers,
        truth: Integers,
        k: int,
        effort: SolverBudget,
        solvers: OpenSolvers | None = None,
    ) -> None:
        self.pool, self.members, self.real, self.truth = pool, members, real, truth
        self.k, self.effort = k, effort
        self._solvers = solvers or OpenSolvers()
        self.knowledge: Knowledge = pool.knowledge
        self.reasons: list[ConflictSet] = []
        self.proven = True
        self._patience = effort.patience
        self._explain = True
        self._near: list[Integers] = []
        self._made: list[Integers] = []
        self._state = pool.state.copy()
        self._state[1] = 0
        self._kind_before = self.knowledge.view.kind.copy()
        old = members[members < self.knowledge.tuples]
        could = self.knowledge.view.allowed[old]
        if len(old) < len(members):
            could = np.vstack([could, np.ones((1, self.knowledge.values), dtype=np.bool_)])
        self.labels = LabelCounts(np.unique(could, axis=0), real)

    def find(self, may_add: bool) -> Cover | None:
        """The least cover; None if there is none, or none without values although none may be added."""
        least, self._explain = 0, may_add  # why something fails matters only if that can be changed
        while True:
            floor = np.zeros_like(self.real) if self.proven else self.reasons[-1].added
            added = smallest(self.labels, self.reasons, self.k, floor)
            if added is None or (not may_add and added.any()):
                return None
            if self.proven:
                least = int(added.sum())
            pool = self._try(added)
            if pool is not None:
                return Cover(added, pool, least) if self.proven else self._without_idle(added, pool, least)

    def _without_idle(self, added: Integers, pool: Pool, least: int) -> Cover:
        """Where reasons were guessed, leave out one value after the other and see whether it was needed."""
        for label in np.repeat(np.arange(len(added)), added).tolist():
            if int(added.sum()) <= least or self._tired():
                break
            fewer = added.copy()
            fewer[label] -= 1
            smaller = self._try(fewer)
            if smaller is not None:
                added, pool = fewer, smaller
        return Cover(added, pool, least)

    def _try(self, added: Integers) -> Pool | None:
        """Witnesses with which the set suffices; otherwise None, and there are new reasons."""
        self.knowledge.publish(self.members, self.real + added)
        try:
            pool = self._start()
            everyone = representatives(self.knowledge)
            pool.seek(everyone[pool.degree < self.k], self.k, self.effort.steps)
            while (pool.degree < self.k).any():
                reasons, unknown = self._ask_for_all(pool, everyone, added)
                if unknown and not reasons:
                    reasons = self._guesses(pool, unknown, added)
                if reasons:
                    self.reasons += reasons
                    if not self.proven:  # from now on sets only grow, and what is valid stays so
                        self._made = list(pool.values[1:])
                    return None
            return pool
        finally:
            self.knowledge.retract()

    def _ask_for_all(
        self, pool: Pool, everyone: Integers, added: Integers
    ) -> tuple[list[ConflictSet], list[int]]:
        """Complete the pool as far as possible; why that was not possible, and for whom it is not known."""
        reasons: list[ConflictSet] = []
        unknown: list[int] = []
        done: set[int] = set()
        wanted = self.effort.reasons if self._explain else 1
        while len(kinds := self._lacking(pool, done)) and len(reasons) < wanted:
            kind = int(kinds[0])
            verdict = self._ask(pool, kind, everyone, added)
            if isinstance(verdict, FeasibleAssignment):
                pool.seek(everyone[pool.degree < self.k], self.k, self.effort.steps)
                continue
            done.add(kind)
            if isinstance(verdict, ConflictSet):
                reasons.append(verdict)
            else:
                unknown.append(int(everyone[kind]))
        return reasons, unknown

    def _start(self) -> Pool:
        """The witnesses of the history carried over, and those of earlier tries as far as they are valid."""
        steps = self.effort.steps if self.proven or not self._tired() else 0
        pool = self.pool.carried(self.truth, self.k, steps, self._state)
        for near in [*self._made, *self._near]:
            if pool.gains(near, self.k) and pool.fits(near):
                pool.add(near)
        return pool

    def _lacking(self, pool: Pool, hopeless: set[int]) -> Integers:
        """The kinds that show too few values, those with the fewest first."""
        kinds = np.flatnonzero(pool.degree < self.k)
        kinds = kinds[[kind not in hopeless for kind in kinds.tolist()]]
        return kinds[np.argsort(pool.degree[kinds], kind="stable")].astype(np.int32)

    def _ask(
        self, pool: Pool, kind: int, everyone: Integers, added: Integers
    ) -> FeasibleAssignment | Unknown | ConflictSet:
        """Add a witness that shows another value for a kind to the pool, or say why there is none."""
        tuple_ = int(everyone[kind])
        exact = self._exact(tuple_) if self._patience else None
        if exact is not None:
            question = exact.problem
            open_ = np.zeros(pool.shown.shape, dtype=np.bool_)
            open_[kind] = pool.shown[kind] == 0
            targets = question.pairs_of(open_)
            levels = dict(enumerate((self.real + added).tolist()))
            verdict = exact.ask(targets, levels, self.effort.solver) if targets else Impossible(frozenset())
            if isinstance(verdict, FeasibleAssignment):
                pool.add(question.deal(verdict.counts, self.knowledge, self.truth))
                return verdict
            if isinstance(verdict, Impossible):
                need = self.k - int(pool.degree[kind])
                return ConflictSet(need, self._options(exact, targets, need, verdict, levels), added)
            self._patience -= 1
        shown = pool.degree[kind]
        if not self._tired():
            pool.seek(everyone[[kind]], self.k, 10 * self.effort.steps)
        return FeasibleAssignment([]) if pool.degree[kind] > shown else Unknown()

    def _options(
        self, exact: Solver, targets: list[int], need: int, why: Impossible, levels: dict[int, int]
    ) -> tuple[frozenset[int], ...]:
        """What can make the targets possible: one by one, if more than one of them is needed."""
        effort = self.effort.solver
        if not self._explain:
            return (why.labels,) * need
        if need == 1 or len(targets) > self.effort.options:
            return (exact.reason(targets, why, levels, effort).labels,) * need
        options = []
        for target in targets:
            verdict = exact.ask([target], levels, effort)
            if isinstance(verdict, Impossible):
                options.append(exact.reason([target], verdict, levels, effort).labels)
            else:  # the budget did not suffice to see again what was seen for all targets together
                options.append(why.labels)
        return tuple(options)

    def _tired(self) -> bool:
        return self.effort.work is not None and int(self._state[1]) > self.effort.work

    def _exact(self, tuple_: int) -> Solver | None:
        """The solver for the component of this answer, which is open in it; None if it is too large."""
        return self._solvers.of(self.knowledge, tuple_, self.effort.pairs)

    def _guesses(self, pool: Pool, tuples: list[int], added: Integers) -> list[ConflictSet]:
        """For tuples that lack values nobody knows why: labels of which more would help.

        Witnesses that turn up on the way go into the pool; a tuple that gets one needs no reason.
        """
        self.proven = False
        self.knowledge.retract()
        counts = self.real + added
        self.knowledge.publish(self.members, counts + len(self.members))
        guess = Guess(self.pool, self._kind_before, self.members, counts, self.effort.steps, self._state)
        reasons = []
        valid = []
        for tuple_ in tuples:
            kind = self.knowledge.view.kind[tuple_]
            if pool.degree[kind] >= self.k:  # later witnesses showed enough for it as well
                continue
            lacking = pool.shown[kind] == 0
            near = guess.nearest(tuple_, lacking, 1 if self._tired() else 4)
            shortest = min((len(labels) for _, labels in near), default=0)
            if near and not shortest:
                valid += [value for value, labels in near if not labels]
            else:
                self._near += [value for value, _ in near]
                labels = frozenset().union(*(labels for _, labels in near if len(labels) == shortest))
                reasons.append(ConflictSet(1, (labels,), added))
        self.knowledge.retract()
        self.knowledge.publish(self.members, counts)
        for value in valid:
            pool.add(value)
        return reasons
