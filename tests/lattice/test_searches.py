"""All searches on the same problems: they agree with exhaustive search, or say that they are not made for it."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import OLA, SEARCHES, Exhaustive, Flash, Incognito, Samarati, Search, SearchProblem
from tarnkappe.lattice.traversal import NodeKnowledge, Traversal
from tarnkappe.loss import LOSSES, Height
from tarnkappe.privacy import MODELS
from tarnkappe.schema import replace
from tests.lattice.random_problems import CASES, NEEDS_NO_IMPLIED_CRITERIA, random_problem
from tests.random_tables import build_tuples

MADE_FOR_LESS: dict[str, str] = {
    "flash": "monotone criterion and loss",
    "ola": "monotone criterion and loss",
    "incognito": "monotone criterion",
    "samarati": "height",
}
"""The searches that are not right for all models and losses; all others must never refuse."""

seeds = st.integers(0, 2**32 - 1)
fewer = settings(max_examples=settings().max_examples // 8)
"""Each example is searched by all searches in all their variants; the thorough run draws thousands."""
fewest = settings(max_examples=settings().max_examples // 20)


def suits(kind: type[Search], problem: SearchProblem, case: int) -> bool:
    """Whether a search is defined for a problem."""
    match MADE_FOR_LESS.get(kind.name):
        case "monotone criterion and loss":
            return case == 1
        case "monotone criterion":
            return case <= 2
        case "height":
            return case <= 2 and isinstance(problem.loss, Height)
        case _:
            return True


def exact_searches() -> list[type[Search]]:
    return [kind for kind in SEARCHES if kind.is_exact and kind is not Exhaustive]


def variants(kind: type[Search], implied: bool) -> list[Search]:
    """A search with each of its parameters that must not change the result."""
    plain = kind(implied_criteria=implied, seconds=None)
    changed: list[Search] = [
        replace(plain, lower_bounds=not plain.lower_bounds),
    ]
    if kind is Incognito:
        changed += [replace(plain, variant=variant) for variant in ("basic", "cube")]
    if kind is OLA:
        changed.append(replace(plain, order="lexicographic"))
    if kind.name == "flash-parallel":
        changed.append(replace(plain, threads=3))
    return [plain, *changed]


@pytest.mark.parametrize("case", CASES)
@given(seed=seeds, limited=st.booleans())
@fewer
def test_every_search_agrees_with_exhaustive_search(case: int, seed: int, limited: bool) -> None:
    problem = random_problem(seed, case, limited=limited)
    implied = case not in NEEDS_NO_IMPLIED_CRITERIA
    expect_agreement(problem, case, implied)


@given(seed=seeds, limited=st.booleans())
@fewest
def test_every_search_agrees_on_the_least_height(seed: int, limited: bool) -> None:
    expect_agreement(random_problem(seed, 1, limited=limited, loss=Height()), 1, implied=True)


def expect_agreement(problem: SearchProblem, case: int, implied: bool) -> None:
    if problem.limit == 0:
        return
    truth = Exhaustive().run(problem)
    assert truth.checked == problem.num_nodes
    assert Traversal(problem, implied_criteria=implied).case == case
    for kind in exact_searches():
        for search in variants(kind, implied) if suits(kind, problem, case) else ():
            found = search.run(problem)
            assert found.levels == truth.levels, search
            assert found.optimal
            assert (found.best is None) == (truth.best is None)
            if found.best is not None and truth.best is not None:
                assert found.best.loss == pytest.approx(truth.best.loss, rel=1e-12)
                assert problem.evaluate(found.best.node).satisfied
            assert found.nodes == problem.num_nodes
            assert found.checked <= problem.num_nodes or kind is Incognito


@given(seed=seeds, case=st.sampled_from(CASES), limited=st.booleans())
@fewer
def test_no_node_is_tested_twice_and_none_outside_the_level_limits(
    seed: int, case: int, limited: bool
) -> None:
    problem = random_problem(seed, case, limited=limited)
    allowed = set(problem.nodes())
    for kind in exact_searches():
        if problem.limit == 0 or not suits(kind, problem, case) or kind is Incognito:
            continue
        attempt = kind.state(problem)
        kind().search(attempt)
        assert len(set(attempt.tests)) == len(attempt.tests), kind.name
        assert allowed.issuperset(attempt.tests), kind.name
        assert attempt.checker.counters.checked == len(attempt.tests), kind.name


@pytest.mark.parametrize("case", [3, 5])
@given(seed=seeds)
@fewest
def test_what_is_excluded_by_the_loss_alone_stays_unknown(case: int, seed: int) -> None:
    """In cases 3 and 5 a node above a satisfying one is not tested, and nobody may call it satisfying."""
    problem = random_problem(seed, case)
    if problem.limit == 0:
        return
    traversal = Traversal(problem, implied_criteria=case == 3)
    SEARCHES["flash-2p"]().search(traversal)
    for node in problem.nodes():
        if traversal.knows(node, NodeKnowledge.GOOD):
            assert traversal.knows(node, NodeKnowledge.CHECKED)
        if traversal.knows(node, NodeKnowledge.GOOD | NodeKnowledge.BAD):
            assert traversal.knows(node, NodeKnowledge.GOOD) == problem.evaluate(node).satisfied


@pytest.mark.parametrize("kind", exact_searches(), ids=lambda kind: kind.name)
def test_a_search_refuses_what_it_is_not_made_for_and_says_what_to_do(kind: type[Search]) -> None:
    for case in CASES:
        problem = random_problem(11, case)
        assert problem.limit > 0
        if suits(kind, problem, case):
            kind().run(problem)
            continue
        with pytest.raises(ParameterError, match=rf"'{kind.name}' .*'auto'") as refusal:
            kind().run(problem)
        assert ("monotone" in str(refusal.value)) or ("height" in str(refusal.value))


@pytest.mark.parametrize(
    "parameters", [{"weights": {"q0": 2.0}}, {"aggregate": "geometric-mean"}, {"aggregate": "maximum"}]
)
def test_samarati_refuses_a_height_that_is_not_the_sum_of_the_levels(parameters: dict[str, object]) -> None:
    problem = random_problem(11, 1, loss=LOSSES.create("height", parameters))
    with pytest.raises(ParameterError, match="finds the least height and nothing else"):
        Samarati().run(problem)


def column_problem(height: int, satisfied_from: int, **changes: object) -> SearchProblem:
    """One column whose labels merge into pairs at one level: two rows that look alike from there on."""
    maps = {
        "q": [{0: "a", 1: "b"}] * (satisfied_from - 1) + [{0: "*", 1: "*"}] * (height - satisfied_from + 1)
    }
    return SearchProblem(
        build_tuples([{"q": 0}, {"q": 1}], maps),
        ("q",),
        (MODELS.create("k-anonymity", {"k": 2}),),
        Height(),
        **changes,
    )


def test_samarati_asks_each_level_anew() -> None:
    """Printed without resetting the flag, the search takes level 1 for satisfying because level 4 was."""
    problem = column_problem(8, 3)
    assert printed_samarati(problem) == 4
    assert Samarati().run(problem).levels == (3,)


def printed_samarati(problem: SearchProblem) -> int | None:
    """The listing as printed: the flag is set once and never taken back."""
    low, high, found, result = 0, sum(problem.lattice.heights), False, None
    while low <= high:
        middle = (low + high) // 2
        if problem.evaluate((middle,)).satisfied:
            found, result = True, middle
        low, high = (low, middle - 1) if found else (middle + 1, high)
    return result


@pytest.mark.parametrize("kind", exact_searches(), ids=lambda kind: kind.name)
class TestEdges:
    """Where listings as printed forget a node."""

    def test_only_the_top_satisfies(self, kind: type[Search]) -> None:
        for height in (1, 2, 5):
            assert kind().run(column_problem(height, height)).levels == (height,)

    def test_nothing_satisfies(self, kind: type[Search]) -> None:
        found = kind().run(column_problem(3, 3, level_limits={"q": (0, 2)}))
        assert found.best is None
        assert found.optimal

    def test_only_one_node_may_be_chosen(self, kind: type[Search]) -> None:
        found = kind().run(column_problem(4, 2, level_limits={"q": (3, 3)}))
        assert (found.levels, found.checked, found.nodes) == ((3,), 1, 1)


def test_flash_tells_what_is_not_monotone() -> None:
    with pytest.raises(ParameterError, match="and the loss is not: use 'flash-2p' or 'auto'"):
        Flash().run(random_problem(11, 2))
    with pytest.raises(ParameterError, match=r"and the criterion is not: .* practical_monotonicity = true"):
        Flash().run(random_problem(11, 3))
    with pytest.raises(ParameterError, match="and the criterion and the loss are not"):
        Flash().run(random_problem(11, 6))


IN_THE_TOTAL_ORDER = ("flash", "flash-2p", "flash-dfs", "dfs", "ola", "samarati")


@given(seed=seeds, data=st.data())
@fewer
def test_the_tests_do_not_depend_on_the_order_of_the_columns(seed: int, data: st.DataObject) -> None:
    problem = random_problem(seed, 1, loss=Height())
    names = problem.quasi_identifiers
    shuffled = tuple(data.draw(st.permutations(names)))
    other = dataclasses.replace(problem, quasi_identifiers=shuffled)
    for kind in (SEARCHES[name] for name in IN_THE_TOTAL_ORDER):
        tests, others = Traversal(problem), Traversal(other)
        kind().search(tests)
        kind().search(others)
        back = [tuple(node[shuffled.index(name)] for name in names) for node in others.tests]
        assert back == tests.tests, kind.name


def test_only_nodes_that_are_looked_at_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = next(p for seed in range(1000) if (p := random_problem(seed, 1)).num_nodes >= 100)
    promise_nothing = dataclasses.replace(problem, models=(MODELS.create("k-anonymity", {"k": 1}),))
    sorted_nodes = set()
    order = SearchProblem.order

    def noted(self: SearchProblem, node: tuple[int, ...]) -> object:
        sorted_nodes.add(node)
        return order(self, node)

    monkeypatch.setattr(SearchProblem, "order", noted)
    assert Flash().run(promise_nothing).levels == promise_nothing.lattice.bottom
    assert 0 < len(sorted_nodes) < promise_nothing.num_nodes / 2
