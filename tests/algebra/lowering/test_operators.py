"""Single operators on DuckDB: worked examples, numbers, types, awkward names, orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.expressions import Literal
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Plan,
    Randomization,
    Relation,
    Selection,
    SlicingNode,
)
from tarnkappe.algebra.noise import Dynamic, NoiseDistribution, Static
from tarnkappe.algebra.semantics import evaluate
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.world import World
from tarnkappe.engines.statements import in_words
from tarnkappe.errors import InputError, ParameterError
from tests.algebra import blood
from tests.algebra.lowering.small_worlds import bag, bag_of, whole
from tests.algebra.random_plans import AWKWARD, predicates

KEYS = [bytes([n]) * 32 for n in range(5)]


def base_table(name: str, columns: str | None = None) -> tuple[Relation, pa.Table, World]:
    relation, rows = blood.base(name, columns)
    table = pa.table({c: [row[n] for row in rows] for n, c in enumerate(relation.columns)})
    return relation, table, World({relation.name: rows}, blood.HIERARCHIES, blood.NOISE, bucket=3)


def run(plan: Plan, relation: Relation, table: pa.Table, key: bytes | None = None) -> pa.Table:
    with connect({relation.name: table}) as backend:
        known = {c: h for c, h in blood.HIERARCHIES.items() if c in table.column_names}
        noise = {c: n for c, n in blood.NOISE.items() if c in table.column_names}
        return backend.execute(whole(plan), Catalog(backend.relations, known, noise, bucket=3), key=key)


def test_figure_7_is_reproduced() -> None:
    relation, table, _ = base_table("BASE7")
    expected = blood.EXAMPLES["fig7"]
    found = run(Generalization(relation, ("A", "C"), 3), relation, table)
    assert bag_of(found) == bag(expected["schema"], expected["expected"])


def test_every_slicing_lies_in_the_exact_distribution() -> None:
    relation, table, world = base_table("BASE6")
    plan = SlicingNode(relation, (("A",), ("B", "C"), ("D",)))
    possible = {frozenset(bag(plan.columns, rows).items()) for rows, _ in evaluate(plan, world)}
    assert len(possible) == 324
    results = {frozenset(bag_of(run(plan, relation, table, key)).items()) for key in KEYS}
    assert results <= possible
    assert len(results) > 1


def test_every_randomization_lies_in_the_exact_distribution() -> None:
    relation, table, world = base_table("BASE6", "AC")
    table = table.slice(0, 2)
    world = World({relation.name: world.relations[relation.name][:2]}, noise=world.noise)
    plan = Randomization.of(relation, {"A": "0.16", "C": "0.5"})
    possible = {frozenset(bag(plan.columns, rows).items()) for rows, _ in evaluate(plan, world)}
    assert {frozenset(bag_of(run(plan, relation, table, key)).items()) for key in KEYS} <= possible


def test_a_value_that_the_dynamic_noise_does_not_know_is_refused_noised_or_not() -> None:
    relation = Relation("r", ("A",))
    for p in ("0.000000001", "1"):
        with pytest.raises(ParameterError, match="no entry for a value") as refused:
            run(
                Randomization.of(relation, {"A": p}), relation, pa.table({"A": ["01.01.", "secret"]}), KEYS[0]
            )
        assert "secret" not in str(refused.value)


@pytest.mark.parametrize("name", AWKWARD)
def test_no_name_of_the_data_is_too_awkward(name: str) -> None:
    columns = tuple(column for column in AWKWARD[name] if column.strip())  # blank names are refused elsewhere
    table = pa.table({column: ["u", "v", "w", None] for column in columns})
    noise = {columns[0]: Static({"u": Fraction(1)})}
    plan = SlicingNode(
        Randomization.of(Relation(name, columns), {columns[0]: 1}), tuple((c,) for c in columns)
    )
    with connect({name: table}) as backend:
        assert backend.relations == {name: columns}
        found = backend.execute(whole(plan), Catalog(backend.relations, noise=noise))
    assert found.column_names == list(columns)
    assert found.column(columns[0]).to_pylist() == ["u"] * 4
    assert Counter(found.column(columns[1]).to_pylist()) == Counter(["u", "v", "w", None])


NUMBERS = (
    (3, "x", None),
    (None, "x", Decimal("1.25")),
    (-7, "y", Decimal("-2.50")),
    (3, None, Decimal("0.75")),
    (8, "x", None),
)
RELATION = Relation("t", ("i", "s", "d"))
WORLD = World({"t": NUMBERS})
AGGREGATES = [
    *(Aggregate(f, c, f"{f} {c}") for f in ("count", "sum", "mean", "min", "max") for c in ("i", "d")),
    *(Aggregate(f, "s", f"{f} s") for f in ("count", "min", "max")),
    *(
        Aggregate("quantile", c, f"{at} {c}", Fraction(at))
        for c in ("i", "d")
        for at in ("0", "1/4", "1/2", "1")
    ),
    Aggregate("count", None, "n"),
]


def numbers_table() -> pa.Table:
    return pa.table(
        {
            "i": pa.array([row[0] for row in NUMBERS], pa.int32()),
            "s": pa.array([row[1] for row in NUMBERS], pa.string()),
            "d": pa.array([row[2] for row in NUMBERS], pa.decimal128(9, 2)),
        }
    )


@pytest.fixture(scope="module")
def numbers() -> Iterator[Backend]:
    with connect({"t": numbers_table()}) as backend:
        yield backend


def as_exact(cell: Any) -> Any:
    return round(Fraction(cell), 9) if isinstance(cell, int | float | Decimal | Fraction) else cell


def assert_same_aggregates(backend: Backend, plan: Plan) -> None:
    ((rows, _),) = evaluate(plan, WORLD)
    found = backend.execute(whole(plan), Catalog(backend.relations)).to_pylist()
    mine = Counter(frozenset((k, as_exact(v)) for k, v in row.items()) for row in found)
    exact = Counter(
        frozenset((k, as_exact(v)) for k, v in zip(plan.columns, row, strict=True)) for row in rows
    )
    assert mine == exact


@pytest.mark.parametrize("by", [(), ("s",), ("i", "s")])
def test_aggregates_are_those_of_the_definition(numbers: Backend, by: tuple[str, ...]) -> None:
    assert_same_aggregates(numbers, Grouping(RELATION, by, tuple(AGGREGATES)))


def test_the_one_group_of_no_rows_has_a_row(numbers: Backend) -> None:
    nothing = Selection(RELATION, read_sql("SELECT * FROM t WHERE i > 100", numbers.relations).plan.predicate)  # type: ignore[attr-defined]
    assert_same_aggregates(numbers, Grouping(nothing, (), tuple(AGGREGATES)))
    assert_same_aggregates(numbers, Grouping(nothing, ("s",), tuple(AGGREGATES)))


@settings(max_examples=60)
@given(predicates(("i",), st.sampled_from([None, 3, -7, 5, Decimal("2.5")]).map(Literal), depth=1))
def test_predicates_on_numbers_are_three_valued(numbers: Backend, predicate: Any) -> None:
    plan = Selection(RELATION, predicate)
    try:
        ((rows, _),) = evaluate(plan, WORLD)
        found = numbers.execute(whole(plan), Catalog(numbers.relations))
    except ParameterError:
        return
    assert bag_of(found.select(["i", "s"])) == bag(("i", "s"), (row[:2] for row in rows))


@pytest.mark.parametrize(
    "condition",
    ["i = 'x'", "s > 3", "s IN ('x', 3)", "i LIKE 'x' AND d LIKE 'x'", "s = DATE '2024-01-01'", "i = TRUE"],
)
def test_types_that_do_not_go_together_are_refused_before_an_engine_sees_a_cell(
    numbers: Backend, condition: str
) -> None:
    with pytest.raises(ParameterError):
        numbers.execute(
            read_sql(f"SELECT i FROM t WHERE {condition}", numbers.relations), Catalog(numbers.relations)
        )


def test_a_sum_of_texts_is_refused(numbers: Backend) -> None:
    with pytest.raises(ParameterError, match="needs numbers, but it is a text"):
        numbers.execute(read_sql("SELECT sum(s) AS x FROM t", numbers.relations), Catalog(numbers.relations))


def test_a_sum_that_overflows_is_an_error_without_its_cells() -> None:
    with (
        connect({"t": pa.table({"x": [2**63 - 1, 2**63 - 2]})}) as backend,
        pytest.raises(InputError) as refused,
    ):
        backend.execute(read_sql("SELECT sum(x) AS s FROM t", backend.relations), Catalog(backend.relations))
    assert "9223" not in str(refused.value)


@pytest.mark.parametrize("descends", [False, True])
def test_an_order_puts_missing_values_as_the_least(numbers: Backend, descends: bool) -> None:
    text = f"SELECT i, s FROM t ORDER BY s, i{' DESC' * descends}"
    found = numbers.execute(read_sql(text, numbers.relations), Catalog(numbers.relations)).to_pylist()
    expected = [(3, None), (None, "x"), (3, "x"), (8, "x"), (-7, "y")]
    if descends:
        expected = [(3, None), (8, "x"), (3, "x"), (None, "x"), (-7, "y")]
    assert [(row["i"], row["s"]) for row in found] == expected


def test_dates_and_truth_values_are_compared() -> None:
    table = pa.table({"d": [date(2024, 2, 29), date(2023, 1, 1), None], "b": [True, False, None]})
    with connect({"t": table}) as backend:
        catalog = Catalog(backend.relations)
        for condition, rows in (
            ("d > DATE '2023-06-01'", 1),
            ("b = TRUE", 1),
            ("d LIKE '2023%'", 1),
            ("b IS NULL", 1),
        ):
            found = backend.execute(
                read_sql(f"SELECT d FROM t WHERE {condition}", backend.relations), catalog
            )
            assert found.num_rows == rows


def test_a_plan_without_chance_is_the_sql_that_one_would_write(
    numbers: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []

    def noted(expression: Any, dialect: str) -> str:
        statements.append(in_words(expression, dialect))
        return statements[-1]

    monkeypatch.setattr("tarnkappe.algebra.lowering.duckdb.in_words", noted)
    text = "SELECT s, count(*) AS n FROM t WHERE i > 2 AND s LIKE 'x%' GROUP BY s"
    numbers.execute(read_sql(text, numbers.relations), Catalog(numbers.relations))
    (statement,) = statements
    assert "i0" not in statement
    assert "row_number" not in statement.lower()
    assert statement.upper().count("SELECT") <= 3


@pytest.mark.parametrize(
    "noise",
    [
        Static({"many": Fraction(1)}),
        Static({f"{n} years": Fraction(1, 100) for n in range(100)}),
        Dynamic({"3": {"4": Fraction(1)}, "x": {"y": Fraction(1)}}),
    ],
)
def test_noise_that_a_column_cannot_hold_is_refused(numbers: Backend, noise: NoiseDistribution) -> None:
    query = read_sql("SELECT i FROM randomize(t, probability => {i: 0.5})", numbers.relations)
    with pytest.raises(ParameterError, match="draws values that a whole number cannot have"):
        numbers.execute(query, Catalog(numbers.relations, noise={"i": noise}))
