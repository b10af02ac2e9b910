"""Lazy expressions: they say the same plans as SQL, run nothing before they are asked, and speak Ibis."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import ibis
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import tarnkappe
from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.lazy import LazyRelation, relation, sql
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.errors import ColumnError, InputError, ParameterError, QueryError, TarnkappeError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import Role, Table
from tests.algebra.blood import HIERARCHIES, NOISE
from tests.algebra.test_session import table

COLUMNS = ("A", "B", "C", "D")


@pytest.fixture
def spende() -> LazyRelation:
    return relation(table("BASE6"), "spende", hierarchies=HIERARCHIES, noise=NOISE, bucket=3)


def archive() -> LazyRelation:
    return relation(table("BASE7"), "archiv", hierarchies=HIERARCHIES)


def same(expression: LazyRelation, text: str) -> None:
    query = read_sql(text, {"spende": COLUMNS, "archiv": COLUMNS, "ort": ("D", "E")})
    assert expression.plan == query.plan
    assert expression.columns == query.columns


def test_every_operator_says_what_sql_says(spende: LazyRelation) -> None:
    same(spende.project("B", "A"), "SELECT B, A FROM spende")
    same(spende.project("B", distinct=True), "SELECT DISTINCT B FROM spende")
    same(spende.where("B <> 'B0' AND D >= '20'"), "SELECT * FROM spende WHERE B <> 'B0' AND D >= '20'")
    same(spende.rename({"A": "tag"}), "SELECT * RENAME (A AS tag) FROM spende")
    same(spende.union(archive()), "SELECT * FROM spende UNION ALL SELECT * FROM archiv")
    same(spende.intersect(archive()), "SELECT * FROM spende INTERSECT ALL SELECT * FROM archiv")
    same(spende.difference(archive()), "SELECT * FROM spende EXCEPT ALL SELECT * FROM archiv")
    places = relation(pa.table({"D": ["18"], "E": ["x"]}), "ort")
    same(spende.join(places), "SELECT * FROM spende NATURAL JOIN ort")
    same(
        spende.aggregate(["B"], n="count(*)", most="max(D)"),
        "SELECT B, count(*) AS n, max(D) AS most FROM spende GROUP BY B",
    )
    same(spende.generalize(["A", "C"], k=3), "SELECT * FROM generalize(spende, k => 3, by => [A, C])")
    same(
        spende.slice([["A"], ["B", "C"], ["D"]]),
        "SELECT * FROM slice(spende, groups => [[A], [B, C], [D]])",
    )
    same(
        spende.randomize({"A": 0.16, "B": "1/3"}),
        "SELECT * FROM randomize(spende, probability => {A: 0.16, B: 1/3})",
    )


def test_a_chain_prints_as_a_tree_and_as_sql(spende: LazyRelation) -> None:
    chain = spende.where("B <> 'B0'").generalize(["A"], k=2).project("A", "B")
    assert repr(chain).splitlines() == ["π A, B", "└─ αG k=2 on A", "   └─ σ B <> 'B0'", "      └─ spende"]
    assert read_sql(chain.sql(), {"spende": COLUMNS}).plan == chain.plan


def test_an_answer_is_collected_verified_and_in_the_order_of_its_columns(spende: LazyRelation) -> None:
    result = spende.generalize(["A"], k=3).project("B", "A").run()
    assert result.table.column_names == ["B", "A"]
    assert Counter(result.table.column("A").to_pylist()) == {"Jan": 3, "Mär": 3}
    assert [str(kept) for kept in result.verified] == [
        "3-anonymous in A: every row shares it with at least 2 other rows (rows were counted, not people)"
    ]


def test_options_go_to_the_session(spende: LazyRelation) -> None:
    twice = spende.generalize(["A", "C"], k=2).generalize(["A", "C"], k=3)
    assert twice.explain().rewriting.steps == ()
    explanation = twice.explain(mode="explicit", rules=["G7"])
    assert [step.rule for step in explanation.rewriting.steps] == ["G7"]


def test_an_epsilon_is_calibrated(spende: LazyRelation) -> None:
    noisy = spende.randomize(epsilon={"C": 2.037})
    (stated,) = noisy.explain().privacy
    assert stated.epsilon == pytest.approx(2.037, abs=1e-3)
    with pytest.raises(ParameterError, match="either a probability or an epsilon"):
        spende.randomize({"A": 0.5}, epsilon={"A": 1})
    with pytest.raises(ParameterError, match="depends on the old value"):
        spende.randomize(epsilon={"A": 1})


def test_sql_over_expressions(spende: LazyRelation) -> None:
    general = spende.generalize(["A"], k=3)
    answer = sql("SELECT A, count(*) AS n FROM g GROUP BY A ORDER BY A DESC", g=general).collect()
    assert answer.to_pylist() == [{"A": "Mär", "n": 3}, {"A": "Jan", "n": 3}]
    with pytest.raises(QueryError, match="no table 'spende'"):
        sql("SELECT * FROM spende", g=general)


def test_aggregates_may_be_objects_but_no_other_sql(spende: LazyRelation) -> None:
    counted = spende.aggregate(n=Aggregate("count", None, "whatever"))
    assert counted.columns == ("n",)
    for attempt in ("A", "count(*) AS m, B", "count(*) FROM r; DROP TABLE r --", "(SELECT 1)"):
        with pytest.raises((QueryError, ParameterError)):
            spende.aggregate(n=attempt)


# ------------------------------------------------------------------ where rows come from and go to


def test_files_stay_where_they_are_and_name_their_relation(tmp_path: Path) -> None:
    pq.write_table(table("BASE6"), tmp_path / "spende.parquet")
    table("BASE6").to_pandas().to_csv(tmp_path / "archiv.csv", index=False)
    stored = relation(tmp_path / "spende.parquet")
    read = relation(tmp_path / "archiv.csv")
    both = stored.project("B").union(read.project("B"))
    assert both.sql() == "SELECT B FROM spende UNION ALL SELECT B FROM archiv"
    assert both.collect().num_rows == 12
    with pytest.raises(InputError):
        relation(tmp_path / "nirgends.parquet")


def test_tables_of_other_libraries() -> None:
    assert relation(pd.DataFrame({"x": [1, 2]})).where("x > 1").collect().to_pylist() == [{"x": 2}]
    roles = Table(pa.table({"x": [1], "y": [1]}), {"x": Role.IDENTIFIER})
    (warning,) = relation(roles).project("x").explain().warnings
    assert warning.kind == "identifier-released"


IBIS_WARNS = pytest.mark.filterwarnings("ignore:fetch_.*deprecated:DeprecationWarning")
"""Of Ibis' own connection to DuckDB, which is a user's and not ours."""


@IBIS_WARNS
def test_from_ibis_and_back() -> None:
    """An Ibis expression is asked when the query runs; an answer is an Ibis table like any other."""
    connection = ibis.duckdb.connect()
    donors = connection.create_table("donors", table("BASE6"))
    young = donors.filter(donors.D < "40").select("A", "B")
    anonymous = relation(young, "young", hierarchies={"A": HIERARCHIES["A"]}).generalize(["A"], k=2)
    back = anonymous.to_ibis()
    counted = back.group_by("A").aggregate(n=back.count()).order_by("A")
    assert counted.to_pyarrow().to_pylist() == [{"A": "Q1", "n": 4}]
    assert relation(donors).columns == COLUMNS
    assert relation(donors).sql() == "SELECT * FROM donors"


@IBIS_WARNS
def test_nothing_runs_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = ibis.duckdb.connect()
    donors = connection.create_table("donors", table("BASE6"))

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the data were looked at")

    monkeypatch.setattr(type(donors), "to_pyarrow", fail)
    lazy = relation(donors, hierarchies=HIERARCHIES).generalize(["A"], k=2).project("A")
    assert lazy.sql()
    with pytest.raises(AssertionError, match="looked at"):
        lazy.collect()


def test_postgresql_stays_the_engine(postgres: str) -> None:
    tarnkappe.write(table("BASE6"), postgres, table="lazy_spende", replace=True)
    stored = relation(postgres, table="lazy_spende", hierarchies=HIERARCHIES)
    answer = stored.generalize(["A"], k=3).project("A").collect()
    assert Counter(answer.column("A").to_pylist()) == {"Jan": 3, "Mär": 3}
    both = stored.project("A").union(relation(table("BASE6")).project("A")).collect()
    assert both.num_rows == 2 * table("BASE6").num_rows, "each part runs where its rows are"
    with pytest.raises(ParameterError, match="pass `table`"):
        relation(postgres)
    with pytest.raises(ParameterError, match="keeps its name"):
        relation(postgres, "other", table="lazy_spende")
    with pytest.raises(InputError, match="no table"):
        relation(postgres, table="nirgends")


def test_tables_of_two_databases_and_a_file_meet_in_one_query(tmp_path: Path) -> None:
    for name, number in (("north", 1), ("south", 2)):
        tarnkappe.write(pa.table({"A": [number] * 3}), f"duckdb:///{tmp_path}/{name}.db", table=name)
        tarnkappe.write(pa.table({"A": [0]}), f"duckdb:///{tmp_path}/{name}.db", table="common")
    parts = [relation(f"duckdb:///{tmp_path}/{name}.db", table=name) for name in ("north", "south")]
    whole = parts[0].union(parts[1]).union(relation(pa.table({"A": [3, 3]}), "here"))
    assert Counter(whole.collect().column("A").to_pylist()) == {1: 3, 2: 3, 3: 2}
    common = [relation(f"duckdb:///{tmp_path}/{name}.db", table="common") for name in ("north", "south")]
    with pytest.raises(ParameterError, match="two relations are called 'common'"):
        common[0].union(common[1])
    with pytest.raises(InputError, match="no table"):
        relation(f"duckdb:///{tmp_path}/north.db", table="south")


def test_noise_may_be_a_function_of_the_old_value() -> None:
    """In the engine, every cell becomes what the function gives for it; here chance has no say."""
    ages = {"age": {"builder": "intervals", "width": 10}}
    data = pa.table({"age": [31, 34, 52, None, 57], "n": [1, 2, 3, 4, 5]})
    whole = data.filter(pc.is_valid(data.column("age")))
    later = {31: 34, 34: 52, 52: 57, 57: 31}
    donors = relation(whole, hierarchies=ages, noise={"age": lambda old: {later[old]: 1}})
    found = donors.randomize({"age": 1}).collect()
    assert dict(zip(*found.select(["n", "age"]).to_pydict().values(), strict=True)) == {
        1: 34,
        2: 52,
        3: 57,
        5: 31,
    }
    near = relation(whole, hierarchies=ages, noise={"age": "neighbours"}).randomize({"age": 1}).collect()
    places = {age: place for place, age in enumerate(sorted(later))}
    moved = dict(zip(*near.select(["n", "age"]).to_pydict().values(), strict=True))
    for n, old in {1: 31, 2: 34, 3: 52, 5: 57}.items():
        assert abs(places[moved[n]] - places[old]) == 1
    with pytest.raises(ParameterError, match="value"):
        relation(data, hierarchies=ages, noise={"age": "neighbours"}).randomize({"age": 1}).collect()


def test_what_is_declared_in_python_is_verified_and_opens_rules() -> None:
    """S9, G16 and G17 need to know of partners and orders; G14 and G15 of least rows."""
    left = pa.table({"A": [1, 1, 2, 2], "ID": [1, 2, 3, 4]})
    right = pa.table({"B": ["x", "y", "x", "y"], "ID": [1, 2, 3, 4]})
    facts = {"keys": [["ID"]], "least_rows": 4}
    ages = {"A": Hierarchy.from_rows([["1", "*"], ["2", "*"]])}
    mine = relation(left, "l", hierarchies=ages, within={"r": ["ID"]}, ordered_like={"r": ["ID"]}, **facts)
    its = relation(right, "r", within={"l": ["ID"]}, **facts)
    late = mine.join(its).project("A", "B").generalize(["A"], k=2)
    explanation = late.explain()
    assert [step.rule for step in explanation.rewriting.steps] == ["G17"]
    assert Counter(late.collect().column("A").to_pylist()) == {"1": 2, "2": 2}
    other = right.set_column(1, "ID", pa.array([1, 2, 3, 5]))
    false = relation(other, "r", within={"l": ["ID"]}, keys=[["ID"]])
    with pytest.raises(TarnkappeError, match="ID"):
        mine.join(false).project("A", "B").generalize(["A"], k=2).collect()
    declared = mine.join(its).sources.catalog()
    assert set(declared.orders) == {(frozenset({"l", "r"}), frozenset({"ID"}))}
    assert declared.least_rows == {"l": 4, "r": 4}


# ------------------------------------------------------------------ what is refused


def test_one_name_is_one_relation(spende: LazyRelation) -> None:
    other = relation(table("BASE7"), "spende")
    with pytest.raises(ParameterError, match="two relations are called 'spende'"):
        spende.union(other)
    assert spende.union(spende).collect().num_rows == 12


def test_two_draws_of_one_random_expression_are_refused(spende: LazyRelation) -> None:
    """They would average out: two answers about the same rows tell more than one."""
    noisy = spende.randomize({"C": 0.5})
    with pytest.raises(ParameterError, match="two draws tell more"):
        noisy.union(noisy)
    with pytest.raises(ParameterError, match="two draws tell more"):
        noisy.project("A", "C").join(noisy.project("A", "B"))
    with pytest.raises(ParameterError, match="may be used only once"):
        sql("SELECT * FROM n UNION ALL SELECT * FROM n", n=noisy)
    assert spende.randomize({"C": 0.5}).union(spende.randomize({"C": 0.5})).collect().num_rows == 12


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda r: r.project("E"), "'E'"),
        (lambda r: r.generalize(["E"], k=2), "'E'"),
        (lambda r: r.slice([["A"]]), "leaves out"),
        (lambda r: r.randomize({"E": 1}), "'E'"),
        (lambda r: r.union(r.project("A")), "same columns"),
        (lambda r: r.where("E = 1"), "'E'"),
    ],
)
def test_mistakes_are_told_where_they_are_made(spende: LazyRelation, wrong, message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        wrong(spende)


def test_a_described_column_must_exist() -> None:
    with pytest.raises(ColumnError, match="did you mean 'alter'"):
        relation(pa.table({"alter": [1]}), roles={"altr": "sensitive"})
    with pytest.raises(ParameterError, match="leave it out"):
        relation(pa.table({"alter": [1]}), table="t")
