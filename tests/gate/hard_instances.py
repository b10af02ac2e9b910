"""Histories that encode logical formulas: deciding about them is as hard as deciding satisfiability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.gate import twin

Formula = Sequence[Sequence[int]]
"""Clauses of three literals; 3 is the third variable, -3 its negation."""

SATISFIABLE: Formula = [(1, 2, -3), (-2, -4, 5), (1, 4, 6)]
UNSATISFIABLE: Formula = [(a * 1, b * 2, c * 3) for a in (1, -1) for b in (1, -1) for c in (1, -1)]


def from_formula(formula: Formula) -> tuple[list[twin.Result], dict[int, int]]:
    """A sequence of results that has a distribution if and only if the formula can be satisfied (values 0 and 1).

    Returns the results and the tuple of each literal.
    """
    variables = sorted({abs(literal) for clause in formula for literal in clause})
    literals = [sign * v for v in variables for sign in (1, -1)]
    names: dict[object, int] = {}
    queries: list[list[int]] = []
    values: list[list[int]] = []

    def number(name: object) -> int:
        return names.setdefault(name, len(names))

    for j, clause in enumerate(formula):
        queries.append([number(literal) for literal in clause] + [number(("filler", j, i)) for i in (1, 2)])
        values.append([1, 1, 1, 0, 0])
    for variable in variables:
        queries.append([number(variable), number(-variable)])
        values.append([0, 1])
    return list(zip(queries, values, strict=True)), {literal: names[literal] for literal in literals}


def with_a_truth(results: Sequence[twin.Result], tuples: int) -> tuple[list[twin.Result], np.ndarray, int]:
    """Real results of real queries, in which one tuple can have value 1 if and only if the given ones have a distribution.

    Every given tuple gets the true value 0; helpers fill up what is missing, and are tied together so that they take
    the other value all at once. (One pair of tying results for each helper, not for each result as printed.)
    Returns the results, the truth and the tuple in question.
    """
    truth = dict.fromkeys(range(tuples), 0)
    a, b = tuples, tuples + 1
    helpers_a = list(range(tuples + 2, 2 * tuples + 2))
    helpers_b = list(range(2 * tuples + 2, 3 * tuples + 2))
    truth |= {a: 0, b: 1} | dict.fromkeys(helpers_a, 0) | dict.fromkeys(helpers_b, 1)
    queries = []
    for members, values in results:
        too_many = len(members) - list(values).count(0)
        queries.append([*members, *helpers_b[:too_many]])
    queries += [[b, helper] for helper in helpers_a] + [[a, helper] for helper in helpers_b] + [[a, b]]
    members, known, names = twin.numbered(queries, truth)
    return [(who, known[who].tolist()) for who in members], known, names.index(a)
