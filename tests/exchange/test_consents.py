"""Consents of many patients from one file: all of them are taken, or nothing."""

from __future__ import annotations

import json
import time
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
import sqlalchemy as sa

from tarnkappe.errors import AccessError, InputError
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.consents import MATCHING, ConsentFile, import_consents, patient_names
from tarnkappe.exchange.desk.tables import CONSENTS
from tarnkappe.exchange.institution import Institution
from tarnkappe.state import Signer, Store
from tests.exchange.scenes import patients, request, surroundings
from tests.exchange.test_desk import KEYS, OWN, STAFF

HEADER = "patient;kind;until;signed_on;reference\n"
TODAY = date(2026, 6, 1)


def desk_of(table: pa.Table | None = None) -> RequestWorkflow:
    around = {} if table is None else {"institution": Institution("B", table, "id")}
    return RequestWorkflow(Store.in_memory(), OWN, surroundings(**around), STAFF)


def read(desk: RequestWorkflow, path: Path, text: str) -> ConsentFile:
    path.write_text(HEADER + text, encoding="utf-8")
    return ConsentFile.read(path, patient_names(desk), TODAY)


def take(desk: RequestWorkflow, file: ConsentFile, person: str = "Stew", key: str = "Stew") -> dict[str, int]:
    return import_consents(desk, STAFF, file, person, Signer(KEYS[key]).sign(file.statement(person)))


def test_a_file_is_taken_and_logged_by_numbers_and_hash_alone(tmp_path: Path) -> None:
    desk = desk_of()
    text = "P01;identified again;2040-01-01;2026-01-02;form 1\nP01;matching;2040-01-01;2026-01-02;form 1\n"
    text += "P02;withdrawal;;2026-01-02;letter\nP03;matching;2040-01-01;2026-01-02;\n"
    file = read(desk, tmp_path / "consents.csv", text)
    assert take(desk, file) == {"identified again": 1, "matching": 2, "withdrawal": 1}
    asked = request(reidentification=True)
    may = desk.register.may_be_released(pa.array(["P01", "P02", "P03"]), asked)
    assert may.tolist() == [True, False, False]
    assert desk.register.has_withdrawn(["P01", "P02"]) == [False, True]
    with desk.store.reading() as connection:
        kept = [json.loads(row.content) for row in connection.execute(sa.select(CONSENTS))]
    assert sum(MATCHING in each for each in kept) == 2
    entry = list(desk.log.entries())[-1]
    assert (entry.event, entry.details["file"], entry.details["by"]) == (
        "consents imported",
        file.sha256,
        "Stew",
    )
    assert not [name for name in ("P01", "P02", "form") if name in json.dumps(dict(entry.details))]
    assert desk.audit() == []
    assert take(desk, file) == {
        "identified again": 1,
        "matching": 2,
        "withdrawal": 1,
    }  # again: nothing changes
    assert desk.audit() == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("P99;matching;2040-01-01;2026-01-02;", "not known"),
        ("P01;consents;2040-01-01;2026-01-02;", "a kind is one of"),
        ("P04;matching;2020-01-01;2019-01-02;", "until is a day to come"),
        ("P04;matching;;2026-01-02;", "until is a day to come"),
        ("P04;matching;tomorrow;2026-01-02;", "until is a day to come"),
        ("P04;withdrawal;2040-01-01;2026-01-02;", "no end"),
        ("P04;matching;2040-01-01;2027-01-02;", "signed_on"),
        ("P01;matching;2040-01-01;2026-01-02;", "above already"),
        ("P04;matching", "number of columns"),
        ("P04;matching;2040-01-01;2026-01-02;a;b", "number of columns"),
    ],
)
def test_one_bad_line_and_nothing_is_taken(tmp_path: Path, line: str, why: str) -> None:
    desk = desk_of()
    good = "P01;matching;2040-01-01;2026-01-02;\nP02;withdrawal;;2026-01-02;\n"
    with pytest.raises(InputError, match=why) as refused:
        read(desk, tmp_path / "consents.csv", f"{good}{line}\n{line}\n")
    assert "line 4, 5" in str(refused.value) or "above already" in why, "all lines are named"
    assert desk.register.has_withdrawn(["P02"]) == [False]


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "consents.csv"
    for content in (b"", b"\xff\xfe", b"patient;kind\nP01;matching\n"):
        path.write_bytes(content)
        with pytest.raises(InputError):
            ConsentFile.read(path, ["P01"])
    with pytest.raises(InputError, match="cannot be read"):
        ConsentFile.read(tmp_path / "none.csv", [])


def test_only_a_steward_with_her_key_imports(tmp_path: Path) -> None:
    desk = desk_of()
    file = read(desk, tmp_path / "consents.csv", "P02;withdrawal;;2026-01-02;\n")
    with pytest.raises(AccessError, match="steward"):
        take(desk, file, "Ann", "Ann")
    with pytest.raises(AccessError, match="signature"):
        take(desk, file, "Stew", "Ann")
    assert desk.register.has_withdrawn(["P02"]) == [False]


def test_a_package_of_somebody_who_withdraws_goes_back_to_the_check(tmp_path: Path) -> None:
    from tests.exchange.test_desk import decide

    desk = desk_of()
    asked = request()
    desk.receive(asked)
    desk.check(asked.digest, "Stew")
    decide(desk, asked.digest, "Ann")
    decide(desk, asked.digest, "Cleo")
    assert str(desk.state(asked.digest)) == "accepted"
    take(desk, read(desk, tmp_path / "consents.csv", "P02;withdrawal;;2026-01-02;\n"))
    assert str(desk.state(asked.digest)) == "received"
    assert desk.audit() == []


def test_10_000_consents_take_at_most_10_seconds_of_processor_time(tmp_path: Path) -> None:
    rows = patients().to_pylist()[0]
    table = pa.Table.from_pylist([{**rows, "id": f"Q{number}"} for number in range(10_000)])
    desk = desk_of(table)
    text = "".join(f"Q{number};identified again;2040-01-01;2026-01-02;\n" for number in range(10_000))
    start = time.process_time()
    take(desk, read(desk, tmp_path / "consents.csv", text))
    assert time.process_time() - start < 10
