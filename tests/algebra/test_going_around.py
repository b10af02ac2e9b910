"""The attacker who writes SQL: he may ask anything, and wants raw rows, files, side effects or a second draw.

Everything he sends is read by an allow-list; what is read becomes a plan over the given tables, and only
plans reach the engine. Here he plays against a real session, with files that he would like to read or write.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.nodes import PostProcessing, Relation
from tarnkappe.algebra.session import QuerySession
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.errors import QueryError, TarnkappeError
from tarnkappe.hierarchy import Hierarchy

SECRET = "Erika Mustermann"
AWKWARD = 'plz"; DROP TABLE spender; --'
CODES = Hierarchy.from_rows(
    [["18055", "180**", "*"], ["18057", "180**", "*"], ["19053", "190**", "*"], ["19055", "190**", "*"]]
)
SPENDER = pa.table(
    {
        "name": [SECRET, "Max", "Ann", "Bea"],
        "plz": ["18055", "18057", "19053", "19055"],
        "alter": [31, 34, 52, 57],
        AWKWARD: ["x", "y", "it's", "--"],
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    pq.write_table(SPENDER, folder / "spender.parquet")
    (folder / "passwords.csv").write_text(f"user;password\n{SECRET};hunter2\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[QuerySession]:
    with connect({"spender": folder / "spender.parquet"}) as backend:
        yield QuerySession(backend, Catalog(backend.relations, {"plz": CODES}))


def fingerprint(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


ATTACKS = [
    # other statements
    "DROP TABLE spender",
    "CREATE VIEW v AS SELECT * FROM spender",
    "CREATE TABLE kopie AS SELECT * FROM spender",
    "INSERT INTO spender SELECT * FROM spender",
    "UPDATE spender SET alter = 0",
    "DELETE FROM spender",
    "COPY spender TO '{folder}/stolen.csv'",
    "COPY (SELECT * FROM spender) TO '{folder}/stolen.parquet' (FORMAT parquet)",
    "EXPORT DATABASE '{folder}/stolen'",
    "ATTACH '{folder}/new.db' AS neu",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA database_list",
    "PRAGMA table_info('spender')",
    "SET enable_external_access = true",
    "CALL pg_reload_conf()",
    "DO $$ BEGIN DELETE FROM spender; END $$",
    "EXPLAIN ANALYZE SELECT * FROM spender",
    "PREPARE p AS SELECT * FROM spender",
    "EXECUTE p",
    "VACUUM",
    "CHECKPOINT",
    "GRANT ALL ON spender TO public",
    "TRUNCATE spender",
    "MERGE INTO spender USING spender ON true WHEN MATCHED THEN DELETE",
    "SHOW TABLES",
    "DESCRIBE spender",
    "SUMMARIZE spender",
    "FROM spender",
    "TABLE spender",
    "VALUES (1)",
    # several statements, with and without comments between them
    "SELECT plz FROM spender; DROP TABLE spender",
    "SELECT plz FROM spender; -- harmless\nDELETE FROM spender",
    "SELECT plz FROM spender /* ; */ ; SELECT name FROM spender",
    "SELECT plz FROM spender;;SELECT 1",
    # statements inside of queries
    "WITH x AS (DELETE FROM spender RETURNING *) SELECT * FROM x",
    "WITH x AS (INSERT INTO spender SELECT * FROM spender RETURNING *) SELECT * FROM x",
    "SELECT * FROM (DROP TABLE spender)",
    "SELECT * FROM (COPY spender TO '{folder}/stolen.csv')",
    "SELECT name INTO kopie FROM spender",
    # files and tables that nobody gave
    "SELECT * FROM read_csv('{folder}/passwords.csv')",
    "SELECT * FROM read_csv_auto('{folder}/passwords.csv')",
    "SELECT * FROM read_parquet('{folder}/spender.parquet')",
    "SELECT * FROM read_text('{folder}/passwords.csv')",
    "SELECT * FROM read_blob('{folder}/*')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM '{folder}/passwords.csv'",
    'SELECT * FROM "{folder}/passwords.csv"',
    "SELECT * FROM generalize('{folder}/passwords.csv', k => 1, by => [])",
    'SELECT * FROM generalize("{folder}/spender.parquet", k => 1, by => [])',
    "SELECT * FROM parquet_metadata('{folder}/spender.parquet')",
    "SELECT * FROM pg_read_file('/etc/passwd')",
    "SELECT pg_read_file('/etc/passwd') FROM spender",
    "SELECT plz FROM spender WHERE pg_read_file('/etc/passwd') = plz",
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd') FROM spender",
    "SELECT * FROM dblink('host=evil', 'SELECT 1')",
    "SELECT * FROM postgres_scan('host=evil', 'public', 't')",
    "SELECT * FROM sqlite_scan('{folder}/x.db', 't')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_shadow",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM main.spender",
    "SELECT * FROM tarnkappe_v0",
    "SELECT * FROM tarnkappe_source",
    "SELECT * FROM spender_view",
    # set-returning and other functions, wherever they stand
    "SELECT * FROM generate_series(1, 100000000)",
    "SELECT * FROM range(100000000)",
    "SELECT * FROM unnest([1, 2])",
    "SELECT unnest([1, 2]) FROM spender",
    "SELECT plz FROM spender WHERE random() < 0.5",
    "SELECT plz FROM spender WHERE pg_sleep(100) IS NULL",
    "SELECT plz FROM spender WHERE nextval('s') > 0",
    "SELECT set_config('a', 'b', false) FROM spender",
    "SELECT getenv('HOME') FROM spender",
    "SELECT current_user FROM spender",
    "SELECT version() FROM spender",
    "SELECT plz FROM spender GROUP BY sleep(1)",
    "SELECT plz FROM spender ORDER BY random()",
    "SELECT count(pg_read_file('x')) AS n FROM spender",
    "SELECT row_to_json(spender) FROM spender",
    "SELECT rowid FROM spender",
    # ways around an operator to the raw rows
    "SELECT plz FROM generalize(spender, k => 2, by => [plz]) WHERE plz IN (SELECT plz FROM spender)",
    "SELECT plz FROM generalize(spender, k => 2, by => [plz]) WHERE EXISTS (SELECT name FROM spender)",
    "SELECT (SELECT name FROM spender) FROM generalize(spender, k => 2, by => [plz])",
    "SELECT plz FROM spender FOR UPDATE",
    "WITH RECURSIVE r AS (SELECT plz FROM spender UNION ALL SELECT plz FROM r) SELECT * FROM r",
    "SELECT * FROM spender PIVOT (count(*) FOR plz IN ('18055'))",
    "SELECT * FROM spender |> WHERE alter > 3",
    "SELECT * FROM generalize(k => 2, by => [plz], spender => spender)",
    "SELECT * FROM anonymize(spender)",
    "SELECT * FROM query('SELECT * FROM spender')",
    "SELECT * FROM query_table('spender')",
]


ORDINARY = [
    # what DuckDB computes from rows that may be read anyway: nothing but these rows is within its reach
    "SELECT plz FROM spender, LATERAL (SELECT name FROM spender) x",
    "SELECT md5(name) FROM spender",
    "SELECT name || plz AS both FROM spender",
    "SELECT list(name) AS names FROM spender",
    "SELECT string_agg(name, ',') AS names FROM spender",
    "SELECT first(name) AS name FROM spender",
    "SELECT any_value(name) AS name FROM spender",
    "SELECT spender FROM spender",
    "SELECT COLUMNS('.*') FROM spender",
    "SELECT * EXCLUDE (plz) FROM spender",
    "SELECT * REPLACE (name AS plz) FROM spender",
    "SELECT CASE WHEN name = 'Max' THEN plz END AS p FROM spender",
    "SELECT plz FROM generalize(spender, k => 2, by => [plz]) LIMIT 1",
    "SELECT plz FROM generalize(spender, k => 2, by => [plz]) OFFSET 3",
    "SELECT plz FROM spender TABLESAMPLE (1 ROWS)",
    "SELECT plz FROM spender QUALIFY row_number() OVER () = 1",
    "SELECT sum(alter) OVER (ORDER BY name) AS s FROM spender",
    'WITH r AS (SELECT * FROM slice(spender, groups => [[plz], [name, alter, "plz""; DROP TABLE spender; --"]])) SELECT plz FROM r UNION ALL SELECT plz FROM r',
]


@pytest.mark.parametrize("query", ORDINARY)
def test_ordinary_sql_reads_nothing_but_the_tables_that_it_names(session: QuerySession, query: str) -> None:
    plan = session.read(query).plan
    assert isinstance(plan, PostProcessing)
    assert {node.name for node in plan.walk() if isinstance(node, Relation)} == {"spender"}


@pytest.mark.parametrize("attack", ATTACKS)
def test_it_is_refused_before_the_engine_hears_of_it(
    session: QuerySession, folder: Path, attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint(folder)

    def asked(*_: object, **__: object) -> None:
        raise AssertionError("the engine was asked")

    for method in ("execute", "statistics", "site"):
        monkeypatch.setattr(Backend, method, asked, raising=False)
        monkeypatch.setattr(type(session.backend), method, asked)
    text = attack.replace("{folder}", str(folder))
    with pytest.raises(QueryError) as error:
        session.sql(text)
    assert SECRET not in str(error.value)
    assert "hunter2" not in str(error.value)
    with pytest.raises(QueryError):
        session.explain(text)
    assert fingerprint(folder) == before


HANDLED = {
    "a comment is a comment": ("SELECT plz -- , name\nFROM spender /* , passwords */", ["18055", "18057", "19053", "19055"]),
    "a semicolon at the end": ("SELECT plz FROM spender WHERE alter > 55;", ["19055"]),
    "a subquery is an operand": ("SELECT plz FROM (SELECT plz, alter FROM spender WHERE alter < 33) AS jung", ["18055"]),
    "a common table expression": ("WITH alt AS (SELECT * FROM spender WHERE alter > 55) SELECT plz FROM alt", ["19055"]),
    "one that hides a table": ("WITH spender AS (SELECT plz FROM spender WHERE alter > 55) SELECT * FROM spender", ["19055"]),
    "a statement in a text": (f"SELECT plz FROM spender WHERE name = '{SECRET}''; DROP TABLE spender; --'", []),
    "a quote in a text": ("SELECT plz FROM spender WHERE \"plz\"\"; DROP TABLE spender; --\" = 'it''s'", ["19053"]),
    "a statement as a name": ("SELECT \"plz\"\"; DROP TABLE spender; --\" AS plz FROM spender WHERE alter < 33", ["x"]),
    "a pattern is no pattern of files": ("SELECT plz FROM spender WHERE plz LIKE '%/../*' OR alter > 55", ["19055"]),
    "an operator in a subquery": (
        "SELECT plz FROM (SELECT * FROM generalize((SELECT plz FROM spender), k => 2, by => [plz])) g",
        ["180**", "180**", "190**", "190**"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HANDLED)
def test_what_is_harmless_is_read_as_what_it_says(session: QuerySession, folder: Path, name: str) -> None:
    text, expected = HANDLED[name]
    before = fingerprint(folder)
    answer = session.sql(text).table
    assert sorted(answer.column("plz").to_pylist()) == expected
    assert fingerprint(folder) == before


def test_a_view_of_a_database_is_no_table(tmp_path: Path) -> None:
    """What a view does is not known here, so it is not offered; neither are tables of other schemas by accident."""
    with duckdb.connect(str(tmp_path / "x.db")) as database:
        database.execute("CREATE TABLE spender AS SELECT 1 AS plz")
        database.execute("CREATE VIEW sicht AS SELECT * FROM spender")
        database.execute("CREATE MACRO makro() AS TABLE SELECT * FROM spender")
    with connect(f"duckdb:///{tmp_path / 'x.db'}") as backend:
        session = QuerySession(backend, Catalog(backend.relations))
        assert session.sql("SELECT plz FROM spender").table.num_rows == 1
        for attempt in ("sicht", "makro()", "main.sicht", "x.spender"):
            with pytest.raises(QueryError):
                session.sql(f"SELECT * FROM {attempt}")


def test_views_and_functions_of_postgresql_are_no_tables(postgres: str) -> None:
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as database:
        database.execute("CREATE TABLE IF NOT EXISTS around (plz int)")
        database.execute("INSERT INTO around VALUES (18055)")
        database.execute(
            "CREATE OR REPLACE FUNCTION leck() RETURNS SETOF around LANGUAGE sql AS 'DELETE FROM around RETURNING *'"
        )
        database.execute("CREATE OR REPLACE VIEW sicht AS SELECT * FROM leck()")
    with connect(postgres) as backend:
        session = QuerySession(backend, Catalog(backend.relations))
        for attempt in (
            "sicht",
            "leck()",
            "pg_class",
            "pg_read_file('PG_VERSION')",
            "public.around x, leck()",
        ):
            with pytest.raises(QueryError):
                session.sql(f"SELECT * FROM {attempt}")
        assert session.sql("SELECT plz FROM around").table.num_rows == 1


def test_the_engine_itself_opens_no_other_file(folder: Path) -> None:
    """A second wall behind the reader: even SQL that reached DuckDB could not read beside the given files."""
    with connect({"spender": folder / "spender.parquet"}) as backend:
        connection = backend.connection  # type: ignore[attr-defined]
        for statement in (
            f"SELECT * FROM read_csv('{folder}/passwords.csv')",
            f"COPY (SELECT 1) TO '{folder}/stolen.csv'",
            f"ATTACH '{folder}/new.db'",
            "SET enable_external_access = true",
            "INSTALL httpfs",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(statement)
    assert {path.name for path in folder.iterdir()} == {"spender.parquet", "passwords.csv"}


WORDS = [
    "SELECT", "*", "FROM", "spender", "WHERE", "name", "plz", "=", "'x'", "(", ")", ",", ";", "--", "/*", "*/", "UNION",
    "ALL", "generalize", "k", "=>", "1", "by", "[", "]", "WITH", "x", "AS", "read_csv", "COPY", "TO", "'/etc/passwd'",
    "DROP", "TABLE", "ATTACH", "PRAGMA", "'", '"', "\n", "LIMIT", "JOIN", "NATURAL", "slice", "groups", "$$", "::", "|>",
]  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_whatever_is_read_asks_for_given_tables_only(words: list[str]) -> None:
    with contextlib.suppress(QueryError):
        plan = read_sql(" ".join(["SELECT", *words]), {"spender": SPENDER.column_names}).plan
        assert {node.name for node in plan.walk() if isinstance(node, Relation)} == {"spender"}


def test_errors_of_the_engine_do_not_quote_cells(session: QuerySession) -> None:
    """Types that do not go together are refused here, before an engine could say which cell it disliked."""
    with pytest.raises(TarnkappeError) as error:
        session.sql("SELECT plz FROM spender WHERE name > 5")
    assert SECRET not in str(error.value)
