"""The game between publisher and attacker: payouts, and ties decided exactly."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.privacy import JournalistNoAttack, ProsecutorNoAttack, ProsecutorProfitability
from tarnkappe.privacy.no_attack import safe_size
from tarnkappe.privacy.profitability import information_loss
from tests.privacy.tables import weighted

AGES = {"1": "1-2", "2": "1-2", "3": "3-4", "4": "3-4"}
TABLE = weighted(
    {"age": ["1", "2", "3", "4"], "sex": ["f", "f", "f", "m"]},
    [1, 1, 3, 2],
    hierarchies={
        "age": [AGES, dict.fromkeys(AGES, "*")],
        "sex": [{"f": "*", "m": "*"}],
    },
)


def payouts(model: ProsecutorProfitability, levels: tuple[int, int]) -> dict[str, tuple[float, bool]]:
    classes = TABLE.classes(["age", "sex"], levels)
    values = zip(model.measure(classes).tolist(), model.holds(classes).tolist(), strict=True)
    return {classes.labels(i)["age"]: value for i, value in enumerate(values)}


@pytest.mark.parametrize(
    ("levels", "expected"), [((0, 0), 0), ((1, 0), 1 / 3), ((1, 1), 2 / 3), ((2, 1), 1), ((0, 1), 1 / 3)]
)
def test_information_is_lost_by_the_logarithm(levels: tuple[int, int], expected: float) -> None:
    """Four ages and two sexes tell three bits; every step takes one of them."""
    assert information_loss(TABLE.classes(["age", "sex"], levels)) == pytest.approx(expected)


def test_the_publisher_loses_only_where_an_attack_pays() -> None:
    """A gain of 6 for a cost of 2 pays in classes of less than three."""
    model = ProsecutorProfitability(30, 45, 6, 2)
    found = payouts(model, (0, 0))
    assert found == {
        "1": (pytest.approx(30 - 45), False),
        "2": (pytest.approx(30 - 45), False),
        "3": (pytest.approx(30), True),
        "4": (pytest.approx(30 - 45 / 2), True),
    }


def test_a_payout_of_exactly_nothing_does_not_pay() -> None:
    """Two thirds of 3 are left, and a loss of 4 strikes one of two: nothing is gained."""
    tie = ProsecutorProfitability(3, 4, 10, 1)
    assert payouts(tie, (1, 0))["1-2"] == (pytest.approx(0, abs=1e-12), False)
    better = ProsecutorProfitability(3, 3.9999999999999, 10, 1)
    assert payouts(better, (1, 0))["1-2"][1]
    assert not any(holds for _, holds in payouts(ProsecutorProfitability(3, 0, 0, 0), (2, 1)).values())


def test_where_there_is_nothing_to_tell_nothing_is_lost() -> None:
    table = weighted({"age": ["1"]}, [4], hierarchies={"age": [{"1": "*"}]})
    classes = table.classes(["age"], [1])
    assert information_loss(classes).tolist() == [0]
    assert information_loss(weighted({"age": ["1", "2"]}, [1, 1]).classes(["age"])).tolist() == [0, 0]
    assert ProsecutorProfitability(1, 4, 5, 1).holds(classes).tolist() == [False]
    assert ProsecutorProfitability(1, 3.9, 5, 1).holds(classes).tolist() == [True]


def test_an_attack_that_just_covers_its_cost_does_not_pay() -> None:
    classes = weighted({"age": ["1", "2"]}, [2, 3], population=[3, 9]).classes(["age"])
    assert safe_size(0.3, 0.1) == 3
    assert ProsecutorNoAttack(0.3, 0.1).holds(classes).tolist() == [False, True]
    assert JournalistNoAttack(0.3, 0.1).holds(classes).tolist() == [True, True]
    assert np.allclose(JournalistNoAttack(0.9, 0.1).measure(classes), [0.2, 0])
