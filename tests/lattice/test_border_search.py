"""Which node a sweep tests next, and marking parts of the lattice, against plain definitions."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.lattice.border_search import MARGIN, choose
from tarnkappe.lattice.space import (
    CHECKED,
    CLOSED,
    FAILED,
    FOUND,
    NO_BETTER,
    is_open_between,
    mark_between,
    raise_between,
)

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4)
FACTS = st.sampled_from([0, 0, 0, CHECKED, FOUND, FAILED, NO_BETTER])


def strides_of(shape: list[int]) -> np.ndarray:
    return np.array([int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))], np.int64)


@given(shape=SHAPES, data=st.data())
def test_the_chosen_node_is_the_best_by_the_plain_definition(shape: list[int], data: st.DataObject) -> None:
    nodes = list(itertools.product(*map(range, shape)))
    known = np.array([data.draw(FACTS) for _ in nodes], np.uint8)
    bounds = np.array([data.draw(st.integers(0, 3)) for _ in nodes], float)
    terms = np.array([data.draw(st.integers(-4, 4)) / 4 for _ in range(sum(shape))])
    starts = np.cumsum(shape) - shape
    ceiling, border = 2.0, 0.1
    settled = data.draw(st.sampled_from([CHECKED | FOUND | FAILED, CHECKED | FAILED]))
    low, high = np.zeros(len(shape), np.int64), np.array(shape) - 1
    sizes = np.array(shape)
    order = np.argsort(-sizes, kind="stable")
    low, high, starts_there, strides = low, high[order], starts[order], strides_of(shape)[order]
    foretold = [float(sum(terms[s + level] for s, level in zip(starts, node, strict=True))) for node in nodes]
    is_open = [not known[i] & CLOSED and bounds[i] <= ceiling for i in range(len(nodes))]

    index = choose(known, bounds, ceiling, 0.0, terms, border, settled, low, high, starts_there, strides)

    if not any(is_open):
        assert index == -1
        return
    hopeful = [i for i in range(len(nodes)) if is_open[i] and foretold[i] <= border]
    if hopeful:
        assert index in hopeful
        assert bounds[index] == min(bounds[i] for i in hopeful)
        return

    def score(i: int) -> float:
        if known[i] & settled or foretold[i] - border <= MARGIN:
            return 0.0
        below = sum(
            is_open[j] and all(a <= b for a, b in zip(nodes[j], nodes[i], strict=True))
            for j in range(len(nodes))
        )
        return float(below) * min(1.0, 0.5 + (foretold[i] - border))

    most = max(score(i) for i in range(len(nodes)))
    if most == 0:
        assert is_open[index]
        assert foretold[index] == max(f for f, o in zip(foretold, is_open, strict=True) if o)
    else:
        assert score(index) == most
    levels = np.array([node for node, o in zip(nodes, is_open, strict=True) if o])[:, order]
    assert low.tolist() == levels.min(axis=0).tolist()
    assert high.tolist() == levels.max(axis=0).tolist()


@given(shape=SHAPES, data=st.data())
def test_a_fact_is_noted_between_two_nodes_and_nowhere_else(shape: list[int], data: st.DataObject) -> None:
    nodes = list(itertools.product(*map(range, shape)))
    low = data.draw(st.sampled_from(nodes))
    high = tuple(data.draw(st.integers(level, length - 1)) for level, length in zip(low, shape, strict=True))
    with_low = data.draw(st.booleans())
    known = np.zeros(len(nodes), np.uint8)
    mark_between(
        known, nodes.index(low), nodes.index(high), FAILED, with_low, np.array(shape), strides_of(shape)
    )
    for node, fact in zip(nodes, known.tolist(), strict=True):
        between = all(a <= b <= c for a, b, c in zip(low, node, high, strict=True))
        assert (fact == FAILED) == (between and (with_low or node != low))


@given(shape=SHAPES, data=st.data())
def test_bounds_are_raised_between_two_nodes_and_nowhere_else(shape: list[int], data: st.DataObject) -> None:
    nodes = list(itertools.product(*map(range, shape)))
    low = data.draw(st.sampled_from(nodes))
    high = tuple(data.draw(st.integers(level, length - 1)) for level, length in zip(low, shape, strict=True))
    between = [node for node in nodes if all(a <= b <= c for a, b, c in zip(low, node, high, strict=True))]
    before = [float(data.draw(st.integers(0, 3))) for _ in nodes]
    raised = {node: float(data.draw(st.integers(0, 3))) for node in between}
    box = (nodes.index(low), nodes.index(high), np.array(shape), strides_of(shape))

    one_by_one, all_alike = np.array(before), np.array(before)
    raise_between(one_by_one, np.array(list(raised.values())), *box)
    raise_between(all_alike, np.array([2.0]), *box)

    for index, node in enumerate(nodes):
        assert one_by_one[index] == max(before[index], raised.get(node, 0.0))
        assert all_alike[index] == max(before[index], 2.0 if node in raised else 0.0)
    known = np.array([data.draw(FACTS) for _ in nodes], np.uint8)
    is_open = [node in raised and not known[i] & CLOSED and before[i] <= 2 for i, node in enumerate(nodes)]
    assert is_open_between(known, CLOSED, np.array(before), 2.0, *box) == any(is_open)
