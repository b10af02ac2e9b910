"""The worked examples of the literature: every figure that needs only losses."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tarnkappe.loss import LOSSES, AverageClassSize, LeafLoss, Leaves, PrecisionStar
from tarnkappe.privacy import KAnonymity, protect
from tarnkappe.table import ClassState, Tuples
from tarnkappe.table.classes import release_everything
from tests.adult import read_rows, read_tuples
from tests.conftest import FIXTURES

LOCAL = FIXTURES / "local"
QUASI_IDENTIFIERS = ("age", "sex", "zip")
NODES = read_rows(LOCAL / "lattice.csv")

LATTICE_COLUMNS = {
    "entropy": LOSSES.create("entropy", {}),
    "entropy_uniform": LOSSES.create("entropy-uniform", {}),
    "loss_leaves_in_data": LeafLoss(leaves=Leaves.DATA),
    "discernibility_star": LOSSES.create("discernibility-star", {}),
    "aecs_p_2": AverageClassSize(2),
    "level": LOSSES.create("height", {}),
}


@cache
def running_example() -> Tuples:
    """Eight patients: age, sex and postcode identify, the diagnosis is sensitive."""
    names = (*QUASI_IDENTIFIERS, "diagnosis")
    return read_tuples(
        LOCAL / "running-example.csv", {name: LOCAL / f"hierarchy_{name}.csv" for name in names}
    )


def at(*levels: int) -> ClassState:
    return release_everything(running_example().classes(QUASI_IDENTIFIERS, levels))


def without(state: ClassState, *rows: int) -> ClassState:
    """The state with the classes of some rows suppressed."""
    kept = state.kept.copy()
    kept[state.classes.ids[list(rows)]] = False
    return ClassState(state.classes, kept)


def loss_of(name: str, state: ClassState) -> float:
    return LOSSES.create(name, {})(state)


@pytest.mark.parametrize("node", NODES, ids=lambda n: f"{n['age']},{n['sex']},{n['zip']}")
def test_every_node_of_the_running_example(node: dict[str, str]) -> None:
    state = at(*(int(node[name]) for name in QUASI_IDENTIFIERS))
    assert state.num_kept == int(node["classes"])
    assert state.classes.sizes.min() == int(node["smallest_class"])
    assert 1 - PrecisionStar()(state) == pytest.approx(float(node["pm_star"]), abs=5e-5)
    for column, loss in LATTICE_COLUMNS.items():
        assert loss(state) == pytest.approx(float(node[column]), abs=5e-5), column
    # Without suppression the variants that consider it say the same.
    assert loss_of("precision", state) == pytest.approx(loss_of("precision-star", state))
    assert loss_of("entropy-suppression-aware", state) == loss_of("entropy", state)
    assert (
        loss_of("discernibility", state)
        == loss_of("discernibility-star-released", state)
        == loss_of("discernibility-star", state)
    )


def test_the_rows_of_the_lattice_are_all_nodes() -> None:
    assert len({tuple(node[name] for name in QUASI_IDENTIFIERS) for node in NODES}) == 36


def test_uniform_entropy_falls_where_entropy_rises() -> None:
    assert loss_of("entropy-uniform", at(1, 0, 3)) == pytest.approx(8)
    assert loss_of("entropy-uniform", at(1, 0, 4)) == pytest.approx(7)
    assert loss_of("entropy", at(1, 0, 3)) == pytest.approx(28)
    assert loss_of("entropy", at(1, 0, 4)) == pytest.approx(36)


def test_one_suppressed_class_adds_no_entropy() -> None:
    """The rows 1 and 4, which recursive-(4,2)-diversity forbids, have the same values at (1,0,3)."""
    state = without(at(1, 0, 3), 1, 4)
    assert state.suppressed_rows == 2
    assert loss_of("entropy-suppression-aware", state) == pytest.approx(28)


def test_two_suppressed_classes_add_what_tells_them_apart() -> None:
    state = protect(at(1, 1, 5).classes, [KAnonymity(3)])
    assert state.suppressed_rows == 4
    assert loss_of("entropy", state) == pytest.approx(44)
    assert loss_of("entropy-suppression-aware", state) == pytest.approx(48)


def test_leaves_may_be_counted_over_the_whole_hierarchy() -> None:
    assert LeafLoss(leaves=Leaves.DATA)(at(1, 0, 3)) == pytest.approx(0.2381, abs=5e-5)
    assert LeafLoss()(at(1, 0, 3)) == pytest.approx(0.2585, abs=5e-5)
    for node in NODES:
        state = at(*(int(node[name]) for name in QUASI_IDENTIFIERS))
        same = LeafLoss()(state) == pytest.approx(LeafLoss(leaves=Leaves.DATA)(state))
        assert same == (node["age"] != "1")


INCOGNITO = ("birthdate", "sex", "zipcode")


@pytest.mark.parametrize("node", read_rows(LOCAL / "incognito-nodes.csv"), ids=lambda n: n["sizes"])
def test_the_solutions_of_the_incognito_example(node: dict[str, str]) -> None:
    tuples = read_tuples(
        LOCAL / "incognito.csv", {name: LOCAL / f"hierarchy_incognito_{name}.csv" for name in INCOGNITO}
    )
    classes = tuples.classes(INCOGNITO, [int(node[name]) for name in INCOGNITO])
    state = protect(classes, [KAnonymity(2)])
    assert state.suppressed_rows == 0
    assert sorted(classes.sizes) == [int(size) for size in node["sizes"].split()]
    assert 1 - loss_of("precision", state) == pytest.approx(float(Fraction(node["precision"])))
    assert loss_of("discernibility", state) == float(node["discernibility"])
    size = LOSSES.create("normalized-class-size", {"k": 2})(state)
    assert size == float(Fraction(node["normalized_class_size"]))


@pytest.mark.parametrize("table", ["four-anonymous", "three-diverse"])
def test_three_classes_of_four_are_as_good_as_can_be(table: str) -> None:
    """Diversity costs nothing here: both tables have three classes of four rows."""
    tuples = read_tuples(LOCAL / f"{table}.csv", {})
    state = protect(tuples.classes(("zipcode", "age", "nationality")), [KAnonymity(4)])
    assert np.array_equal(state.classes.sizes, [4, 4, 4])
    assert loss_of("discernibility", state) == 48
    assert LOSSES.create("normalized-class-size", {"k": 4})(state) == 1
