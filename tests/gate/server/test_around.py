"""The attacker tries to get around the gate: with SQL, with errors, with time, under another name."""

from __future__ import annotations

import logging
import re
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from tarnkappe.gate.question import AnswerRows, RefusedQuery
from tests.gate.server.gates import DISEASES, Running, people, policy, put, running
from tests.gate.sql.test_refusals import attempts


def test_no_way_around_gets_an_answer_through_the_wire(small: Running) -> None:
    before = small.keeper.status()
    with small.connect() as connection:
        for statement, sqlstate in attempts():
            for ask in (_simple, _extended):
                with pytest.raises(psycopg.Error) as refused:
                    ask(connection, statement)
                assert refused.value.sqlstate == sqlstate, statement
                told = str(refused.value)
                assert not any(disease in told for disease in DISEASES)
    assert small.keeper.status() == before  # nobody was asked


def _simple(connection: psycopg.Connection[Any], statement: str) -> None:
    answer = connection.pgconn.exec_(statement.encode())
    if answer.error_field(67):
        raise psycopg.errors.lookup((answer.error_field(67) or b"").decode())(answer.error_message.decode())


def _extended(connection: psycopg.Connection[Any], statement: str) -> None:
    connection.execute(statement.encode(), prepare=True)


def test_the_true_link_is_never_shown(small: Running) -> None:
    """Whoever asks for one person does not get the person's value alone."""
    with small.connect() as connection:
        for person, age, zip_, sex, _ in people(60)[:10]:
            rows = connection.execute(
                "SELECT disease FROM patients WHERE age = %s AND zip = %s AND sex = %s", (age, zip_, sex)
            ).fetchall()
            assert len({disease for (disease,) in rows}) >= 3, person
    assert min(small.keeper.degrees()["everyone", "disease"]) >= 3


def test_aggregates_say_no_more_than_the_rows(small: Running) -> None:
    with small.connect() as connection:
        rows = connection.execute("SELECT disease FROM patients WHERE age > 60").fetchall()
        counted = connection.execute(
            "SELECT disease, count(*) FROM patients WHERE age > 60 GROUP BY disease"
        ).fetchall()
    found: dict[str, int] = {}
    for (disease,) in rows:
        found[disease] = found.get(disease, 0) + 1
    assert dict(counted) == found  # the same answer, counted


def test_a_policy_may_refuse_aggregates(folder: Path) -> None:
    chosen = policy(put(people(30), "parquet", folder), folder)
    with running(chosen, folder, aggregates="refuse") as gate, gate.connect() as connection:
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="aggregates"):
            connection.execute("SELECT count(*) FROM patients")
        assert connection.execute("SELECT age FROM patients").fetchall()


def test_answers_and_refusals_leave_at_the_same_times(folder: Path) -> None:
    """A refusal that takes longer to decide than an answer does not leave later."""
    chosen = policy(put(people(30), "parquet", folder), folder)
    with running(chosen, folder, deadline=0.5) as gate, gate.connect() as connection:

        def decided(_: str, question: Any, slot: Any) -> Any:
            number = int(question.parameters[0])
            time.sleep({1: 0.0, 2: 0.2, 3: 0.0, 4: 0.7}[number])
            if number == 2:
                return RefusedQuery("no")
            if number == 3:
                raise RuntimeError("a disease")
            return AnswerRows(("age",), ("integer",), ((33,),))

        gate.keeper.answer = decided  # type: ignore[method-assign]
        for number in (1, 2, 3):
            began = time.monotonic()
            with pytest.raises(psycopg.Error) if number > 1 else _nothing():
                connection.execute("SELECT age FROM patients WHERE age > %s", (number,))
            assert time.monotonic() - began >= 0.5
        began = time.monotonic()
        connection.execute("SELECT age FROM patients WHERE age > %s", (4,))
        assert time.monotonic() - began >= 1.0, "a slot that was missed is followed by a whole further one"
        told = samples(generate_latest(gate.service.metrics.registry).decode())
        left = {dict(labels)["after"]: n for (name, labels), n in told.items() if name == RELEASED}
        assert all(float(seconds) % 0.5 == 0 for seconds in left), "on a busy machine some are late"
        assert sum(left.values()) == 4
        assert told["tarn_gate_late_total", ()] >= 1


RELEASED = "tarn_gate_released_total"
LABELS = {"outcome": {"done", "failed", "error"}, "kind": {"any", "question", "catalog", "session"}}


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """What Prometheus reads: a number for each name with its labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class _nothing:  # noqa: N801
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def test_an_error_of_the_source_says_nothing(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    chosen = policy(put(people(30), "parquet", folder), folder)
    with running(chosen, folder) as gate, gate.connect() as connection, caplog.at_level(logging.INFO):
        (folder / "patients.parquet").write_bytes(b"angina " * 100)
        with pytest.raises(psycopg.errors.InternalError_) as refused:
            connection.execute("SELECT age, disease FROM patients WHERE zip = '10104'")
        assert str(refused.value) == "the question cannot be answered now"
        told = " ".join(record.getMessage() for record in caplog.records)
        assert "angina" not in told
        assert "10104" not in told
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_nothing_secret_is_logged(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    chosen = policy(put(people(30), "parquet", folder), folder)
    with caplog.at_level(logging.DEBUG, logger="tarnkappe"), running(chosen, folder) as gate:
        with gate.connect() as connection:
            connection.execute("SELECT age, disease FROM patients WHERE zip = '10104'")
            with pytest.raises(psycopg.Error):
                connection.execute("SELECT * FROM patients WHERE disease = 'angina'")
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(gate.url(password="the wrong password"))
    told = " ".join(record.getMessage() for record in caplog.records)
    for secret in (*DISEASES, "10104", "SELECT", "wrong", "person-", "SCRAM"):
        assert secret not in told


def test_everybody_is_who_he_logged_in_as(folder: Path) -> None:
    chosen = policy(put(people(40), "parquet", folder), folder, collusion="single")
    with running(chosen, folder) as gate:
        for user in ("ann", "bob"):
            with psycopg.connect(gate.url(user), autocommit=True) as connection:
                connection.execute("SELECT age, disease FROM patients")
                for trick in ("SET ROLE bob", "SET SESSION AUTHORIZATION bob", "RESET SESSION AUTHORIZATION"):
                    with pytest.raises(psycopg.Error):
                        connection.execute(trick)
        histories = {one["history"] for one in gate.keeper.status()["histories"]}
        assert histories == {"user ann", "user bob"}


def test_questions_of_many_clients_are_decided_one_after_another(folder: Path) -> None:
    chosen = policy(put(people(60), "parquet", folder), folder)
    with running(chosen, folder) as gate:
        answer, inside, most = gate.keeper.answer, [0], [0]

        def counted(*asked: Any) -> Any:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            try:
                return answer(*asked)
            finally:
                inside[0] -= 1

        gate.keeper.answer = counted  # type: ignore[method-assign]

        def ask(least: int) -> None:
            with gate.connect() as connection:
                connection.execute("SELECT age, disease FROM patients WHERE age > %s", (least,))

        threads = [threading.Thread(target=ask, args=(20 + number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert most == [1]
        assert min(gate.keeper.degrees()["everyone", "disease"]) >= 3


def test_metrics_count_and_tell_nothing_secret(folder: Path) -> None:
    chosen = policy(put(people(40), "parquet", folder), folder)
    port = _free_port()
    with running(chosen, folder, metrics=("127.0.0.1", port)) as gate:
        with gate.connect() as connection:
            connection.execute("SELECT age, disease FROM patients WHERE zip = '10104'")
            with pytest.raises(psycopg.Error):
                connection.execute("SELECT * FROM secrets")
        answer = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60)
        assert httpx.post(f"http://127.0.0.1:{port}/metrics", timeout=60).status_code == 405
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    text = answer.text
    found = samples(text)
    statements = "tarn_gate_statements_total"
    assert found[statements, (("kind", "question"), ("outcome", "done"))] == 1
    assert found[statements, (("kind", "any"), ("outcome", "error"))] == 1
    assert found["tarn_gate_logins_total", (("outcome", "done"),)] == 1
    for name, labels in found:
        assert name.startswith("tarn_gate_"), "nothing of the process or the machine"
        for label, value in labels:
            assert value in LABELS[label] if name != RELEASED else re.fullmatch(r"[\d.]+", value)
    for secret in (*DISEASES, "ann", "patients", "10104", "artificial"):
        assert secret not in text


def _free_port() -> int:
    import socket

    with socket.socket() as stream:
        stream.bind(("127.0.0.1", 0))
        return int(stream.getsockname()[1])


def test_a_cancel_does_not_tell_when_the_decision_was_made(folder: Path) -> None:
    """Whoever cancels before the answer leaves gets none, whether it was ready or not, and holds nobody up."""
    chosen = policy(put(people(30), "parquet", folder), folder)
    with running(chosen, folder, deadline=1.0) as gate, gate.connect() as connection, gate.connect() as other:
        cancel = threading.Timer(0.3, connection.cancel_safe)
        began = time.monotonic()
        cancel.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("SELECT age, disease FROM patients")
        assert time.monotonic() - began < 1.0
        assert other.execute("SELECT age FROM patients WHERE age > 50") is not None
        assert time.monotonic() - began >= 2.0  # the turn of the other began when the first one's was over
        assert gate.keeper.status()["histories"][0]["answers"] == 1
