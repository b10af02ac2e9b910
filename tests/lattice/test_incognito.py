"""Incognito: every family of columns of the published example, its three variants, what it must refuse."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import Exhaustive, Incognito, Node, SearchProblem
from tarnkappe.lattice import incognito as module
from tarnkappe.lattice.incognito import Families, Variant
from tarnkappe.lattice.traversal import NodeKnowledge, Traversal
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tests.adult import read_tuples
from tests.conftest import FIXTURES
from tests.lattice.random_problems import random_problem

LOCAL = FIXTURES / "local"
COLUMNS = ("birthdate", "sex", "zipcode")
B, S, Z = 0, 1, 2

SATISFYING = {
    (B,): ["0", "1"],
    (S,): ["0", "1"],
    (Z,): ["0", "1", "2"],
    (B, S): ["01", "10", "11"],
    (B, Z): ["02", "10", "11", "12"],
    (S, Z): ["02", "10", "11", "12"],
    (B, S, Z): ["012", "102", "110", "111", "112"],
}
"""The published table: for each family, the levels at which every class has two rows."""


def example(limit: float = 0.0, loss: str = "height") -> SearchProblem:
    files = {name: LOCAL / f"hierarchy_incognito_{name}.csv" for name in COLUMNS}
    model = MODELS.create("k-anonymity", {"k": 2})
    return SearchProblem(
        read_tuples(LOCAL / "incognito.csv", files), COLUMNS, (model,), LOSSES.create(loss, {}), limit
    )


def searched(variant: Variant, problem: SearchProblem) -> tuple[Traversal, Families]:
    traversal = Traversal(problem)
    families = Families(traversal, variant)
    families.search()
    return traversal, families


@pytest.mark.parametrize("variant", Variant)
def test_every_family_has_the_published_satisfying_nodes(variant: Variant) -> None:
    _, families = searched(variant, example())
    found = {
        family: sorted("".join(map(str, levels)) for levels in zip(*mask.nonzero(), strict=True))
        for family, mask in families.satisfying.items()
    }
    assert found == SATISFYING


def test_what_fails_on_few_columns_is_not_tested_on_more() -> None:
    """Five of the twelve nodes of all columns are left; three of them have no satisfying node below."""
    traversal, _ = searched(Variant.BASIC, example())
    whole = traversal.tests[-3:]
    assert sorted(whole) == [(0, 1, 2), (1, 0, 2), (1, 1, 0)]
    good = [node for node in traversal.problem.nodes() if traversal.knows(node, NodeKnowledge.GOOD)]
    assert len(good) == 5
    assert traversal.all_known(traversal.bottom, traversal.top, NodeKnowledge.GOOD | NodeKnowledge.BAD)


def test_sex_with_the_most_general_zip_code_must_be_tested() -> None:
    """It lies above failing nodes only. The source says that it need not be tested."""
    traversal, _ = searched(Variant.BASIC, example())
    sex_and_zip = [(node[S], node[Z]) for node in traversal.tests[-7:-3]]
    assert sorted(sex_and_zip) == [(0, 0), (0, 1), (0, 2), (1, 0)]  # (1, 0) answers for (1, 1) and (1, 2)


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("loss", ["height", "precision", "discernibility-star"])
def test_the_best_of_all_satisfying_nodes_is_returned(variant: Variant, loss: str) -> None:
    problem = example(loss=loss)
    assert Incognito(variant=variant).run(problem).levels == Exhaustive().run(problem).levels


@given(seed=st.integers(0, 2**32 - 1), limited=st.booleans())
@settings(max_examples=settings().max_examples // 10)
def test_the_variants_make_the_same_tests_from_fewer_groups(seed: int, limited: bool) -> None:
    problem = random_problem(seed, 1, limited=limited)
    (basic, one), (superroots, two), (cube, three) = (searched(variant, problem) for variant in Variant)
    assert basic.tests == superroots.tests == cube.tests
    for family, mask in one.satisfying.items():
        assert (mask == two.satisfying[family]).all()
        assert (mask == three.satisfying[family]).all()
    groups = [t.checker.counters.groups for t in (basic, superroots, cube)]
    assert groups[1] <= groups[0]
    assert groups[2] <= groups[0]


@given(seed=st.integers(0, 2**32 - 1), limited=st.booleans())
@settings(max_examples=settings().max_examples // 10)
def test_every_node_of_every_family_is_classified_as_a_slow_search_would(seed: int, limited: bool) -> None:
    problem = random_problem(seed, 1, limited=limited)
    _, families = searched(Variant.SUPERROOTS, problem)
    ranges, top = problem.level_ranges, problem.lattice.top
    for family, mask in families.satisfying.items():
        for place in itertools.product(*(range(len(ranges[column])) for column in family)):
            levels: list[int] = list(top)
            for column, step in zip(family, place, strict=True):
                levels[column] = ranges[column][step]
            node: Node = tuple(levels)
            assert mask[place] == problem.evaluate(node).satisfied


@pytest.mark.parametrize("model", ["recursive-diversity", "equal-closeness"])
def test_a_criterion_that_suppression_makes_not_monotone_is_refused(model: str) -> None:
    """Leaving out a column merges classes, so the argument of the subsets holds for monotone criteria only."""
    parameters = {"recursive-diversity": {"c": 3, "l": 2}, "equal-closeness": {"t": 0.5}}[model]
    criterion = MODELS.create(model, {"column": "disease", **parameters})
    with_suppression, without = (
        SearchProblem(example().tuples, COLUMNS, (criterion,), LOSSES.create("entropy", {}), limit)
        for limit in (0.4, 0.0)
    )
    assert Incognito().run(without).levels == Exhaustive().run(without).levels
    with pytest.raises(ParameterError, match="'incognito' needs a criterion that is monotone"):
        Incognito().run(with_suppression)


def test_too_many_families_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NODES", 35)
    with pytest.raises(ParameterError, match="would search 36 nodes of all sets of columns"):
        Incognito().run(example())
