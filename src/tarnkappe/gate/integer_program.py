"""The integer program of the exact test: one 0/1 variable for each tuple and each value that it may have.

    sum over the values of a tuple          = 1                  for every tuple sum over the tuples of a
    result, for v  = how often v is published in it   (at most, if it has artificial values)

Every feasible point is a distribution. The program is the plain reference for the fast exact test, and
small enough to be read. Its linear relaxation must never be used to show that a tuple can have a value
(half a tuple is nobody), only to show that it cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from tarnkappe.gate.knowledge import Integers, Knowledge


@dataclass(frozen=True)
class Constraint:
    """Some variables add up to a number, or to at most that number."""

    variables: tuple[int, ...]
    number: int
    exact: bool


@dataclass(frozen=True)
class IntegerProgram:
    """Variables (a tuple and a value each) and constraints: of the tuples, then of the results."""

    variables: tuple[tuple[int, int], ...]
    constraints: tuple[Constraint, ...]

    def solve(self, chosen: tuple[int, int] | None = None, integral: bool = True) -> list[float] | None:
        """A feasible point, with one variable set to 1 if one is chosen; None if there is none."""
        rows = self.constraints
        indices = [variable for row in rows for variable in row.variables]
        ends = np.cumsum([0, *(len(row.variables) for row in rows)])
        matrix = csr_array((np.ones(len(indices)), indices, ends), shape=(len(rows), len(self.variables)))
        upper = np.array([row.number for row in rows], dtype=np.float64)
        lower = np.where([row.exact for row in rows], upper, 0)
        least = np.array([pair == chosen for pair in self.variables], dtype=np.float64)
        solution = milp(
            -np.ones(len(self.variables)),
            constraints=LinearConstraint(matrix, lower, upper),
            bounds=Bounds(least, 1),
            integrality=np.full(len(self.variables), int(integral)),
        )
        return None if solution.x is None else [float(x) for x in solution.x]


def integer_program(knowledge: Knowledge) -> IntegerProgram:
    """The integer program of everything published."""
    variables = [(t, v) for t in range(knowledge.tuples) for v in knowledge.candidates(t)]
    index = {pair: number for number, pair in enumerate(variables)}
    constraints = [
        Constraint(tuple(index[t, v] for v in knowledge.candidates(t)), 1, True)
        for t in range(knowledge.tuples)
    ]
    for result in range(knowledge.results):
        members, counts = knowledge.members(result).tolist(), knowledge.counts(result).tolist()
        for value, count in enumerate(counts):
            if count:
                present = tuple(index[t, value] for t in members if (t, value) in index)
                constraints.append(Constraint(present, count, sum(counts) == len(members)))
    return IntegerProgram(tuple(variables), tuple(constraints))


def distribution_with(program: IntegerProgram, tuple_: int, value: int) -> dict[int, int] | None:
    """A distribution in which a tuple has a value, or None if there is none."""
    if (tuple_, value) not in program.variables:
        return None
    solution = program.solve((tuple_, value))
    if solution is None:
        return None
    return {t: v for (t, v), x in zip(program.variables, solution, strict=True) if x > 0.5}


def signatures_by_program(knowledge: Knowledge, truth: Integers | None = None) -> list[frozenset[int]]:
    """The signature of every tuple, by one program for every pair (but a true value needs none)."""
    program = integer_program(knowledge)

    def possible(tuple_: int, value: int) -> bool:
        return (truth is not None and truth[tuple_] == value) or distribution_with(
            program, tuple_, value
        ) is not None

    return [
        frozenset(value for value in knowledge.candidates(tuple_) if possible(tuple_, value))
        for tuple_ in range(knowledge.tuples)
    ]


def is_k_assign_anonymous(knowledge: Knowledge, k: int, truth: Integers | None = None) -> bool:
    """Whether every tuple ever returned can have at least k values."""
    program = integer_program(knowledge)
    for tuple_ in range(knowledge.tuples):
        candidates = knowledge.candidates(tuple_)
        found = 0
        for place, value in enumerate(candidates):
            if found >= k or found + len(candidates) - place < k:
                break
            known = truth is not None and truth[tuple_] == value
            found += known or distribution_with(program, tuple_, value) is not None
        if found < k:
            return False
    return True
