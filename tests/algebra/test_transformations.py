"""DP01-DP05 on plans: the published fixture, the derived ones, and the cases that must be blocked."""

from __future__ import annotations

import pytest

from tarnkappe.algebra.nodes import Plan, Projection, Randomization, Relation, Union
from tarnkappe.algebra.rules import LR, RULES, TRANSFORMATIONS
from tarnkappe.algebra.rules.transformation import NOTHING_KNOWN, Transformation

ATTRIBUTES = ("spender_id", "datum", "blutgruppe", "rhFaktor", "alter")


def spender(name: str = "spender") -> Relation:
    return Relation(name, ATTRIBUTES)


def noisy(child: Plan, **probabilities: str) -> Randomization:
    return Randomization.of(child, probabilities)


WHOLE = noisy(Union(spender("s1"), spender("s2")), datum="0.16")
PARTS = Union(noisy(spender("s1"), datum="0.16"), noisy(spender("s2"), datum="0.16"))
DP04_IN = Projection(
    noisy(spender(), blutgruppe="0.33", datum="0.16", rhFaktor="0.5"), ("datum", "blutgruppe")
)
DP04_OUT = noisy(Projection(spender(), ("blutgruppe", "datum")), blutgruppe="0.33", datum="0.16")
UNLIKE = Union(noisy(spender("s1"), datum="0.16"), noisy(spender("s2"), datum="0.17"))
ORDERED = Union(
    noisy(spender("s1"), datum="0.16", blutgruppe="0.5"), noisy(spender("s2"), blutgruppe="0.5", datum="0.16")
)
DISTINCT = Projection(DP04_IN.child, DP04_IN.onto, distinct=True)
SHOWN = Projection(noisy(spender(), blutgruppe="0.5"), ("datum", "blutgruppe"))


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("DP01", WHOLE, PARTS),
        ("DP02", PARTS, WHOLE),
        ("DP02", UNLIKE, UNLIKE),
        ("DP02", ORDERED, noisy(Union(spender("s1"), spender("s2")), datum="0.16", blutgruppe="0.5")),
        ("DP03", DP04_OUT, Projection(DP04_OUT.with_children(spender()), ("blutgruppe", "datum"))),
        ("DP04", DP04_IN, DP04_OUT),
        ("DP04", DISTINCT, DISTINCT),
        (
            "DP05",
            Projection(noisy(spender(), blutgruppe="0.5"), ("datum", "rhFaktor")),
            Projection(spender(), ("datum", "rhFaktor")),
        ),
        ("DP05", SHOWN, SHOWN),
    ],
)
def test_a_transformation_does_what_its_fixture_says(name: str, before: Plan, after: Plan) -> None:
    assert TRANSFORMATIONS[name](before) == after


def test_dp03_after_dp04_does_not_bring_back_what_was_struck_out() -> None:
    assert TRANSFORMATIONS["DP03"](TRANSFORMATIONS["DP04"](DP04_IN)) != DP04_IN


def test_dp04_may_leave_noise_without_columns_which_d1_removes() -> None:
    hidden = Projection(noisy(spender(), blutgruppe="0.5"), ("datum",))
    emptied = TRANSFORMATIONS["DP04"](hidden)
    assert emptied == noisy(Projection(spender(), ("datum",)))
    (rewrite,) = RULES["D1"].apply(emptied, LR, NOTHING_KNOWN)
    assert rewrite.plan == Projection(spender(), ("datum",)) == TRANSFORMATIONS["DP05"](hidden)


def test_nested_places_are_transformed_until_none_is_left() -> None:
    s1, s2, s3 = (spender(name) for name in ("s1", "s2", "s3"))
    nested = noisy(Union(Union(s1, s2), s3), datum="0.16")
    leaves = [noisy(s, datum="0.16") for s in (s1, s2, s3)]
    pushed = TRANSFORMATIONS["DP01"](nested)
    assert pushed == Union(Union(leaves[0], leaves[1]), leaves[2])
    assert TRANSFORMATIONS["DP02"](pushed) == nested


def test_a_place_below_another_operator_is_found_and_the_rest_stays() -> None:
    plan = Projection(WHOLE, ("datum",))
    assert TRANSFORMATIONS["DP01"](plan) == Projection(PARTS, ("datum",))


def test_any_rule_can_be_named_as_a_transformation() -> None:
    remove = Transformation("no superfluous noise", RULES["D1"], LR)
    assert remove(noisy(noisy(spender()))) == spender()
