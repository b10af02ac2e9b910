"""The exact solvers: what they are asked and what they answer.

The question is always the same: given a problem, is there a distribution in which at least one of some
pairs (a kind and a value) occurs? If a result is still open, the question also says how often each label is
published in it, so that one solver serves for every set of artificial values that is tried.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from tarnkappe.gate.problem import AssignmentProblem


@dataclass(frozen=True)
class FeasibleAssignment:
    """There is one: how many tuples of its kind have the value, for each pair of the problem."""

    counts: list[int]


@dataclass(frozen=True)
class Impossible:
    """There is none, however often other labels than these are published in the open result."""

    labels: frozenset[int]


@dataclass(frozen=True)
class Unknown:
    """The budget was used up. This must never be taken for a yes."""


Verdict = FeasibleAssignment | Impossible | Unknown


class Solver(ABC):
    """An exact solver for one problem; it can be asked many times."""

    def __init__(self, problem: AssignmentProblem) -> None:
        self.problem = problem

    @abstractmethod
    def ask(self, targets: list[int], published: Mapping[int, int], effort: float | None = None) -> Verdict:
        """Is there a distribution with at least one of the target pairs?

        Args:
            targets: pairs of the problem.
            published: how often a label is in the open result; of labels that are not named there are as
                many as anybody likes.
            effort: a budget; 0.01 is about 50 ms on a usual machine. None for no limit.
        """

    def reason(
        self, targets: list[int], impossible: Impossible, published: Mapping[int, int], effort: float | None
    ) -> Impossible:
        """A smaller set of labels that already makes the targets impossible, by leaving some out."""
        labels = set(impossible.labels)
        for label in sorted(labels):
            if label in labels:
                fewer = {other: published[other] for other in labels if other != label}
                verdict = self.ask(targets, fewer, effort)
                if isinstance(verdict, Impossible):
                    labels = set(verdict.labels)
        return Impossible(frozenset(labels))


def solver(problem: AssignmentProblem) -> Solver:
    """The best solver that is installed: CP-SAT (the extra `gate`), or HiGHS, which SciPy has."""
    if importlib.util.find_spec("ortools") is not None:
        from tarnkappe.gate.cp_sat import CpSat

        return CpSat(problem)
    from tarnkappe.gate.highs import Highs

    return Highs(problem)
