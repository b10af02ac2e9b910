"""Promises beyond k: what slicing cut apart and what noise covers, read from plans and checked on data."""

from __future__ import annotations

from fractions import Fraction

from tarnkappe.algebra.nodes import Grouping, Join, Relation, Rename, Union
from tarnkappe.algebra.optimizer.promise_check import lost, noised, separated
from tarnkappe.algebra.rules.samples import AB, ABC, R1, R2, cut, gen, noise, onto, where
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.world import World

LEFT, RIGHT = Relation("r1", ("A", "ID")), Relation("r2", ("B", "ID"))


def pairs(*texts: str) -> set[frozenset[str]]:
    return {frozenset(text) for text in texts}


def test_slicing_separates_columns_of_different_sets() -> None:
    assert separated(cut(ABC, "A", "BC")) == pairs("AB", "AC")
    assert separated(cut(cut(ABC, "A", "BC"), "AB", "C")) == pairs("AB", "AC", "BC")
    assert separated(onto(cut(ABC, "A", "BC"), "AB")) == pairs("AB")
    assert separated(gen(noise(where(cut(ABC, "A", "BC"), "B", "b"), A="1/4"), "C", 2)) == pairs("AB", "AC")
    assert separated(Rename(cut(AB, "A", "B"), (("A", "C"),))) == pairs("CB")
    assert separated(Grouping(cut(AB, "A", "B"), ("A",), ())) == set()


def test_a_union_separates_what_both_sides_do() -> None:
    assert separated(Union(cut(R1, "A", "B"), cut(R2, "A", "B"))) == pairs("AB")
    assert separated(Union(cut(R1, "A", "B"), R2)) == set()


def test_a_key_that_stays_with_the_data_on_both_sides_restores_the_rows() -> None:
    """The attacker joins by the key."""
    key = frozenset({"ID"})
    apart = Join(_cut(LEFT, "A"), _cut(RIGHT, "B"))
    assert frozenset("AB") in separated(apart)
    together = Join(LEFT, RIGHT)
    assert frozenset("AB") not in separated(together)
    half = Join(_cut(LEFT, "A"), RIGHT)
    assert frozenset("AB") in separated(half), "one loose side is enough"
    assert frozenset({"A"} | key) in separated(half)
    here = World({"r1": (("a1", 1), ("a2", 2)), "r2": (("b1", 1), ("b2", 2))}, bucket=2)
    assert len(evaluate(onto(half, "AB"), here)) == 2
    assert len(evaluate(onto(together, "AB"), here)) == 1


def _cut(part: Relation, column: str):  # type: ignore[no-untyped-def]
    from tarnkappe.algebra.nodes import SlicingNode

    return SlicingNode(part, ((column,), ("ID",)))


def test_noise_adds_up_and_a_union_has_the_least_of_its_sides() -> None:
    half = Fraction(1, 2)
    assert noised(noise(noise(AB, A="1/2"), A="1/2", B="1/2")) == {"A": Fraction(3, 4), "B": half}
    assert noised(Union(noise(R1, A="1/2"), noise(R2, A="1/4", B="1/2"))) == {"A": Fraction(1, 4)}
    assert noised(onto(noise(AB, A="1/2", B="1/2"), "B")) == {"B": half}
    assert noised(Join(noise(LEFT, A="1/2"), RIGHT)) == {"A": half}
    assert noised(Rename(noise(AB, A="1/2"), (("A", "C"),))) == {"C": half}
    assert noised(AB) == {}


def test_what_is_lost_is_said_in_words() -> None:
    assert list(lost(gen(AB, "A", 3), gen(AB, "A", 2))) == [
        "it is not known from the plan whether the result is 3-anonymous in A"
    ]
    assert list(lost(cut(AB, "A", "B"), AB)) == ["A and B would no longer be cut apart"]
    assert list(lost(noise(AB, A="1/2"), noise(AB, A="1/4"))) == ["the noise of A would be weaker"]
    assert list(lost(gen(AB, "A", 3), gen(AB, "AB", 4))) == []
    assert list(lost(where(gen(AB, "A", 3), "B", "b"), AB)) == []
