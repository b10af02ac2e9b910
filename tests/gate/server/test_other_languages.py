"""Clients of other languages, where they are installed: node's `pg`, and the JDBC driver of PostgreSQL.

Neither is a package of Python. `pg` is looked for where node looks (`npm install pg`, `NODE_PATH`), the driver's jar where
`TARN_JDBC_JAR` says, where Debian's libpostgresql-jdbc-java puts it, and in Maven's store.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.gate.server.gates import DISEASES, PASSWORD, Running

HERE = Path(__file__).parent
LABELS = {*DISEASES, "(other)"}


def said(command: list[str]) -> str:
    environment = {**os.environ, "PGPASSWORD": PASSWORD}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def node() -> str:
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not here")
    looking = [program, "-e", "require.resolve('pg')"]
    if subprocess.run(looking, capture_output=True, cwd=HERE, timeout=60, check=False).returncode:
        pytest.skip("node's package pg is not here (npm install pg, NODE_PATH)")
    return program


def jdbc() -> tuple[str, Path]:
    program = shutil.which("java")
    if program is None:
        pytest.skip("java is not here")
    maven = Path.home() / ".m2/repository/org/postgresql/postgresql"
    named = os.environ.get("TARN_JDBC_JAR")
    places = [
        *([Path(named)] if named else []),
        Path("/usr/share/java/postgresql.jar"),
        *sorted(maven.glob("*/postgresql-*.jar"), reverse=True),
    ]
    found = [place for place in places if place.is_file()]
    if not found:
        pytest.skip("the JDBC driver of PostgreSQL is not here (libpostgresql-jdbc-java, TARN_JDBC_JAR)")
    return program, found[0]


def test_node_asks_prepares_fails_and_pools(computing: Running) -> None:
    told: dict[str, Any] = dict(
        json.loads(line) for line in said([node(), str(HERE / "ask.js"), str(computing.port)]).splitlines()
    )
    assert {row["disease"] for row in told["rows"]} <= LABELS
    assert {row["age"] for row in told["array"]} <= {"20", "47"}
    assert {row["disease"] for row in told["over"]} <= LABELS - {"flu"}
    assert sum(told["prepared"]) == 60
    assert told["two statements"] == [[{"one": 1}], [{"n": "60"}]]
    assert told["column"] == ["42703", 'column "diseas" does not exist', 'Did you mean "disease"?']
    assert told["aborted"][0] == "25P02"
    assert told["after"] == [{"one": 1}]
    assert any("may contain artificial values" in notice for notice in told["notices"])
    assert told["pool"] == sorted(told["pool"], reverse=True)


def test_the_driver_of_java_reads_the_catalog_asks_and_walks(computing: Running) -> None:
    program, jar = jdbc()
    told = defaultdict(list)
    for line in said([program, "-cp", str(jar), str(HERE / "Ask.java"), str(computing.port)]).splitlines():
        name, _, value = line.partition("\t")
        told[name].append(value)
    assert told["product"] == ["PostgreSQL"]
    assert told["table"] == ["patients TABLE"]
    assert told["column"] == ["age int8", "zip text", "sex text", "disease text"]
    nothing = (
        "primary keys",
        "indices",
        "best row",
        "imported keys",
        "exported keys",
        "functions",
        "procedures",
    )
    assert all(told[name] == [""] for name in nothing)
    assert told["keywords"] == told["types"] == told["valid"] == ["true"]
    assert len(told["prepared"]) == 7
    assert len(set(told["prepared"])) == 1, "the same people get the same answer"
    assert told["parameters"] == ["int4 varchar"]
    assert {row for row in told["array"][0].split(";") if row} <= {"20", "47"}
    assert {row.split(",")[0] for row in told["over"][0].split(";") if row} <= LABELS - {"flu"}
    assert "may contain artificial values" in told["warning"][0]
    assert told["walked"] == ["56"]
    assert told["error"] == ['42703 ERROR: column "diseas" does not exist   Hint: Did you mean "disease"?']
    assert told["after"] == ["60;"]
    assert told["place"] == ["tarnkappe public"]
