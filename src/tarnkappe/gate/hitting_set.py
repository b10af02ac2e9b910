"""A smallest set of artificial values that is not yet known to be insufficient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from tarnkappe.gate.knowledge import Booleans, Integers


@dataclass(frozen=True)
class ConflictSet:
    """Why a set of artificial values does not suffice for somebody.

    Attributes:
        need: how many of the options must come true.
        options: each comes true only if one of its labels is added more often than in that set.
        added: the set.
    """

    need: int
    options: tuple[frozenset[int], ...]
    added: Integers

    def excludes(self, added: Integers) -> bool:
        """Whether another set does not suffice either, for the same reason.

        >>> reason = ConflictSet(1, (frozenset({0, 2}),), np.array([0, 5, 1], dtype=np.int32))
        >>> reason.excludes(np.array([0, 9, 1])), reason.excludes(np.array([0, 0, 2]))
        (True, False)
        """
        more = set(np.flatnonzero(added > self.added).tolist())
        return sum(not more.isdisjoint(option) for option in self.options) < self.need


@dataclass(frozen=True)
class LabelCounts:
    """What is known from the labels alone: everybody needs k labels in the answer that he could have before.

    Attributes:
        could: the values that members of the answer could have before it, one row for each different set.
        real: how often each label really is in the answer.
    """

    could: Booleans
    real: Integers


def smallest(labels: LabelCounts, reasons: Sequence[ConflictSet], k: int, floor: Integers) -> Integers | None:
    """How often to add each label: at least as often as in `floor`, and not insufficient for any reason.

    Among equally small sets, labels that many members can have leave the most room for later answers.
    """
    width = len(labels.real)
    published = labels.real > 0
    missing = np.flatnonzero((labels.could & published).sum(axis=1) < k)
    if not reasons and not len(missing):
        return floor
    height = 1 + max([int(floor.max()), *(int(reason.added.max()) for reason in reasons)])
    rows: list[tuple[list[int], list[int], int]] = []  # variables, their coefficients, the least sum
    for member in missing:
        absent = np.flatnonzero(labels.could[member] & ~published).tolist()
        rows.append((absent, [1] * len(absent), k - int((labels.could[member] & published).sum())))
    for copy in range(1, height):  # a second copy of a label only together with the first
        rows += [([(copy - 1) * width + v, copy * width + v], [1, -1], 0) for v in range(width)]
    variables = height * width
    for reason in reasons:
        chosen = list(range(variables, variables + len(reason.options)))
        variables += len(reason.options)
        rows.append((chosen, [1] * len(chosen), reason.need))
        for option, needed in zip(chosen, reason.options, strict=True):
            raised = [int(reason.added[label]) * width + label for label in sorted(needed)]
            rows.append(([*raised, option], [*[1] * len(raised), -1], 0))
    use = labels.could.sum(axis=0) / (1 + len(labels.could))
    cost = np.zeros(variables)
    cost[: height * width] = np.tile(1 + (1 - use) / (1 + height * width), height)
    lower = np.zeros(variables)
    lower[: height * width] = (np.arange(height)[:, None] < floor).ravel()
    ends = np.cumsum([0, *(len(places) for places, _, _ in rows)])
    places = np.array([place for row, _, _ in rows for place in row])
    values = np.array([value for _, row, _ in rows for value in row], dtype=np.float64)
    solution = milp(
        cost,
        constraints=LinearConstraint(
            csr_array((values, places, ends), shape=(len(rows), variables)),
            np.array([least for _, _, least in rows]),
            np.inf,
        ),
        bounds=Bounds(lower, 1),
        integrality=np.ones(variables, dtype=np.int64),
    )
    if solution.x is None:
        return None
    added: Integers = (
        np.rint(solution.x[: height * width]).reshape(height, width).sum(axis=0).astype(np.int32)
    )
    return added
