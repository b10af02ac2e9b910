"""The attacker sends anything: the gate neither fails nor hangs, and tells nothing of its inside."""

from __future__ import annotations

import contextlib
import logging
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygwire import messages

from tests.gate.server.gates import PASSWORD, Running, people, policy, put, running
from tests.gate.server.scram_client import PLAIN, Client, receive

TEXTS = st.text(max_size=20).filter(lambda text: "\0" not in text and text.isprintable())
NAMES = st.sampled_from(["", "s", "p", "ß"])
SQL = st.sampled_from(
    [
        "SELECT 1",
        "SELECT age, disease FROM patients WHERE age > $1",
        "SELECT age FROM patients WHERE zip = ANY($1)",
        "BEGIN",
        "ROLLBACK",
        "DECLARE p CURSOR FOR SELECT age FROM patients",
        "FETCH 2 FROM p",
        "CLOSE ALL",
        "DISCARD ALL",
        "SHOW ALL",
        "SELECT * FROM pg_class WHERE oid = $1",
        "",
        "nonsense",
    ]
)
FORMS = st.lists(st.integers(0, 3), max_size=3)
MESSAGES = st.one_of(
    st.builds(messages.Query, query_string=SQL | TEXTS),
    st.builds(
        messages.Parse,
        statement=NAMES,
        query=SQL | TEXTS,
        param_types=st.lists(st.sampled_from([0, 20, 23, 25, 1009, 99_999]), max_size=3),
    ),
    st.builds(
        messages.Bind,
        portal=NAMES,
        statement=NAMES,
        param_formats=FORMS,
        param_values=st.lists(st.none() | st.binary(max_size=12), max_size=3),
        result_formats=FORMS,
    ),
    st.builds(messages.Describe, kind=st.sampled_from("SPX"), name=NAMES),
    st.builds(messages.Execute, portal=NAMES, max_rows=st.sampled_from([0, 1, 5, 2**31, 2**32 - 1])),
    st.builds(messages.Close, kind=st.sampled_from("SPX"), name=NAMES),
    st.just(messages.Sync()),
    st.just(messages.Flush()),
    st.builds(messages.CopyData, data=st.binary(max_size=5)),
    st.builds(messages.CopyFail),
    st.builds(messages.FunctionCall),
)
FRAMES = st.builds(
    lambda kind, length, body: kind + struct.pack("!I", length) + body,
    st.binary(min_size=1, max_size=1),
    st.integers(0, 40) | st.sampled_from([2**31, 2**32 - 1]),
    st.binary(max_size=40),
)
STARTUPS = st.builds(
    lambda length, code, body: struct.pack("!II", length, code) + body,
    st.integers(0, 60) | st.just(2**31),
    st.sampled_from(
        [196_608, 196_610, 80_877_102, 80_877_103, 80_877_104, 131_072, 0, 2**32 - 1, 3 << 16 | 7]
    ),
    st.binary(max_size=60) | st.just(b"user\0ann\0database\0x\0\0"),
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("fuzz")
    chosen = policy(put(people(30), "parquet", folder), folder)
    with running(chosen, folder, largest_message=4_096) as gate:
        yield gate


@pytest.fixture(autouse=True)
def nothing_unexpected(caplog: pytest.LogCaptureFixture, fuzzed: Running) -> Iterator[None]:
    """Nothing failed in a way that nobody has thought of, and the others can still ask."""
    with caplog.at_level(logging.WARNING):
        yield
    assert [record.getMessage() for record in caplog.records if record.name.startswith("tarnkappe")] == []
    with fuzzed.connect() as connection:
        assert connection.execute("SELECT count(*) FROM patients").fetchone() == (30,)


@pytest.fixture(scope="module")
def one_client(fuzzed: Running) -> Iterator[psycopg.Connection[object]]:
    with fuzzed.connect() as connection:
        yield connection


def drained(stream: socket.socket) -> list[tuple[bytes, bytes]]:
    """Everything that the gate still says, up to the end of the connection."""
    heard = []
    try:
        stream.shutdown(socket.SHUT_WR)
        while True:
            heard.append(receive(stream))
    except OSError:
        return heard


def harmless(heard: list[tuple[bytes, bytes]]) -> None:
    for kind, body in heard:
        assert kind in b"RSKZNETDCIs123ntv"
        if kind == b"E":
            told = body.decode()
            assert "XX000" not in told
            for inside in ("Traceback", "Error:", ".py", "duckdb", "sqlglot", "pygwire", "tarnkappe."):
                assert inside not in told


@settings(max_examples=60)
@given(st.binary(max_size=60) | STARTUPS | st.lists(STARTUPS, max_size=3).map(b"".join))
def test_anything_before_the_login(fuzzed: Running, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", fuzzed.port), timeout=10) as stream:
        try:
            stream.sendall(sent)
        except OSError:
            return
        heard = b""
        try:
            stream.shutdown(socket.SHUT_WR)
            while more := stream.recv(4096):
                heard += more
        except OSError:
            pass
        assert b"Traceback" not in heard


@settings(max_examples=20)
@given(
    st.binary(max_size=60)
    | FRAMES
    | st.binary(max_size=40).map(lambda b: b"p" + struct.pack("!I", 4 + len(b)) + b)
)
def test_anything_in_place_of_a_password(fuzzed: Running, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", fuzzed.port), timeout=10) as stream:
        body = b"user\0ann\0\0"
        stream.sendall(struct.pack("!II", 8 + len(body), 196_608) + body)
        assert receive(stream)[0] == b"R"
        stream.sendall(sent)
        heard = drained(stream)
        harmless(heard)
        assert b"Z" not in {kind for kind, _ in heard}


@settings(max_examples=30)
@given(st.lists(MESSAGES, max_size=10), st.binary(max_size=8) | FRAMES)
def test_messages_in_any_order_and_garbage_after_them(
    fuzzed: Running, said: list[messages.PGMessage], garbage: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", fuzzed.port), timeout=30) as stream:
        Client("ann", PASSWORD, PLAIN, None).log_in_over(stream)
        with contextlib.suppress(OSError):
            stream.sendall(b"".join(message.to_wire() for message in said) + garbage)
        harmless(drained(stream))


@settings(max_examples=30)
@given(
    st.lists(MESSAGES, min_size=1, max_size=6).map(lambda said: b"".join(m.to_wire() for m in said)),
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 255)), max_size=4),
)
def test_messages_with_broken_bytes(fuzzed: Running, sent: bytes, breaks: list[tuple[int, int]]) -> None:
    data = bytearray(sent)
    for place, byte in breaks:
        data[place % len(data)] = byte
    with socket.create_connection(("127.0.0.1", fuzzed.port), timeout=30) as stream:
        Client("ann", PASSWORD, PLAIN, None).log_in_over(stream)
        with contextlib.suppress(OSError):
            stream.sendall(bytes(data))
        harmless(drained(stream))


@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from(
            [
                "SELECT",
                "FROM",
                "patients",
                "WHERE",
                "age",
                "disease",
                "pg_class",
                "pg_attribute",
                "=",
                "(",
                ")",
                ",",
                "*",
                "AND",
                "1",
                "'x'",
                "count(*)",
                "JOIN",
                "ON",
                "true",
                "relname",
                "oid",
                "::regclass",
                "::text",
                "$1",
                "LIMIT",
                "ORDER",
                "BY",
                "GROUP",
                "CASE",
                "WHEN",
                "THEN",
                "END",
                "NULL",
                "unnest(",
                "ARRAY[",
                "]",
                "version()",
                "format_type(25,null)",
                "current_user",
                "UNION",
                "ALL",
                "information_schema.columns",
                "column_name",
                "LATERAL",
                "EXISTS",
                "IN",
                "generate_series(1,3)",
                "pg_get_expr(",
                "||",
                "~",
                "OVER()",
                "max(",
                "string_agg(",
                "DISTINCT",
            ]
        ),
        max_size=14,
    ).map(lambda words: "SELECT " + " ".join(words))
)
def test_statements_of_any_words(one_client: psycopg.Connection[object], statement: str) -> None:
    told: tuple[str | None, str] = ("00000", "")
    try:
        one_client.execute(statement)
    except psycopg.Error as refused:
        told = (refused.sqlstate, str(refused))
    assert told[0] not in ("XX000", None)
    assert "Error" not in told[1]
    assert one_client.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.slow
def test_a_client_that_reads_nothing_holds_nobody_up(folder: Path) -> None:
    chosen = policy(put(people(4_000), "parquet", folder), folder)
    with running(chosen, folder, send_seconds=1) as gate, socket.socket() as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        stream.connect(("127.0.0.1", gate.port))
        stream.settimeout(30)
        Client("ann", PASSWORD, PLAIN, None).log_in_over(stream)
        asked = messages.Parse(query="SELECT age, zip, sex FROM patients").to_wire()
        again = messages.Bind().to_wire() + messages.Execute().to_wire()
        stream.sendall(asked + again * 200 + messages.Sync().to_wire())
        with gate.connect() as connection:
            assert connection.execute("SELECT count(*) FROM patients").fetchone() == (4_000,)
