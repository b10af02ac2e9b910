"""The fast exact test: which values can each tuple have?

Instead of asking a solver for each tuple and value, as `ilp` does, witnesses are collected until nothing is
left to show: each witness shows a value for every tuple at once. Local search makes most of them. The
solver is asked one question for all the rest ("a distribution with at least one pair that nobody has shown
yet") and either gives a witness, from which the local search goes on, or proves that all these pairs are
impossible. Proofs are kept in the knowledge: what was impossible once stays so, whatever is published
later.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.problem import problem
from tarnkappe.gate.solver import FeasibleAssignment, Impossible, solver

STEPS = 100
"""How long the local search tries to mend one witness before the solver is asked."""


class ContradictionError(ValueError):
    """There is no distribution at all: no table can have given these results."""


def representatives(knowledge: Knowledge) -> Integers:
    """One tuple of each kind, in the order of the kinds."""
    return np.unique(knowledge.view.kind, return_index=True)[1].astype(np.int32)


def any_distribution(knowledge: Knowledge) -> Integers:
    """Some distribution, for histories of which the true one is not known."""
    distribution = np.full(knowledge.tuples, -1, dtype=np.int32)
    while (distribution < 0).any():
        question = problem(knowledge, int(np.argmin(distribution)))
        verdict = solver(question).ask(list(range(len(question.kinds))), {})
        if not isinstance(verdict, FeasibleAssignment):
            raise ContradictionError("no table can have given these results: there is no distribution")
        distribution = question.deal(verdict.counts, knowledge, distribution)
    return distribution


def signatures(knowledge: Knowledge, truth: Integers | None = None) -> list[frozenset[int]]:
    """The exact signature of every tuple. The true distribution, if it is known, saves a search.

    >>> knowledge = Knowledge(values=3)
    >>> _ = knowledge.publish([0, 1], [1, 1, 0]), knowledge.publish([1, 2], [0, 1, 1])
    >>> [sorted(signature) for signature in signatures(knowledge)]  # tuple 0 is betrayed too
    [[0], [1], [2]]
    """
    pool = Pool(knowledge)
    pool.add(any_distribution(knowledge) if truth is None else truth)
    settle(pool)
    shown = pool.shown[knowledge.view.kind] > 0
    return [frozenset(np.flatnonzero(row).tolist()) for row in shown]


def settle(
    pool: Pool, k: int | None = None, effort: float | None = None, *, keeps_proofs: bool = True
) -> bool:
    """Complete a pool (of at least one witness) until it shows every possible value of every tuple, or k
    values of each where there are so many.

    What is impossible is noted in the knowledge, unless proofs are not to be kept. Returns False if the
    solver's effort did not suffice to decide everything; what is then missing in the pool counts as
    impossible for whoever wants to be safe.
    """
    knowledge = pool.knowledge
    enough = knowledge.values if k is None else k
    everyone = representatives(knowledge)
    pool.seek(everyone, enough, STEPS)
    decided = True
    done = np.zeros(knowledge.tuples, dtype=np.bool_)
    for tuple_ in everyone:
        if not done[tuple_] and pool.unsettled(enough).any():
            question = problem(knowledge, int(tuple_))
            done |= question.component
            exact = None
            while targets := question.pairs_of(pool.unsettled(enough)):
                exact = exact or solver(question)
                verdict = exact.ask(targets, {}, effort)
                if isinstance(verdict, FeasibleAssignment):
                    pool.add(question.deal(verdict.counts, knowledge, pool.values[0]))
                    pool.seek(everyone, enough, STEPS)
                    continue
                if not isinstance(verdict, Impossible):
                    decided = False
                elif keeps_proofs:
                    for pair in targets:
                        knowledge.exclude(question.kinds[pair], question.values[pair])
                break
    return decided
