"""Why rewriting ends: a measure that no move raises.

A move replaces a part of a plan; the number of leaves never grows. Look at the operators on the way from the
root to a leaf, give an operator its *weight* (a randomization counts its columns, a selection its
conjuncts, every other operator 1), and add up over all leaves, in this order of importance:

1. pairs of an anonymization above ∪, ⋈, ∩, − or ρ, by weight. Distributing (D12, D13, S8, S9, G15-G17) and
   passing a renaming lower it.
2. the columns that go into every operator but σ and π, by weight. Early projections (G10, G12, G13, S5, D9,
   ProjJoin, ProjUnion, ProjGroup) lower it, also where they are inserted: a helper projection must drop a column.
3. pairs of σ or π above an operator that it may pass (σ above π and γ as well), by weights. Push-down lowers it.
4. operators. Removing and merging lower it.
5. columns and sets that parameters name. Striking superfluous names lowers it.

The weights make splits neutral: noise on A and B is worth as much as noise on A above noise on B; likewise
conjuncts. Splits are made only together with the push-down that they allow, which lowers 3.

Every move lowers this measure in lexicographic order, except swaps of two neighbouring anonymizations, which
leave it as it is. Natural numbers in lexicographic order are well-founded, so in a sequence of moves only
finitely many are not swaps; between two of these, the swaps reach finitely many arrangements, and the memo
looks at no plan of a group twice. A proper part of a plan has a smaller measure than the plan, so a
group never waits for itself. Hence exploration ends. No two rules of a run are each other's inverse, except
the swaps.
"""

from __future__ import annotations

from tarnkappe.algebra.expressions import conjuncts
from tarnkappe.algebra.nodes import (
    Anonymization,
    Generalization,
    Grouping,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
)
from tarnkappe.algebra.plan import Binary, Plan

Measure = tuple[int, int, int, int, int]


def measure(plan: Plan) -> Measure:
    """The measure of a plan, to be compared lexicographically.

    >>> from tarnkappe.algebra.nodes import Union
    >>> r, s = Relation("r", ("A",)), Relation("s", ("A",))
    >>> late = Randomization.of(Union(r, s), {"A": "1/4"})
    >>> early = Union(Randomization.of(r, {"A": "1/4"}), Randomization.of(s, {"A": "1/4"}))
    >>> measure(early) < measure(late)
    True
    """
    total = [0, 0, 0, 0, 0]
    for way in _ways(plan, []):
        for place, node in enumerate(way):
            below = way[place + 1 :]
            weight = _weight(node)
            if isinstance(node, Anonymization):
                total[0] += weight * sum(isinstance(other, Binary | Rename) for other in below)
            if below and not isinstance(node, Selection | Projection):
                total[1] += weight * len(below[0].columns)
            if isinstance(node, Selection | Projection):
                total[2] += weight * sum(_passes(node, other) * _weight(other) for other in below)
            total[3] += 1
            total[4] += _named(node)
    return total[0], total[1], total[2], total[3], total[4]


def _ways(plan: Plan, above: list[Plan]) -> list[list[Plan]]:
    way = [*above, plan]
    return [found for child in plan.children for found in _ways(child, way)] or [way]


def _weight(node: Plan) -> int:
    match node:
        case Randomization(_, probabilities):
            return max(len(probabilities), 1)
        case Selection(_, predicate):
            return len(conjuncts(predicate))
    return 1


def _passes(node: Plan, below: Plan) -> bool:
    return isinstance(below, Anonymization | Binary | Rename) or (
        isinstance(node, Selection) and isinstance(below, Projection | Grouping)
    )


def _named(node: Plan) -> int:
    match node:
        case Generalization(_, by):
            return len(by)
        case SlicingNode(_, groups):
            return len(groups) + sum(map(len, groups))
        case Randomization(_, probabilities):
            return len(probabilities)
        case Relation():
            return 0
    return 0
