"""Promises: what a plan says of its result holds on all small relations, and what it ends may be broken."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Join,
    Plan,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
    Union,
)
from tarnkappe.algebra.promises import Promise, ended, promises
from tarnkappe.algebra.semantics import evaluate, is_k_anonymous
from tarnkappe.algebra.space import WorldSpace
from tarnkappe.algebra.sql.expressions import read_predicate
from tarnkappe.errors import NoSolutionError

R = Relation("r", ("A", "B", "C"))
S = Relation("s", ("A", "B", "C"))
G = Generalization(R, ("A", "B"), 3)


def said(plan: Plan) -> list[str]:
    return [str(promise) for promise in promises(plan)]


def test_operators_keep_restrict_or_end_a_promise() -> None:
    assert said(G) == ["3-anonymous in A, B"]
    assert said(Projection(G, ("A", "C"))) == ["3-anonymous in A"]
    assert said(Projection(G, ("C",))) == []
    assert said(Projection(G, ("A", "B", "C"), distinct=True)) == []
    assert said(Rename(G, (("A", "X"),))) == ["3-anonymous in B, X"]
    assert said(Selection(G, read_predicate("C = 'c'"))) == []
    assert said(Randomization.of(G, {"A": "1/2", "C": "1/2"})) == ["3-anonymous in B"]
    assert said(SlicingNode(G, (("A", "C"), ("B",)))) == ["3-anonymous in A", "3-anonymous in B"]
    assert said(Generalization(G, ("C",), 2)) == ["3-anonymous in A, B", "2-anonymous in C"]
    assert said(Generalization(G, ("A",), 2)) == ["3-anonymous in A, B"]
    assert said(Join(G, S)) == []
    assert said(Grouping(G, ("A", "B"), ())) == []
    assert said(Generalization(R, ("A",), 1)) == []


def test_a_union_promises_what_both_sides_do() -> None:
    assert said(Union(G, S)) == []
    assert said(Union(G, Generalization(S, ("B", "C"), 2))) == ["2-anonymous in B"]


def test_what_ends_a_promise_is_named() -> None:
    late = Selection(G, read_predicate("C = 'c'"))
    assert list(ended(late)) == [(G, late)]
    assert list(ended(Projection(late, ("A",)))) == [(G, late)]
    assert list(ended(Generalization(late, ("A", "B"), 3))) == [(G, late)]
    assert list(ended(Union(G, S))) == [(G, Union(G, S))]
    assert list(ended(Difference(G, S))) == [(G, Difference(G, S))]
    assert not list(ended(Union(G, G)))
    assert not list(ended(Projection(G, ("A", "B"))))


def test_a_promise_about_hidden_columns_has_not_ended() -> None:
    hidden = Projection(G, ("C",))
    assert not list(ended(Selection(hidden, read_predicate("C = 'c'"))))


STEPS = {
    "generalize A": lambda p: Generalization(p, ("A",), 2),
    "generalize AB": lambda p: Generalization(p, ("A", "B"), 2),
    "generalize more": lambda p: Generalization(p, ("B",), 3),
    "project": lambda p: Projection(p, ("A",)) if len(p.columns) > 1 else p,
    "distinct": lambda p: Projection(p, p.columns, distinct=True),
    "select": lambda p: Selection(p, read_predicate("A <> 'a1'")),
    "slice": lambda p: SlicingNode(p, tuple((column,) for column in p.columns)),
    "randomize": lambda p: Randomization.of(p, {"A": "1/2"}),
    "union": lambda p: Union(p, Generalization(Projection(Relation("s", ("A", "B")), p.columns), ("A",), 2)),
    "plain union": lambda p: Union(p, Projection(Relation("s", ("A", "B")), p.columns)),
}


@settings(max_examples=60)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4))
def test_every_promise_is_kept_on_all_small_relations(steps: list[str]) -> None:
    plan: Plan = Relation("r", ("A", "B"))
    for step in steps:
        plan = STEPS[step](plan)
    found = promises(plan)
    if not found:
        return
    for world in itertools.islice(WorldSpace.of(plan, worlds=40).worlds(plan), 200):
        try:
            result = evaluate(plan, world)
        except NoSolutionError:
            continue
        for rows, _ in result:
            for promise in found:
                assert is_k_anonymous(rows, result.columns, promise.columns, promise.k), promise


def test_a_selection_really_breaks_what_it_ends() -> None:
    """The counterexample that the warning is about: after the selection a class has one row."""
    plan = Selection(Generalization(Relation("r", ("A", "B")), ("A",), 2), read_predicate("B = 'b1'"))
    worlds = WorldSpace.of(plan).worlds(plan)

    def torn() -> bool:
        for world in worlds:
            try:
                result = evaluate(plan, world)
            except NoSolutionError:
                continue
            if any(not is_k_anonymous(rows, result.columns, ("A",), 2) for rows, _ in result):
                return True
        return False

    assert torn()
    assert promises(plan) == ()


def test_a_promise_is_data() -> None:
    assert Promise(frozenset("BA"), 2).as_dict() == {"columns": ["A", "B"], "k": 2}
