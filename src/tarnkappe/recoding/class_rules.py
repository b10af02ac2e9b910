"""Models on classes as kernels ask them, one class at a time, from its size and the counts of its values.

Exchanging rows between classes asks for millions of classes that nearly nobody keeps. The models that are
told from size and counts are asked here; `Model.holds` says the same of whole batches, and where rounding
could decide, these rules say no. Models without a rule are asked of the outcome.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.privacy import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    RecursiveDiversity,
    SensitiveModel,
)
from tarnkappe.privacy.closeness import Closeness
from tarnkappe.privacy.exact import TOLERANCE, decimal
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Codes, Counts

Numbers = npt.NDArray[np.float64]
Values = npt.NDArray[np.int32]

DISTINCT, ENTROPY, RECURSIVE, CLOSE = range(4)
MOST_VALUES = 1_000
"""A column with more values has no rule: each look at a class would walk over a count for every value."""
LARGEST = 2**62
"""Products of whole numbers stay below this, or the model is asked of the outcome."""


class Rules(NamedTuple):
    """Some models on classes.

    Attributes:
        kind: what each rule asks for.
        first, stop: which of the counts it looks at.
        whole: (l, -, -) for DISTINCT, (l, numerator, denominator) for RECURSIVE, (rows of the whole table,
            left factor, right factor) for CLOSE: gap x left <= right x size.
        real: l for ENTROPY.
        tree_at, tree_size, node, parent, below: the tree of each CLOSE rule; see `privacy/earth_mover.py`.
    """

    kind: Counts
    first: Counts
    stop: Counts
    whole: Counts
    real: Numbers
    tree_at: Counts
    tree_size: Counts
    node_at: Counts
    node: Codes
    parent: Codes
    below: Counts


@compiled
def class_holds(rules: Rules, counts: Counts, inside: Counts) -> bool:
    """Whether all rules allow a class with these counts; `inside` is room for the largest tree."""
    # All in whole numbers but for the entropy, so ties are decided exactly. `inside` is cleared before each
    # tree, nodes up to the root, and carried up in the order of nodes, parents after children.
    for rule in range(len(rules.kind)):
        kind, first, stop = rules.kind[rule], rules.first[rule], rules.stop[rule]
        size, present, most = 0, 0, 0
        for value in range(first, stop):
            size += counts[value]
            present += counts[value] > 0
            most = max(most, counts[value])
        if size == 0:
            return False
        if kind == DISTINCT:
            if present < rules.whole[rule, 0]:
                return False
        elif kind == ENTROPY:
            logs = 0.0
            for value in range(first, stop):
                if counts[value] > 1:
                    logs += counts[value] * math.log(counts[value])
            # A tie may go either way in floating point: no is always safe.
            if math.exp(math.log(size) - logs / size) < rules.real[rule] * (1 + TOLERANCE):
                return False
        elif kind == RECURSIVE:
            if present < rules.whole[rule, 0]:
                return False
            tail = size - _largest(counts[first:stop], rules.whole[rule, 0] - 1)
            if most * rules.whole[rule, 2] >= rules.whole[rule, 1] * tail:
                return False
        else:
            nodes, at, start = rules.tree_size[rule], rules.tree_at[rule], rules.node_at[rule]
            inside[: nodes + 1] = 0
            for value in range(first, stop):
                inside[rules.node[start + value - first]] += counts[value]
            gap = 0
            for node in range(nodes):
                gap += abs(inside[node] * rules.whole[rule, 0] - rules.below[at + node] * size)
                inside[rules.parent[at + node]] += inside[node]
            if gap * rules.whole[rule, 1] > rules.whole[rule, 2] * size:
                return False
    return True


@compiled
def _largest(counts: Counts, number: int) -> int:
    """The sum of the so many largest counts."""
    # So many passes instead of a sort: l is small, and nothing is allocated for millions of classes. Equal
    # counts are told apart by their places, or one of them would be taken again and again.
    total, before, before_at = 0, np.iinfo(np.int64).max, -1
    for _ in range(number):
        best = -1
        for value in range(len(counts)):
            smaller = counts[value] < before or (counts[value] == before and value > before_at)
            if smaller and (best < 0 or counts[value] > counts[best]):
                best = value
        if best < 0:
            break
        total += counts[best]
        before, before_at = counts[best], best
    return total


class Ruled(NamedTuple):
    """Rules, what they look at, and what they leave to be asked.

    Attributes:
        rules: the models that have a rule.
        values: for each row and column, which of the counts it adds to; -1 for a suppressed cell.
        num_counts: how many counts there are.
        room: the nodes of the largest tree.
        others: the models that have none.
    """

    rules: Rules
    values: Values
    num_counts: int
    room: int
    others: tuple[Model, ...]


def ruled(rows: Tuples, models: Sequence[Model]) -> Ruled:
    """The rules of some models on classes."""
    at: dict[str, int] = {}
    columns: list[Values] = []
    total = 0
    lines: list[tuple[int, int, int, tuple[int, int, int], float]] = []
    trees: list[tuple[Codes, Codes, Counts]] = []
    tree_of: list[int] = []
    others: list[Model] = []
    for model in models:
        if type(model) is KAnonymity:
            continue  # a class has enough rows before it is asked for anything else
        line = _line(rows, model)
        if line is not None and _has_many_values(rows, model):
            line = None
        if line is None or not isinstance(model, SensitiveModel):
            others.append(model)
            continue
        kind, whole, real, tree = line
        if model.column not in at:
            column, visible = rows.columns[model.column], rows.visible_counts((model.column,))
            at[model.column] = total
            columns.append(np.where(visible > 0, column.codes + total, -1).astype(np.int32))
            total += column.cardinality
        first = at[model.column]
        lines.append((kind, first, first + rows.columns[model.column].cardinality, whole, real))
        tree_of.append(len(trees) if tree else -1)
        trees += [tree] if tree else []
    nodes = [np.zeros(0, np.int32), *(tree[0] for tree in trees)]
    parents = [np.zeros(0, np.int32), *(tree[1] for tree in trees)]
    belows = [np.zeros(0, np.int64), *(tree[2] for tree in trees)]
    rules = Rules(
        np.array([line[0] for line in lines], np.int64),
        np.array([line[1] for line in lines], np.int64),
        np.array([line[2] for line in lines], np.int64),
        np.array([line[3] for line in lines], np.int64).reshape(-1, 3),
        np.array([line[4] for line in lines], np.float64),
        np.array([sum(map(len, parents[: own + 1])) for own in tree_of], np.int64),
        np.array([len(parents[own + 1]) if own >= 0 else 0 for own in tree_of], np.int64),
        np.array([sum(map(len, nodes[: own + 1])) for own in tree_of], np.int64),
        np.concatenate(nodes),
        np.concatenate(parents),
        np.concatenate(belows),
    )
    values = np.stack(columns, axis=1) if columns else np.zeros((rows.num_tuples, 0), np.int32)
    return Ruled(rules, values, total, max(map(len, parents)) + 1, tuple(others))


def _has_many_values(rows: Tuples, model: Model) -> bool:
    """Whether a class would need more counts than it has rows many times over: numbers of persons do."""
    return isinstance(model, SensitiveModel) and rows.columns[model.column].cardinality > MOST_VALUES


def _line(
    rows: Tuples, model: Model
) -> tuple[int, tuple[int, int, int], float, tuple[Codes, Codes, Counts] | None] | None:
    """One model as a rule, or None if it has none."""
    if not isinstance(model, SensitiveModel) or model.given:
        return None
    if type(model) is DistinctDiversity:
        return DISTINCT, (model.l, 0, 0), 0.0, None
    if type(model) is EntropyDiversity:
        return ENTROPY, (0, 0, 0), float(model.l), None
    if type(model) is RecursiveDiversity:
        c = decimal(model.c)
        if max(c.numerator, c.denominator) * rows.num_rows >= LARGEST:
            return None
        return RECURSIVE, (model.l, c.numerator, c.denominator), 0.0, None
    if isinstance(model, Closeness):
        tree, t = model.tree(model.whole(rows)), decimal(model.t)
        whole, edge = int(tree.below[-1]), tree.edge
        left, right = edge.numerator * t.denominator, t.numerator * edge.denominator * whole
        if (len(tree.parents) + 1) * whole * rows.num_rows * left >= LARGEST:
            return None
        if right * rows.num_rows >= LARGEST:
            return None
        return CLOSE, (whole, left, right), 0.0, (tree.nodes, tree.parents, tree.below[:-1].copy())
    return None
