"""The protocol byte by byte: what a client of another kind than ours may send."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from pygwire import messages

from tests.gate.server.gates import PASSWORD, Running, people, policy, put, running
from tests.gate.server.scram_client import PLAIN, Client, receive


@contextmanager
def logged_in(gate: Running, version: int = 196_608) -> Iterator[tuple[socket.socket, dict[str, bytes]]]:
    with socket.create_connection(("127.0.0.1", gate.port), timeout=20) as stream:
        yield stream, Client("ann", PASSWORD, PLAIN, None, version=version).log_in_over(stream)


def talk(stream: socket.socket, *said: messages.PGMessage) -> list[tuple[bytes, bytes]]:
    """Send messages, and return the answers up to ReadyForQuery."""
    stream.sendall(b"".join(message.to_wire() for message in said))
    heard: list[tuple[bytes, bytes]] = []
    while not heard or heard[-1][0] != b"Z":
        heard.append(receive(stream))
    return heard


def kinds(heard: list[tuple[bytes, bytes]]) -> str:
    return b"".join(kind for kind, _ in heard if kind != b"N").decode()


def sqlstate(heard: list[tuple[bytes, bytes]]) -> str:
    (body,) = [body for kind, body in heard if kind == b"E"]
    return body.split(b"\0C", 1)[1][:5].decode()


SYNC = messages.Sync()


def test_a_portal_gives_as_many_rows_as_are_asked_for(small: Running) -> None:
    with logged_in(small) as (stream, _):
        heard = talk(
            stream,
            messages.Query(query_string="BEGIN"),
        )
        heard = talk(
            stream,
            messages.Parse(statement="s", query="SELECT age FROM patients WHERE age > $1", param_types=[23]),
            messages.Bind(portal="p", statement="s", param_formats=[1], param_values=[struct.pack("!i", 18)]),
            messages.Describe(kind="S", name="s"),
            messages.Describe(kind="P", name="p"),
            messages.Execute(portal="p", max_rows=3),
            SYNC,
        )
        assert kinds(heard) == "12tTTDDDsZ"
        heard = talk(stream, messages.Execute(portal="p", max_rows=2), SYNC)
        assert kinds(heard) == "DDsZ"
        rest = kinds(talk(stream, messages.Execute(portal="p", max_rows=0), SYNC))
        assert rest.startswith("D")
        assert rest.endswith("CZ")
        assert kinds(talk(stream, messages.Close(kind="P", name="p"), SYNC)) == "3Z"
        assert sqlstate(talk(stream, messages.Execute(portal="p"), SYNC)) == "34000"


def test_after_an_error_everything_is_skipped_up_to_the_next_sync(small: Running) -> None:
    with logged_in(small) as (stream, _):
        heard = talk(
            stream,
            messages.Parse(query="SELECT nothing FROM patients"),
            messages.Bind(),
            messages.Execute(),
            SYNC,
        )
        assert kinds(heard) == "EZ"
        assert sqlstate(heard) == "42703"
        assert (
            kinds(talk(stream, messages.Parse(query="SELECT 1"), messages.Bind(), messages.Execute(), SYNC))
            == "12DCZ"
        )


def test_empty_and_unknown_things(small: Running) -> None:
    with logged_in(small) as (stream, _):
        assert kinds(talk(stream, messages.Query(query_string=" ; "))) == "IZ"
        assert (
            kinds(talk(stream, messages.Parse(query=""), messages.Bind(), messages.Execute(), SYNC)) == "12IZ"
        )
        assert sqlstate(talk(stream, messages.Bind(statement="x"), SYNC)) == "26000"
        assert sqlstate(talk(stream, messages.Describe(kind="P", name="x"), SYNC)) == "34000"
        assert sqlstate(talk(stream, messages.Describe(kind="X", name="x"), SYNC)) == "08P01"
        assert (
            sqlstate(talk(stream, messages.Query(query_string="SELECT age FROM patients WHERE age = $1")))
            == "42P02"
        )
        wrong = messages.Bind(param_values=[b"nonsense"])
        heard = talk(stream, messages.Parse(query="SELECT age FROM patients WHERE age = $1"), wrong, SYNC)
        assert sqlstate(heard) == "22P02"
        too_many = messages.Bind(param_values=[b"1", b"2"])
        heard = talk(stream, messages.Parse(query="SELECT age FROM patients WHERE age = $1"), too_many, SYNC)
        assert sqlstate(heard) == "08P01"
        assert kinds(talk(stream, messages.Query(query_string="SELECT 1"))) == "TDCZ"


def test_a_function_call_of_the_old_protocol_is_refused(small: Running) -> None:
    with logged_in(small) as (stream, _):
        stream.sendall(messages.FunctionCall(function_oid=1).to_wire())
        assert receive(stream)[0] == b"E"
        assert stream.recv(1) == b""


@pytest.mark.parametrize("version", [196_608, 196_610, 196_609, 3 << 16 | 9999])
def test_versions_of_the_protocol_that_are_known_and_that_are_not(small: Running, version: int) -> None:
    with logged_in(small, version) as (stream, seen):
        assert len(seen["K"]) == (4 + 32 if version & 0xFFFF >= 2 else 4 + 4)
        assert ("v" in seen) is (version not in (196_608, 196_610))
        assert kinds(talk(stream, messages.Query(query_string="SELECT 1"))) == "TDCZ"


@pytest.mark.parametrize("right", [True, False])
def test_only_who_knows_the_secret_cancels(folder: Path, right: bool) -> None:
    chosen = policy(put(people(40), "parquet", folder), folder)
    with running(chosen, folder, deadline=1.0) as gate, logged_in(gate) as (stream, seen):
        process, secret = struct.unpack("!I", seen["K"][:4])[0], seen["K"][4:]
        slow = threading.Event()
        answer = gate.keeper.answer

        def waiting(*asked: object) -> object:
            slow.set()
            time.sleep(0.5)
            return answer(*asked)  # type: ignore[arg-type]

        gate.keeper.answer = waiting  # type: ignore[assignment, method-assign]
        stream.sendall(messages.Query(query_string="SELECT age, disease FROM patients").to_wire())
        assert slow.wait(10)
        with socket.create_connection(("127.0.0.1", gate.port), timeout=10) as other:
            request = messages.CancelRequest(process_id=process, secret_key=secret if right else b"\0" * 4)
            other.sendall(request.to_wire())
            assert other.recv(1) == b""
        heard: list[tuple[bytes, bytes]] = []
        while not heard or heard[-1][0] != b"Z":
            heard.append(receive(stream))
        assert (kinds(heard) == "EZ") is right
        if right:
            assert sqlstate(heard) == "57014"
            time.sleep(0.6)  # what has begun is decided and kept, whoever wants it
            assert gate.keeper.status()["histories"][0]["answers"] == 1


def test_a_client_that_is_silent_too_long_is_told_so(folder: Path) -> None:
    chosen = policy(put(people(20), "parquet", folder), folder)
    with running(chosen, folder, idle_seconds=0.2) as gate, logged_in(gate) as (stream, _):
        kind, body = receive(stream)
        assert kind == b"E"
        assert b"57P05" in body
        assert stream.recv(1) == b""


def test_too_many_clients_are_told_so(folder: Path) -> None:
    chosen = policy(put(people(20), "parquet", folder), folder)
    full = pytest.raises(psycopg.OperationalError, match="too many clients")
    with running(chosen, folder, connections=2) as gate, gate.connect(), gate.connect(), full:
        gate.connect()


def test_a_message_that_is_too_long_ends_the_connection(folder: Path) -> None:
    chosen = policy(put(people(20), "parquet", folder), folder)
    with running(chosen, folder, largest_message=2_000) as gate, logged_in(gate) as (stream, _):
        assert kinds(talk(stream, messages.Query(query_string="SELECT '" + "x" * 1_000 + "'"))) == "TDCZ"
        stream.sendall(b"Q" + struct.pack("!I", 2**31))
        kind, body = receive(stream)
        assert (kind, b"08P01" in body) == (b"E", True)
        assert stream.recv(1) == b""


def test_everybody_is_told_when_the_gate_closes(folder: Path) -> None:
    chosen = policy(put(people(20), "parquet", folder), folder)
    with running(chosen, folder) as gate:
        connection = gate.connect()
        connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="closing"):
        connection.execute("SELECT 1")


def test_variables_are_kept_shown_and_reported(small: Running) -> None:
    with small.connect() as connection:
        assert connection.info.parameter_status("server_version") == "16.0"
        connection.execute("SET application_name TO 'a report'")
        assert connection.info.parameter_status("application_name") == "a report"
        assert connection.execute("SHOW application_name").fetchone() == ("a report",)
        connection.execute("RESET application_name")
        assert connection.execute("SHOW application_name").fetchone() == ("",)
        for refused in (
            "SET client_encoding = 'LATIN1'",
            "SET datestyle = 'German'",
            "SHOW secrets",
            "SET x = 1",
        ):
            with pytest.raises(psycopg.Error):
                connection.execute(refused)
        connection.execute("SET client_min_messages = warning")
        told: list[str] = []
        connection.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
        connection.execute("SELECT age, disease FROM patients")
        assert told == []
        connection.execute("DISCARD ALL")
        connection.execute("SELECT age, disease FROM patients")
        assert told == ["The answer may contain artificial values."]


def test_a_long_statement_is_read_aside(small: Running) -> None:
    with small.connect() as connection:
        ages = ", ".join(map(str, range(1_500)))
        whole = connection.execute("SELECT age FROM patients").fetchall()
        assert sorted(
            connection.execute(f"SELECT age FROM patients WHERE age IN ({ages})").fetchall()
        ) == sorted(whole)
        with pytest.raises(psycopg.errors.StatementTooComplex):
            connection.execute("SELECT age FROM patients WHERE " + " OR ".join(["age = 1"] * 1_500))
