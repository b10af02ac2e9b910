"""The coding model, by hand."""

from __future__ import annotations

import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import SEARCHES, SearchProblem
from tarnkappe.loss import LeafLoss, Precision
from tarnkappe.privacy import KAnonymity, protect
from tests.random_tables import build_tuples

ROWS = [{"a": value} for value in [0, 0, 0, 1, 1, 2]]
TUPLES = build_tuples(ROWS, {"a": [{0: "x", 1: "x", 2: "y"}, dict.fromkeys(range(3), "*")]})


@pytest.mark.parametrize(
    ("coding_model", "kept", "suppressed"),
    [(0.0, 1.0, 0.0), (0.25, 1.0, 0.5), (0.5, 1.0, 1.0), (0.75, 0.5, 1.0), (1.0, 0.0, 1.0)],
)
def test_prices_follow_the_coding_model(coding_model: float, kept: float, suppressed: float) -> None:
    """At level 1 five of six rows are kept, at half of the height and with one of two other leaves hidden."""
    state = protect(TUPLES.classes(("a",), (1,)), [KAnonymity(2)])
    assert state.suppressed_rows == 1
    for loss in (Precision(coding_model=coding_model), LeafLoss(coding_model=coding_model)):
        assert (loss.price_of_generalization, loss.price_of_suppression) == (kept, suppressed)
        assert loss(state) == pytest.approx((kept * 5 * 0.5 + suppressed * 1) / 6)


@pytest.mark.parametrize(
    ("coding_model", "level", "bound"),
    [(0.1, 1, 5 * 0.2 / 6), (0.25, 1, 5 * 0.5 / 6), (0.4, 1, 5 * 0.5 / 6), (0.1, 2, 0.2), (0.4, 2, 0.8)],
)
def test_the_bound_charges_a_cell_at_most_what_a_suppressed_one_costs(
    coding_model: float, level: int, bound: float
) -> None:
    """Five of six cells hide half of the others at level 1, all hide everything at level 2."""
    columns = TUPLES.classes(("a",), (level,)).quasi_identifiers
    loss = LeafLoss(coding_model=coding_model)
    assert loss.lower_bound_at(TUPLES, columns, (level,)) == pytest.approx(bound)


@pytest.mark.parametrize(("coding_model", "level"), [(0.1, 0), (0.5, 0), (0.95, 2)])
def test_a_search_follows_the_coding_model(coding_model: float, level: int) -> None:
    problem = SearchProblem(TUPLES, ("a",), (KAnonymity(2),), Precision(coding_model=coding_model), 0.5)
    for name in ("auto", "exhaustive"):
        best = SEARCHES.create(name, {}).run(problem).best
        assert best is not None
        assert best.node == (level,)


def test_it_is_a_share() -> None:
    for wrong in (-0.1, 1.1, "half"):
        with pytest.raises(ParameterError, match=r"coding_model: .* is needed|coding_model: .* is allowed"):
            LeafLoss(coding_model=wrong)  # type: ignore[arg-type]
