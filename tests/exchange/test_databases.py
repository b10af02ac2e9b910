"""The two databases: the institution's own, read only, and the statistics (checklist 29, 30)."""

from __future__ import annotations

import json
import sqlite3
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.exchange import Anchor, CheckVerdict, Institution, Statistics, check
from tarnkappe.exchange.statistics import EVERYBODY, QUERIES, Asked, PopulationFigure, ask, import_file
from tarnkappe.exchange.statistics.example import MEDICATIONS, facts, joint
from tarnkappe.exchange.statistics.example import patients as drawn
from tarnkappe.state import AuditLog, Store
from tarnkappe.table import write
from tests.exchange.scenes import patients, request, surroundings, with_others

DAY = date(2026, 1, 1)


@pytest.fixture(params=["sqlite", "duckdb", "postgresql", "memory"])
def ward(request: pytest.FixtureRequest, tmp_path: Path):
    """The patients of F-REQ-1 in databases of several kinds."""
    table = with_others(patients())
    if request.param == "memory":
        return Institution("B", table, "id")
    if request.param == "postgresql":
        address = request.getfixturevalue("postgres")
        engine = sa.create_engine(address.replace("postgresql", "postgresql+psycopg", 1))
        with engine.begin() as connection:
            connection.execute(sa.text("DROP TABLE IF EXISTS ward"))
    else:
        address = f"{request.param}:///{tmp_path / 'ward.db'}"
        if request.param == "duckdb":
            import duckdb

            with duckdb.connect(str(tmp_path / "ward.db")) as connection:
                connection.register("t", table)
                connection.execute("CREATE TABLE ward AS SELECT * FROM t")
            return Institution("B", address, "id", table="ward")
        engine = sa.create_engine(address)
    rows = table.to_pylist()
    kinds = {"age": sa.Integer, "weight": sa.Integer}
    made = sa.Table("ward", sa.MetaData(), *(sa.Column(n, kinds.get(n, sa.String)) for n in rows[0]))
    with engine.begin() as connection:
        made.create(connection)
        connection.execute(sa.insert(made), rows)
    engine.dispose()
    return Institution("B", address, "id", table="ward")


def test_a_request_is_checked_on_any_sql_source(ward: Institution) -> None:
    found = check(request(), surroundings(institution=ward))
    assert found.verdict is CheckVerdict.RELEASE_WITH_CHANGES
    assert found.metrics["discernibility"] == 49
    assert found.package.release.num_rows == 12
    assert ward.count(Anchor("medication", ("Y",))) == 0


@pytest.mark.parametrize(
    "attack",
    ["X' OR '1'='1", "X'); DROP TABLE ward; --", "X\\' OR 1=1 --", "%", "X%%", "' || 'X", '"', "\x00X"],
)
def test_a_selection_is_a_value_and_never_sql(ward: Institution, attack: str) -> None:
    try:
        assert ward.count(Anchor("medication", (attack,))) == 0
    except (InputError, ParameterError):
        assert "\x00" in attack
    assert ward.count(Anchor("medication", ("X",))) == 13


def test_what_a_database_gives_is_released_as_it_is_where_nothing_is_conspicuous(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ward.db") as connection:
        connection.execute("CREATE TABLE ward (id TEXT, sex TEXT, diagnosis TEXT, medication TEXT)")
        rows = [(f"P{i}", "MW"[i % 2], f"D{i % 3}", "XY"[i // 24]) for i in range(48)]
        connection.executemany("INSERT INTO ward VALUES (?, ?, ?, ?)", rows)
    ward = Institution("B", f"sqlite:///{tmp_path / 'ward.db'}", "id", table="ward")
    found = check(request("sex", "diagnosis"), surroundings(institution=ward))
    assert found.verdict is CheckVerdict.RELEASE


def test_the_database_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "ward.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE ward (id TEXT, medication TEXT)")
        connection.execute("INSERT INTO ward VALUES ('a', 'X')")
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="SELECT"):
        Institution("B", f"sqlite:///{path}", "id", query="DELETE FROM ward").count(
            Anchor("medication", ("X",))
        )
    seen = Institution("B", f"sqlite:///{path}", "id", query="SELECT * FROM ward")
    assert seen.select(Anchor("medication", ("X",)), ["medication"]).num_rows == 1
    assert path.read_bytes() == before


def test_somebody_with_two_rows_is_refused() -> None:
    twice = pa.concat_tables([patients(), patients().slice(0, 1)])
    with pytest.raises(InputError, match="one row"):
        Institution("B", twice, "id").select(Anchor("medication", ("X",)), ["age"])
    found = check(request(), surroundings(twice))
    assert found.verdict is CheckVerdict.REFUSE


def test_a_file_is_no_database() -> None:
    with pytest.raises(ParameterError, match="address"):
        Institution("B", "ward.csv", "id")
    with pytest.raises(ParameterError, match="either"):
        Institution("B", "sqlite:///ward.db", "id")


LONG = """condition_type;condition_value;attribute;value;probability;population;source;valid_from
medication;X;occupation;miner;0.31;20000;WHO;2024-05-01
medication;X;occupation;office;0.69;20000;WHO;2024-05-01
occupation;miner;weight;>=100;0.22;5000;WHO;2024-05-01
"""
WIDE = [
    {
        "age": "40-49",
        "sex": "M",
        "country": "AT",
        "count": 300,
        "population": 1000,
        "source": "s",
        "valid_from": "2024-01-01",
    },
    {
        "age": "40-49",
        "sex": "W",
        "country": None,
        "probability": 0.4,
        "population": 1000,
        "source": "s",
        "valid_from": "2024-01-01",
    },
]


def test_statistics_are_imported_from_csv_and_json_with_their_provenance(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text(LONG)
    (tmp_path / "wide.json").write_text(json.dumps(WIDE))
    statistics = Statistics(Store.in_memory())
    assert import_file(statistics, tmp_path / "long.csv") == 1
    assert import_file(statistics, tmp_path / "wide.json") == 2
    miners = statistics.distribution(("medication", "X"), ("occupation",), DAY)
    assert miners.shares == {("miner",): 0.31, ("office",): 0.69}
    assert miners.population == 20_000
    assert miners.sources == ("WHO (2024-05-01)",)
    assert miners.unknown == 0
    assert statistics.distribution(EVERYBODY, ("sex", "age", "country"), DAY).shares == {
        ("40-49", "AT", "M"): 0.3
    }
    assert [(each["origin"], each["facts"]) for each in statistics.imports()] == [
        ("long.csv", 3),
        ("wide.json", 2),
    ]
    assert [entry.event for entry in AuditLog(statistics.store).entries()] == ["statistics imported"] * 2


def test_statistics_are_read_as_any_program_writes_them(tmp_path: Path) -> None:
    text = LONG.replace("0.", "0,").replace("office", "Büro").replace("\n", "\r\n")
    (tmp_path / "excel.csv").write_bytes(text.encode("cp1252"))
    statistics = Statistics(Store.in_memory())
    import_file(statistics, tmp_path / "excel.csv")
    found = statistics.distribution(("medication", "X"), ("occupation",), DAY)
    assert found.shares == {("miner",): 0.31, ("Büro",): 0.69}


def test_later_figures_take_the_place_of_earlier_ones_and_future_ones_do_not_hold_yet() -> None:
    statistics = Statistics(Store.in_memory())
    for year, share in ((2020, 0.1), (2024, 0.2), (2030, 0.3)):
        statistics.add(
            [PopulationFigure(EVERYBODY, {"sex": "M"}, share, 1000, "s", date(year, 1, 1))],
            str(year),
            "0" * 64,
        )
    found = {
        year: statistics.distribution(EVERYBODY, ("sex",), date(year, 6, 1)).shares
        for year in (2021, 2026, 2031)
    }
    assert found == {2021: {("M",): 0.1}, 2026: {("M",): 0.2}, 2031: {("M",): 0.3}}


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("medication;X;age;40;1.5;20000;WHO;2024-05-01", "from 0 to 1"),
        ("medication;X;age;40;0.5;1;WHO;2024-05-01", "patients"),
        ("medication;X;age;40;0.5;20000;;2024-05-01", "source"),
        ("medication;X;age;40;0.5;20000;WHO;yesterday", "valid_from"),
        ("medication;X;;;0.5;20000;WHO;2024-05-01", "no attribute"),
        ("medication;X;age;;0.5;20000;WHO;2024-05-01", "needs a value"),
        ("medication;X;age;40;;20000;WHO;2024-05-01", "either"),
        ("medication;X;age;40;half;20000;WHO;2024-05-01", "no number"),
        ("medication;X;age;40;0.5;20000;WHO;2024-05-01;more", "found 9"),
    ],
)
def test_a_line_that_is_no_figure_is_named_and_nothing_is_imported(
    line: str, error: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.csv").write_text(LONG + line + "\n")
    statistics = Statistics(Store.in_memory())
    with pytest.raises(InputError, match=f"line 5: .*{error}"):
        import_file(statistics, tmp_path / "bad.csv")
    assert statistics.imports() == []


@pytest.mark.parametrize(
    "content",
    [{}, WIDE[0], {"figures": WIDE}, [[]], [*WIDE, []], [*WIDE, "WHO"], [None], "WHO", 7, None],
    ids=lambda content: json.dumps(content)[:20],
)
def test_a_json_file_of_statistics_is_a_list_of_objects_and_of_nothing_else(
    content: object, tmp_path: Path
) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(content))
    statistics = Statistics(Store.in_memory())
    with pytest.raises(InputError, match=r"bad\.json: a JSON file of statistics is a list of objects"):
        import_file(statistics, tmp_path / "bad.json")
    assert statistics.imports() == []


def test_the_statistics_hold_no_patients(tmp_path: Path) -> None:
    """The trap: a global database that is filled with patient records."""
    table = (
        patients().append_column("population", pa.array([1] * 13)).append_column("count", pa.array([1] * 13))
    )
    table = table.append_column("source", pa.array(["B"] * 13)).append_column(
        "valid_from", pa.array(["2024-01-01"] * 13)
    )
    from tarnkappe.table import Table

    write(Table(table), tmp_path / "records.csv")
    with pytest.raises(InputError, match="no population"):
        import_file(Statistics(Store.in_memory()), tmp_path / "records.csv")


@pytest.fixture(scope="module")
def population() -> Statistics:
    statistics = Statistics(Store.in_memory())
    statistics.add(facts(), "example", "0" * 64)
    return statistics


def test_q1_to_q3_ask_about_occupations_the_selection_and_everybody(population: Statistics) -> None:
    anchor = Anchor("medication", ("ibuprofen",))
    asked = Asked(anchor, ("age", "sex", "occupation", "diagnosis"), {"occupation": ["miner"]})
    profile = ask(population, asked, DAY)
    first, second, third = profile.replies
    assert (("occupation", "miner"), ("diagnosis",)) in first.distributions
    assert {names for _, names in second.distributions} >= {("age",), ("age", "sex"), ("diagnosis",)}
    assert {condition for condition, _ in third.distributions} == {EVERYBODY}
    assert profile.given_anchor("sex").shares != profile.of_everybody("sex").shares
    assert profile.sources == ("made-up census (2024-01-01)",)


def test_another_question_is_one_more_in_the_list(population: Statistics) -> None:
    from tarnkappe.exchange.statistics.queries import Reply

    def q4(statistics: Statistics, asked: Asked, today: date) -> Reply:
        return Reply("?", {(EVERYBODY, ("sex",)): statistics.distribution(EVERYBODY, ("sex",), today)})

    assert len(ask(population, Asked(Anchor("a", ("b",)), (), {}), DAY, (*QUERIES, q4)).replies) == 4


def test_the_example_population_and_its_patients_fit_together() -> None:
    assert np.isclose(joint().sum(), 1)
    table = drawn(20_000, seed=3)
    assert table.equals(drawn(20_000, seed=3))
    assert not table.equals(drawn(20_000, seed=4))
    taken = table.filter(pa.array([m == "ibuprofen" for m in table.column("medication").to_pylist()]))
    expected = {
        f.values["sex"]: f.probability
        for f in facts()
        if f.condition == ("medication", "ibuprofen") and set(f.values) == {"sex"}
    }
    women = taken.column("sex").to_pylist().count("W") / taken.num_rows
    assert abs(women - expected["W"]) < 0.03
    assert set(table.column("medication").to_pylist()) <= set(MEDICATIONS)


def test_statistics_that_cannot_be_reached_never_improve_a_verdict() -> None:
    class Broken(Statistics):
        def distributions(self, *_, **__):
            raise InputError("test.gone", "gone")

        def distribution(self, *_, **__):
            raise InputError("test.gone", "gone")

        def joint_attributes(self, *_):
            raise InputError("test.gone", "gone")

    found = check(request(), surroundings(statistics=Broken(Store.in_memory())))
    assert found.metrics["discernibility"] == 49
    assert any(finding.code == "population rarity unknown" for finding in found.findings)
