"""The protected table in files and databases."""

from __future__ import annotations

from pathlib import Path

import duckdb
import psycopg
import pytest

from tarnkappe.errors import ColumnError, InputError, ParameterError
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import GateQuery
from tarnkappe.gate.source import ProtectedTable
from tests.gate.clinic import RUNNING, between, policy, write

WANTED = (
    ("Alison", "Ben", "Clark", "Debra"),
    {"age": (20, 21, 21, 22), "zip": ("10140", "10140", "12555", "13410"), "sex": ("f", "m", "m", "f")},
    {"disease": ("Asthma", "Asthma", "Bronchitis", "Cholera")},
)


def in_parquet(folder: Path, _: str) -> GatePolicy:
    write(folder / "t.parquet")
    return policy(folder)


def in_csv(folder: Path, _: str) -> GatePolicy:
    write(folder / "t.parquet")
    duckdb.sql(f"COPY (FROM '{folder}/t.parquet') TO '{folder}/t.csv'")
    return policy(folder, source="t.csv")


def in_duckdb(folder: Path, _: str) -> GatePolicy:
    write(folder / "t.parquet")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS FROM '{folder}/t.parquet'")
    return policy(folder, source=f"duckdb:///{folder}/clinic.duckdb")


def in_postgres(folder: Path, address: str) -> GatePolicy:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute("CREATE TABLE t (name text, age int, zip text, sex text, disease text, pay int)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, %s, %s, %s)", RUNNING)
    return policy(folder, source=address)


@pytest.mark.parametrize("place", [in_parquet, in_csv, in_duckdb, in_postgres])
def test_the_same_people_from_everywhere(place, tmp_path: Path, postgres: str) -> None:
    source = ProtectedTable.open(place(tmp_path, postgres))
    people = source.people(between(20, 22))
    cells = {**people.cells, "zip": tuple(map(str, people.cells["zip"]))}
    assert (people.keys, cells, people.secrets) == WANTED
    assert len(source.everyone().keys) == 9
    assert sorted(map(str, source.values("disease"))) == ["Asthma", "Bronchitis", "Cholera", "Diabetes"]
    assert source.people(GateQuery(("age",), '"age" > ?', (99,))).keys == ()
    assert source.types["disease"] == "text"
    with pytest.raises(InputError, match="cannot be read") as error:  # whoever vets it, it is out of sight
        source.people(GateQuery(("age",), "\"disease\" = 'Asthma'"))
    assert "Asthma" not in str(error.value)
    assert source.people(between(20, 22)).keys == WANTED[0], "and it goes on"
    source.close()


@pytest.mark.parametrize("place", [in_parquet, in_duckdb])
def test_the_order_of_the_rows_tells_nothing(place, tmp_path: Path) -> None:
    """Whoever was added last, or stands first in the file, is answered in the same place as before."""
    found = []
    for name, rows in (("one", RUNNING), ("other", [*RUNNING[4:], *RUNNING[3::-1]])):
        folder = tmp_path / name
        folder.mkdir()
        source = ProtectedTable.open(place(folder, ""))
        source.close()
        write(folder / "t.parquet", rows)
        if place is in_duckdb:
            (folder / "clinic.duckdb").unlink()
            with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
                connection.execute(f"CREATE TABLE t AS FROM '{folder}/t.parquet'")
        source = ProtectedTable.open(policy(folder, source=source.policy.source))
        everyone, some = source.everyone(), source.people(between(20, 25))
        found.append([(each.keys, each.cells, each.secrets) for each in (everyone, some)])
        source.close()
    assert found[0] == found[1]
    assert found[0][0][0] == tuple(sorted(row[0] for row in RUNNING))


def test_a_file_is_read_as_every_other_command_reads_it(tmp_path: Path) -> None:
    lines = ["Kürzel;Gewicht;geboren;Befund", "007;1.050,5;31.12.1980;Grippe", "008;70,0;01.02.1990;Gicht"]
    (tmp_path / "t.csv").write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    content = {
        "table": {
            "source": "t.csv",
            "name": "t",
            "key": "Kürzel",
            "quasi_identifiers": ["Gewicht", "geboren"],
        },
        "sensitive": {"Befund": {}},
        "protection": {"k": 2},
    }
    source = ProtectedTable.open(GatePolicy.from_dict(content, tmp_path))
    assert source.types == {"Gewicht": "double precision", "geboren": "date", "Befund": "text"}
    people = source.people(
        GateQuery(("Befund",), '"Gewicht" > ? AND "geboren" < DATE \'1985-01-01\'', (100,))
    )
    assert (people.keys, people.cells["Gewicht"]) == (("007",), (1050.5,))
    source.close()


def test_names_with_signs_are_no_parameters(tmp_path: Path, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute('CREATE TABLE IF NOT EXISTS odd (name text, "100%?" int, "a""?" int, s text)')
        connection.execute("INSERT INTO odd VALUES ('x', 1, 2, 'A'), ('y', 3, 2, 'B')")
    content = {
        "table": {"source": postgres, "name": "odd", "key": "name", "quasi_identifiers": ["100%?", 'a"?']},
        "sensitive": {"s": {}},
        "protection": {"k": 2},
    }
    source = ProtectedTable.open(GatePolicy.from_dict(content, tmp_path))
    assert source.people(GateQuery(("s",), '"100%?" = ? AND "a""?" = ?', (3, 2))).keys == ("y",)
    source.close()


def test_postgres_is_only_read(tmp_path: Path, postgres: str) -> None:
    source = ProtectedTable.open(in_postgres(tmp_path, postgres))
    with pytest.raises(InputError):
        source.people(GateQuery(("age",), "(SELECT count(*) FROM (DELETE FROM t RETURNING 1) x) > 0"))
    with pytest.raises(InputError, match="ReadOnly"):
        source._execute("DELETE FROM t")  # type: ignore[attr-defined]
    source.close()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*RUNNING, RUNNING[0]], "10 rows 0 have no name and 1 repeats one"),
        ([*RUNNING, (None, *RUNNING[0][1:])], "10 rows 1 has no name"),
    ],
)
def test_everybody_has_exactly_one_row(rows: list, message: str, tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", rows)
    with pytest.raises(ColumnError, match=message) as error:
        ProtectedTable.open(policy(tmp_path))
    assert "Alison" not in str(error.value)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        ProtectedTable.open(policy(tmp_path))
    write(tmp_path / "t.parquet", [])
    with pytest.raises(InputError, match="no rows"):
        ProtectedTable.open(policy(tmp_path))
    write(tmp_path / "t.parquet")
    (tmp_path / "t.duckdb").write_text("nothing", encoding="utf-8")
    with pytest.raises(InputError, match="no DuckDB file"):
        ProtectedTable.open(policy(tmp_path, source="t.duckdb"))
    with pytest.raises(ParameterError, match="the gate reads"):
        ProtectedTable.open(policy(tmp_path, source="mysql://ann:secret@db/clinic"))
    content = {
        "table": {"source": "t.parquet", "name": "t", "key": "name", "quasi_identifiers": ["height"]},
        "sensitive": {"disease": {"k": 2}},
    }
    with pytest.raises(ColumnError, match="no column 'height'; it has name, age"):
        ProtectedTable.open(GatePolicy.from_dict(content, tmp_path))
