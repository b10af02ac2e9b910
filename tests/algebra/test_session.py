"""Sessions: the blood donation example from SQL to a verified answer, and what is refused on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.declarations import Declarations
from tarnkappe.algebra.distribution import Rows, as_bag
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.session import QuerySession
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.statistics import RelationStatistics
from tarnkappe.errors import (
    AccessError,
    HierarchyError,
    NoSolutionError,
    ParameterError,
    QueryError,
    VerificationError,
)
from tarnkappe.state import Store
from tarnkappe.state.budgets import Budgets
from tarnkappe.table import Role, write
from tests.algebra.blood import EXAMPLES, HIERARCHIES, NOISE, rows, world

BUCKET = 3
TABLES = {name: EXAMPLES[name]["schema"] for name in ("BASE6", "BASE7", "BASE11")}
ROLES = {"A": Role.QUASI_IDENTIFIER, "C": Role.QUASI_IDENTIFIER, "B": Role.SENSITIVE}


def table(name: str) -> pa.Table:
    schema, cells = EXAMPLES[name]["schema"], EXAMPLES[name]["rows"]
    return pa.table({column: [row[i] for row in cells] for i, column in enumerate(schema)})


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    halves = {"first": table("BASE6").slice(0, 3), "second": table("BASE6").slice(3)}
    with connect({**{name: table(name) for name in TABLES}, **halves}) as backend:
        yield backend


@pytest.fixture(scope="module")
def catalog(backend: Backend) -> Catalog:
    return Catalog(backend.relations, HIERARCHIES, NOISE, BUCKET, ROLES)


@pytest.fixture
def session(backend: Backend, catalog: Catalog) -> QuerySession:
    return QuerySession(backend, catalog)


def bag(answer: pa.Table) -> Rows:
    """The rows of an answer, cells in the order of column names, as the reference evaluation has them."""
    names = sorted(answer.column_names)
    return as_bag(tuple(row[name] for name in names) for row in answer.to_pylist())


def sorted_columns(table: list[list[str]], schema: list[str]) -> Rows:
    order = [schema.index(name) for name in sorted(schema)]
    return as_bag(tuple(row[i] for i in order) for row in rows(table))


# ------------------------------------------------------------------ the example of the document, end to end


@pytest.mark.parametrize("mode", ["strict", "relaxed"])
@pytest.mark.parametrize(
    ("text", "figure", "side", "k"),
    [
        ("SELECT * FROM generalize(BASE7, k => 3, by => [A, C])", "fig7", "expected", 3),
        ("SELECT * FROM generalize((SELECT A, B FROM BASE6), k => 3, by => [A])", "G9-G10-fig13", "left", 3),
        ("SELECT A, B FROM generalize(BASE6, k => 3, by => [A])", "G9-G10-fig13", "right", 3),
        ("SELECT B, C FROM generalize(BASE6, k => 3, by => [A])", "G11-fig14", "left", None),
        (
            "SELECT A, B FROM generalize(generalize(BASE6, k => 3, by => [A]), k => 5, by => [A])",
            "G6-fig10",
            "right",
            6,
        ),
        ("SELECT * FROM generalize(BASE11, k => 3, by => [A, C])", "G7-fig11", "right", 3),
        (
            "SELECT * FROM generalize((SELECT A, B FROM BASE6 WHERE B <> 'B0'), k => 3, by => [A])",
            "G14-fig17",
            "left_final",
            4,
        ),
    ],
)
def test_a_figure_is_answered_by_the_engine_and_verified(
    backend: Backend, catalog: Catalog, mode: str, text: str, figure: str, side: str, k: int | None
) -> None:
    example = EXAMPLES[figure]
    expected = example[side][-1] if side in ("left", "right") else example[side]
    result = QuerySession(backend, catalog, mode=mode).sql(text)
    assert bag(result.table) == sorted_columns(expected, example["schema"])
    assert [kept.measured for kept in result.verified] == ([] if k is None else [k])


def test_strict_mode_leaves_the_torn_classes_of_figure_17_and_says_so(session: QuerySession) -> None:
    """Late selection: the answer is what was asked for, but its classes have two rows, not three."""
    text = "SELECT A, B FROM generalize(BASE6, k => 3, by => [A]) WHERE B <> 'B0'"
    result = session.sql(text)
    example = EXAMPLES["G14-fig17"]
    assert bag(result.table) == sorted_columns(example["right_final"], example["schema"])
    assert result.verified == ()
    assert result.degree == example["right_k"] == 2
    assert [warning.kind for warning in result.explanation.warnings] == ["promise-ended"]


def test_relaxed_mode_selects_first_and_restores_the_degree(backend: Backend, catalog: Catalog) -> None:
    """G14 from right to left: the selection was counted to keep k rows, so it may go first."""
    text = "SELECT A, B FROM generalize(BASE6, k => 3, by => [A]) WHERE B <> 'B0'"
    result = QuerySession(backend, catalog, mode="explicit", rules=["G14.rl"]).sql(text)
    assert [step.rule for step in result.explanation.rewriting.steps] == ["G14"]
    assert result.degree == EXAMPLES["G14-fig17"]["left_k"] == 4


def test_figure_23_slicing_keeps_groups_and_buckets(session: QuerySession) -> None:
    text = "SELECT * FROM slice(BASE6, groups => [[A], [B, C], [D]])"
    possible = evaluate(read_sql(text, TABLES).plan, world(BUCKET, BASE6=rows(EXAMPLES["BASE6"]["rows"])))
    assert len(possible) == 324
    for _ in range(5):
        answer = session.sql(text).table
        assert answer.column_names == EXAMPLES["BASE6"]["schema"]
        assert bag(answer) in possible.probabilities


def test_figure_39_noise_leaves_the_age_alone_and_states_its_epsilon(session: QuerySession) -> None:
    text = "SELECT * FROM randomize(BASE6, probability => {A: 0.16, B: 0.33, C: 0.5})"
    result = session.sql(text)
    assert result.table.num_rows == 6
    assert sorted(result.table.column("D").to_pylist()) == ["18", "24", "32", "36", "42", "56"]
    stated = {each.column: each.epsilon for each in result.explanation.privacy}
    oracle = EXAMPLES["noise-cell-oracle"]["epsilon_static"]
    assert stated["A"] is None, "noise that depends on the old value has no finite epsilon"
    assert stated["B"] == pytest.approx(oracle["B"], abs=1e-3)
    assert stated["C"] == pytest.approx(oracle["C"], abs=1e-3)


def test_all_three_operators_in_one_query(session: QuerySession) -> None:
    text = (
        "SELECT A, B, C FROM slice((SELECT A, B, C FROM randomize(generalize(BASE6, k => 3, by => [A]), "
        "probability => {B: 0.33, C: 0.5})), groups => [[A], [B, C]]) ORDER BY A"
    )
    result = session.sql(text)
    assert result.table.column_names == ["A", "B", "C"]
    assert result.table.column("A").to_pylist() == ["Jan"] * 3 + ["Mär"] * 3
    assert [str(kept) for kept in result.verified] == [
        "3-anonymous in A: every row shares it with at least 2 other rows (rows were counted, not people)"
    ]
    assert not result.explanation.warnings


def test_an_epsilon_may_stand_for_a_probability(session: QuerySession) -> None:
    result = session.sql("SELECT C FROM randomize(BASE6, epsilon => {C: 2.037})")
    (stated,) = result.explanation.privacy
    assert stated.epsilon is not None
    assert stated.epsilon <= 2.037


FIGURES = [
    ("SELECT * FROM generalize(blood7, k => 3, by => [A, C])", "fig7", "expected"),
    ("SELECT A, B FROM generalize(blood6, k => 3, by => [A])", "G9-G10-fig13", "right"),
    ("SELECT B, C FROM generalize(blood6, k => 3, by => [A])", "G11-fig14", "left"),
]


def check_figures(backend: Backend) -> None:
    """The figures, and what can be said of the random operators, from any engine."""
    relations = {name: backend.relations[name] for name in ("blood6", "blood7")}
    session = QuerySession(backend, Catalog(relations, HIERARCHIES, NOISE, BUCKET), mode="relaxed")
    for text, figure, side in FIGURES:
        example = EXAMPLES[figure]
        expected = example[side][-1] if side in ("left", "right") else example[side]
        assert bag(session.sql(text).table) == sorted_columns(expected, example["schema"])
    sliced = "SELECT * FROM slice(blood6, groups => [[A], [B, C], [D]])"
    possible = evaluate(
        read_sql(sliced, relations).plan, world(BUCKET, blood6=rows(EXAMPLES["BASE6"]["rows"]))
    )
    assert bag(session.sql(sliced).table) in possible.probabilities
    noisy = session.sql("SELECT * FROM randomize(blood6, probability => {A: 0.16, B: 0.33, C: 0.5})")
    assert sorted(noisy.table.column("D").to_pylist()) == ["18", "24", "32", "36", "42", "56"]


def test_the_example_on_postgresql(postgres: str) -> None:
    for name, base in (("blood6", "BASE6"), ("blood7", "BASE7")):
        write(table(base), postgres, table=name, replace=True)
    with connect(postgres) as backend:
        check_figures(backend)


@pytest.mark.slow
def test_the_example_on_spark(spark: None, tmp_path: Path) -> None:
    for name, base in (("blood6", "BASE6"), ("blood7", "BASE7")):
        write(table(base), tmp_path / f"{name}.parquet")
    with connect(f"spark:{tmp_path}") as backend:
        check_figures(backend)


# ------------------------------------------------------------------ what a session does beside answering


def test_partitions_are_rewritten_in_relaxed_mode_and_keep_the_promise(
    backend: Backend, catalog: Catalog
) -> None:
    """G15: each part finds its own levels; the classes of both are measured in the answer."""
    both = "(SELECT A, B FROM first UNION ALL SELECT A, B FROM second)"
    text = f"SELECT A, B FROM generalize({both}, k => 3, by => [A])"
    relaxed = QuerySession(backend, catalog, mode="explicit", rules=["G15.lr"], parallelism=2).sql(text)
    rewriting = relaxed.explanation.rewriting
    assert [step.rule for step in rewriting.steps] == ["G15"]
    assert [partition.techniques for partition in rewriting.partitions] == [("G15",)]
    assert [kept.measured for kept in relaxed.verified] == [3]
    assert "joins, unions and groupings of raw rows: 1 as written, 0 as it runs" in str(relaxed.explanation)


def test_an_explanation_runs_nothing_but_tells_everything(session: QuerySession) -> None:
    explanation = session.explain("SELECT B FROM randomize(BASE6, probability => {B: 0.5, C: 0.5})")
    text = str(explanation)
    for said in ("the plan as written:", "αD", "D9", "estimated cost", "epsilon", "the plan that runs:"):
        assert said in text
    machine = explanation.as_dict()
    assert machine["plan"]["chosen"]["sql"].startswith("SELECT")
    assert machine["steps"][0]["rule"] == "D9"
    assert machine["cost_after"] < machine["cost_before"]


def test_what_was_refused_is_told_with_its_reason(session: QuerySession) -> None:
    explanation = session.explain("SELECT * FROM slice(BASE6, groups => [[A], [B, C, D]]) WHERE B <> 'B0'")
    reasons = {refusal.rule: " ".join(refusal.reasons) for refusal in explanation.rewriting.refused}
    assert "slicing breaks rows on purpose" in reasons["S7"]


def test_a_plan_can_be_explained_without_data(catalog: Catalog) -> None:
    nowhere = QuerySession(None, catalog)
    text = "SELECT A FROM generalize(BASE6, k => 3, by => [A])"
    assert nowhere.explain(text).rewriting.plan.schema == {"A"}
    with pytest.raises(ParameterError, match="there are no data to run this on"):
        nowhere.sql(text)


def test_rules_and_plans_are_proved_without_data(catalog: Catalog) -> None:
    assert "holds on" in str(QuerySession(None, catalog).prove("G10"))


def test_role_warnings_are_read_from_the_query_as_written(session: QuerySession) -> None:
    """G11 removes the generalization; that it was written is what the warning looks at."""
    hidden = session.sql("SELECT B FROM generalize(BASE6, k => 3, by => [A])")
    assert "G11" in [step.rule for step in hidden.explanation.rewriting.steps]
    assert hidden.explanation.warnings == ()
    raw = session.sql("SELECT B FROM BASE6")
    assert [warning.kind for warning in raw.explanation.warnings] == ["sensitive-untouched"]


def test_a_renamed_column_is_generalized_by_its_own_hierarchy(session: QuerySession) -> None:
    result = session.sql("SELECT * FROM generalize((SELECT A AS tag, B FROM BASE6), k => 3, by => [tag])")
    assert Counter(result.table.column("tag").to_pylist()) == {"Jan": 3, "Mär": 3}


def test_fresh_randomness_for_every_answer_and_the_same_for_the_same_key(
    backend: Backend, catalog: Catalog
) -> None:
    text = "SELECT * FROM randomize(BASE6, probability => {A: 1, B: 1, C: 1})"
    fresh = {bag(QuerySession(backend, catalog).sql(text).table) for _ in range(4)}
    assert len(fresh) > 1
    keyed = {bag(QuerySession(backend, catalog, key=bytes(32)).sql(text).table) for _ in range(4)}
    assert len(keyed) == 1


def test_only_columns_that_costs_depend_on_are_counted_and_only_once(
    backend: Backend, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, set[str]]] = []
    count = type(backend).statistics

    def counting(own: Backend, relation: str, columns: set[str]) -> RelationStatistics:
        asked.append((relation, set(columns)))
        return count(own, relation, columns)

    monkeypatch.setattr(type(backend), "statistics", counting)
    session = QuerySession(backend, catalog)
    session.explain("SELECT A FROM generalize(BASE6, k => 2, by => [A]) WHERE B = '00'")
    session.explain("SELECT A FROM BASE6 WHERE B = '00'")
    session.explain("SELECT A FROM BASE6 WHERE D = '18'")
    assert asked == [("BASE6", {"A", "B"}), ("BASE6", {"D"})]


# ------------------------------------------------------------------ privacy budgets


COUNTED = "SELECT noisy_count(epsilon => 1) AS n FROM BASE6"


@pytest.fixture
def budgets() -> Budgets:
    budgets = Budgets(Store.in_memory())
    budgets.grant("ann", "BASE6", Fraction(3, 2))
    return budgets


def test_a_noisy_aggregate_is_paid_before_it_is_answered(
    backend: Backend, catalog: Catalog, budgets: Budgets
) -> None:
    session = QuerySession(backend, catalog, user="ann", budgets=budgets)
    result = session.sql(COUNTED)
    assert result.table.num_rows == 1
    assert result.spent["BASE6"].left == Fraction(1, 2)
    with pytest.raises(AccessError, match="does not suffice"):
        session.sql(COUNTED)
    with pytest.raises(AccessError, match="no privacy budget"):
        QuerySession(backend, catalog, user="bob", budgets=budgets).sql(COUNTED)


def test_a_failed_answer_is_paid_all_the_same(
    backend: Backend, catalog: Catalog, budgets: Budgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other way round, whoever cuts the connection in time would ask for free."""

    def fail(*_: object, **__: object) -> None:
        raise OSError("the engine is gone")

    session = QuerySession(backend, catalog, user="ann", budgets=budgets)
    session.explain(COUNTED)  # counts the rows of the relation
    monkeypatch.setattr(type(backend), "execute_all", fail)
    with pytest.raises(OSError, match="gone"):
        session.sql(COUNTED)
    left = budgets.of("ann", "BASE6")
    assert left is not None
    assert left.left == Fraction(1, 2)


def test_without_a_budget_there_is_no_noisy_answer(session: QuerySession) -> None:
    with pytest.raises(ParameterError, match="say who asks"):
        session.sql(COUNTED)
    assert session.explain(COUNTED).costs == {"BASE6": 1}


def test_noise_is_paid_where_budgets_are_kept(backend: Backend, catalog: Catalog, budgets: Budgets) -> None:
    session = QuerySession(backend, catalog, user="ann", budgets=budgets)
    with pytest.raises(AccessError, match="does not suffice"):
        session.sql("SELECT C FROM randomize(BASE6, probability => {C: 0.5})")
    with pytest.raises(ParameterError, match="depends on the old value"):
        session.sql("SELECT A FROM randomize(BASE6, probability => {A: 0.5})")


def test_noisy_groups_do_not_come_from_the_data(backend: Backend, budgets: Budgets) -> None:
    """That a group is there would tell of its only member; a proposed hierarchy lists what the data have."""
    text = "SELECT C, noisy_count(epsilon => 1) AS n FROM BASE6 GROUP BY C"
    proposed = Declarations().over(backend)
    with pytest.raises(HierarchyError, match="must not depend on the data"):
        QuerySession(backend, proposed, user="ann", budgets=budgets).sql(text)
    listed = Declarations(hierarchies={"C": HIERARCHIES["C"]}).over(backend)
    result = QuerySession(backend, listed, user="ann", budgets=budgets).sql(text)
    assert sorted(result.table.column("C").to_pylist()) == ["+", "-"]


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("SELECT * FROM generalize(BASE6, k => 7, by => [A])", NoSolutionError, "at least 7 rows"),
        (
            "SELECT * FROM slice((SELECT A, B FROM BASE6 WHERE A = '01.01.'), groups => [[A], [B]])",
            NoSolutionError,
            "bucket",
        ),
        ("SELECT * FROM generalize(BASE6, k => 2, by => [B])", HierarchyError, "no hierarchy for 'B'"),
        ("SELECT * FROM randomize(BASE6, probability => {D: 0.5})", ParameterError, "no noise for 'D'"),
        ("SELECT * FROM generalize(BASE6, k => 2, by => [E])", QueryError, "no column 'E'"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    session: QuerySession, text: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        session.sql(text)


def test_an_answer_that_breaks_its_promise_is_not_handed_over(session: QuerySession, monkeypatch) -> None:
    """The engine is not trusted: what it returns is measured. Here it returns the raw rows."""
    raw = session.sql("SELECT A, B FROM BASE6").table
    monkeypatch.setattr(type(session.backend), "execute_all", lambda *_, **__: [raw])
    with pytest.raises(VerificationError, match="nothing is handed over"):
        session.sql("SELECT A, B FROM generalize(BASE6, k => 3, by => [A])")


def test_an_unknown_mode_or_rule_is_refused(backend: Backend, catalog: Catalog) -> None:
    text = "SELECT A FROM BASE6"
    with pytest.raises(ParameterError, match="no mode of rewriting"):
        QuerySession(backend, catalog, mode="lax").sql(text)
    with pytest.raises(ParameterError, match="unknown rule"):
        QuerySession(backend, catalog, mode="explicit", rules=["G99"]).sql(text)


def test_a_result_tells_machines_everything_but_the_rows(session: QuerySession) -> None:
    told = session.sql("SELECT A FROM generalize(BASE6, k => 3, by => [A])").as_dict()
    assert told["rows"] == 6
    assert told["verified"] == [{"columns": ["A"], "k": 3, "measured": 3, "counted": "rows"}]
    assert set(told["seconds"]) == {"plan", "run", "verify"}


def test_the_catalog_may_have_less_than_the_backend(backend: Backend, catalog: Catalog) -> None:
    """A table that the catalog does not name cannot be asked for."""
    narrow = replace(catalog, relations={"BASE6": catalog.relations["BASE6"]}, roles={})
    with pytest.raises(QueryError, match="no table 'BASE7'"):
        QuerySession(backend, narrow).sql("SELECT A FROM BASE7")
