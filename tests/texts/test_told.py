"""Errors and reasons in another language, from what crosses processes and is kept."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import (
    LONGEST,
    ColumnError,
    InputError,
    NoSolutionError,
    ParameterError,
    Reason,
    TarnkappeError,
)
from tarnkappe.gate.sql.errors import StatementError
from tarnkappe.privacy import KAnonymity, RecursiveDiversity
from tarnkappe.schema import InvalidError
from tarnkappe.texts import language, told

MISSING = ParameterError("schema.below", "at least {least} is needed, not {got}", least="2", got="1")


def test_an_error_says_its_sentence_and_has_code_and_arguments() -> None:
    assert str(MISSING) == "at least 2 is needed, not 1"
    assert MISSING.document() == {
        "kind": "ParameterError",
        "code": "schema.below",
        "args": {"least": "2", "got": "1"},
        "text": "at least 2 is needed, not 1",
    }
    assert told("en", MISSING) == str(MISSING)
    assert told("de", MISSING) == "mindestens 2 ist nötig, nicht 1"


def test_an_error_is_made_again_from_its_document() -> None:
    inner = MISSING.within("l")
    outer = InputError(
        "table.no-file", "{path}: {error} {rows:,}", path=Path("a.csv"), error=inner, rows=1234
    )
    sent = json.loads(json.dumps(outer.document()))
    again = TarnkappeError.again(sent)
    assert type(again) is InputError
    assert str(again) == str(outer) == "a.csv: l: at least 2 is needed, not 1 1,234"
    assert again.document() == outer.document()
    assert told("de", again.reason.values["error"]) == "l: mindestens 2 ist nötig, nicht 1"


@pytest.mark.parametrize(
    "sent", [{"text": "gone"}, {"text": "gone", "kind": "os", "code": "x.y", "args": None}]
)
def test_a_document_of_another_version_is_told_as_it_is(sent: dict[str, object]) -> None:
    again = TarnkappeError.again(sent)
    assert (type(again), str(again), told("de", again)) == (TarnkappeError, "gone", "gone")


def test_arguments_that_do_not_fit_give_the_english_sentence() -> None:
    assert told("de", Reason.said("schema.below", {}, "at least 2")) == "at least 2"


def test_errors_cross_processes() -> None:
    refused = StatementError("42601", "gate.syntax-error", "syntax error", hint="look again")
    for error in (MISSING.within("k"), refused, _invalid()):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)
        assert copy.copy(error).document() == error.document()
    assert pickle.loads(pickle.dumps(refused)).sqlstate == "42601"


def _invalid() -> InvalidError:
    with pytest.raises(InvalidError) as caught:
        RecursiveDiversity("disease", float("nan"), 1)
    return caught.value


def test_problems_of_parameters_are_told_with_their_places() -> None:
    error = _invalid()
    assert [each.code for each in error.problems] == ["schema.not-finite", "schema.below"]
    assert told("de", error) == (
        "recursive-diversity: c: nötig ist eine endliche Zahl, nicht nan; l: mindestens 2 ist nötig, nicht 1"
    )
    with pytest.raises(InvalidError) as one:
        KAnonymity(0)
    assert (one.value.code, one.value.reason.place) == ("schema.below", "k-anonymity: k")
    assert told("de", one.value) == "k-anonymity: k: mindestens 1 ist nötig, nicht 0"


def test_numbers_are_written_as_the_language_writes_them() -> None:
    reason = Reason("service.job-memory", "more than {most:,.0f} MB", most=12_345.0)
    assert told("de", reason) == "der Lauf brauchte mehr als 12.345 MB Speicher und wurde beendet"


def test_arguments_are_plain_values() -> None:
    reason = Reason(
        "a.b", "{n} {f:g} {names} {other}", n=np.int64(3), f=np.float64(0.5), names=("a", "b"), other=1j
    )
    assert reason == "3 0.5 ('a', 'b') 1j"
    assert reason.values == {"n": 3, "f": 0.5, "names": ["a", "b"], "other": "1j"}
    assert json.loads(json.dumps(reason.document()))["args"] == reason.values


def test_no_error_and_no_document_is_endless() -> None:
    error = ColumnError("a.b", "{text}", text="x" * 10_000)
    assert len(str(error)) == len(error.document()["args"]["text"]) == LONGEST + 4
    assert len(told("de", error)) == LONGEST + 4


def test_a_clause_ends_without_a_full_stop() -> None:
    error = ParameterError("algebra.query-nested-too-deeply", "The query is nested too deeply.")
    assert error.reason.clause == "The query is nested too deeply"
    assert told("de", Reason.again(error.reason.clause.document())) == "Die Abfrage ist zu tief verschachtelt"


@pytest.mark.parametrize(
    ("environment", "spoken"),
    [
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "de_AT", "LC_ALL": "C"}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({}, "en"),
    ],
)
def test_the_language_is_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], spoken: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert language() == spoken


def test_the_catalogue_is_not_read_before_somebody_needs_it() -> None:
    code = "import sys, tarnkappe.cli.program; print('tarnkappe.texts' in sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("rows", "language", "sentence"),
    [
        (1, "en", "there is 1 row: no group can have 5 (the largest possible k is 1)"),
        (4, "en", "there are 4 rows: no group can have 5 (the largest possible k is 4)"),
        (1, "de", "es gibt 1 Zeile: Keine Gruppe kann 5 haben (das größte mögliche k ist 1)"),
        (4, "de", "es gibt 4 Zeilen: Keine Gruppe kann 5 haben (das größte mögliche k ist 4)"),
    ],
)
def test_one_row_is_no_rows(rows: int, language: str, sentence: str) -> None:
    with pytest.raises(NoSolutionError) as refused:
        tarnkappe.propose(pa.table({"age": list(range(rows))}), k=5)
    assert told(language, refused.value) == sentence
    assert told(language, Reason.again(refused.value.document())) == sentence


def test_people_of_whom_there_is_one_are_told_in_one_language() -> None:
    data = pa.table({"patient_id": ["p-7731"] * 6, "age": [30, 31, 32, 33, 34, 35]})
    with pytest.raises(NoSolutionError) as refused:
        tarnkappe.propose(data, k=5, identifiers=["patient_id"])
    assert str(refused.value).startswith("there is 1 different value of 'patient_id': no group can have 5")
    assert told("de", refused.value).startswith("es gibt 1 Wert von 'patient_id': Keine Gruppe kann 5")
