"""The running example: all 36 nodes of its lattice against the published figures."""

from __future__ import annotations

import pytest

from tarnkappe.lattice import Exhaustive, SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, needed_distributions, protect, satisfied
from tarnkappe.table import Tuples
from tests.adult import read_rows, read_tuples
from tests.conftest import FIXTURES

LOCAL = FIXTURES / "local"
QUASI_IDENTIFIERS = ("age", "sex", "zip")
NODES = read_rows(LOCAL / "lattice.csv")


@pytest.fixture(scope="module")
def tuples() -> Tuples:
    names = (*QUASI_IDENTIFIERS, "diagnosis")
    return read_tuples(LOCAL / "running-example.csv", {n: LOCAL / f"hierarchy_{n}.csv" for n in names})


def measured(tuples: Tuples, node: dict[str, str], model: str, **parameters: object) -> tuple[float, bool]:
    """What a model measures at a node without suppression, and whether it holds."""
    made = MODELS.create(model, parameters)
    levels = tuple(int(node[name]) for name in QUASI_IDENTIFIERS)
    classes = tuples.classes(QUASI_IDENTIFIERS, levels, needed_distributions([made]))
    return made.value(classes, classes.released), satisfied(protect(classes, [made]), [made], 0)


@pytest.mark.parametrize("node", NODES, ids=lambda n: f"{n['age']}{n['sex']}{n['zip']}")
def test_every_model_measures_the_published_value(tuples: Tuples, node: dict[str, str]) -> None:
    close = pytest.approx(float(node["largest_distance"]), abs=5e-5)
    assert measured(tuples, node, "k-anonymity", k=2) == (
        int(node["smallest_class"]),
        node["two_anonymous"] == "yes",
    )
    distinct = measured(tuples, node, "distinct-diversity", column="diagnosis", l=2)
    assert distinct[0] == int(node["least_distinct_diagnoses"])
    recursive = measured(tuples, node, "recursive-diversity", column="diagnosis", c=4, l=2)
    assert recursive[1] == distinct[1] == (node["recursive_4_2_diverse"] == "yes")
    for distance in ("equal-closeness", "hierarchical-closeness"):
        value, holds = measured(tuples, node, distance, column="diagnosis", t=0.2)
        assert value == close
        assert holds == (float(node["largest_distance"]) <= 0.2)
    entropy = measured(tuples, node, "entropy-diversity", column="diagnosis", l=1)
    assert entropy[0] == pytest.approx(float(node["least_effective_diagnoses"]), abs=5e-5)


def test_the_satisfying_nodes_are_the_published_ones(tuples: Tuples) -> None:
    def good(model: str, **parameters: object) -> set[tuple[int, ...]]:
        return {
            tuple(int(n[name]) for name in QUASI_IDENTIFIERS)
            for n in NODES
            if measured(tuples, n, model, **parameters)[1]
        }

    anonymous = good("k-anonymity", k=2)
    assert anonymous == {(a, s, z) for a in (1, 2) for s in (0, 1) for z in (3, 4, 5)}
    diverse = {(1, 1, 4), (1, 1, 5), (2, 0, 4), (2, 0, 5), (2, 1, 3), (2, 1, 4), (2, 1, 5)}
    assert good("recursive-diversity", column="diagnosis", c=4, l=2) == diverse
    assert good("distinct-diversity", column="diagnosis", l=2) == diverse
    assert good("equal-closeness", column="diagnosis", t=0.2) == diverse
    assert good("hierarchical-closeness", column="diagnosis", t=0.2) == diverse


def test_presence_of_the_males_is_hidden_by_exactly_three_nodes(tuples: Tuples) -> None:
    sex = tuples.columns["sex"]
    males = (sex.codes == sex.labels.index("Male")).astype("int64") * tuples.counts
    research = Tuples(tuples.columns, males, tuples.counts)
    model = MODELS.create("delta-presence", {"minimum": 0, "maximum": 0.5})
    for node in NODES:
        levels = tuple(int(node[name]) for name in QUASI_IDENTIFIERS)
        classes = research.classes(QUASI_IDENTIFIERS, levels)
        assert model.value(classes, classes.released) == pytest.approx(float(node["largest_presence"]))
        holds = satisfied(protect(classes, [model]), [model], 0)
        assert holds == (levels in {(2, 1, 3), (2, 1, 4), (2, 1, 5)})


def solve(tuples: Tuples, loss: str, limit: float, model: str, **parameters: object):
    models = (MODELS.create(model, parameters),)
    problem = SearchProblem(tuples, QUASI_IDENTIFIERS, models, LOSSES.create(loss, {}), limit)
    return Exhaustive().run(problem)


def test_the_optimum_for_two_anonymity_is_the_published_node(tuples: Tuples) -> None:
    solution = solve(tuples, "entropy", 0, "k-anonymity", k=2)
    assert solution.levels == (1, 0, 3)
    assert solution.best is not None
    assert solution.best.loss == pytest.approx(28)
    assert solution.optimal


def test_seven_equally_good_nodes_are_told_apart_by_the_order(tuples: Tuples) -> None:
    solution = solve(tuples, "aecs-released", 0.25, "recursive-diversity", column="diagnosis", c=4, l=2)
    assert solution.levels == (1, 0, 3)
    assert solution.best is not None
    assert (solution.best.suppressed, solution.best.classes) == (2, 3)
