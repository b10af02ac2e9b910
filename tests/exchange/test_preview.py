"""What a physician sees before she signs: counted from the bytes, in both languages."""

from __future__ import annotations

import json
import re
import string
import tomllib
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from tarnkappe.cli import main
from tarnkappe.errors import JobError, ParameterError, VerificationError
from tarnkappe.exchange.desk.packages import opened
from tarnkappe.exchange.desk.preview import preview
from tarnkappe.exchange.desk.tables import RECOMMENDATIONS
from tarnkappe.exchange.example import make
from tarnkappe.exchange.facts import ExpertDetermination
from tarnkappe.exchange.preview_text import LANGUAGES, preview_text, texts
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.table import Role
from tests.exchange.scenes import request
from tests.exchange.test_desk import desk


def test_everything_is_counted_from_the_bytes_that_would_leave() -> None:
    at, asked = desk(), request()
    at.receive(asked)
    at.check(asked.digest, "Stew")
    check = at.whole(asked.digest).require_check()
    rows = opened(check.package.content).to_pylist()  # type: ignore[union-attr, arg-type]
    shown = preview(at, asked.digest, rows=20)
    assert (shown.rows, shown.bytes) == (len(rows), len(check.package.content))  # type: ignore[union-attr, arg-type]
    drawn = Counter(tuple(row.values()) for row in shown.sample)
    assert not drawn - Counter(tuple("" if v is None else str(v) for v in row.values()) for row in rows)
    roles = check.package.roles  # type: ignore[union-attr]
    known = [name for name, role in roles.items() if role == "quasi-identifier"]
    groups = Counter(tuple(row[name] for name in known) for row in rows)
    assert shown.smallest == min(groups.values()) >= 3
    for worst in shown.worst:
        shares = {
            group: Counter(r[worst.column] for r in rows if tuple(r[n] for n in known) == group)
            for group in groups
        }
        truth = max(max(values.values()) / groups[group] for group, values in shares.items())
        assert worst.count / worst.size == pytest.approx(truth)
    assert shown.packages == 0
    with pytest.raises(ParameterError, match="at most 20"):
        preview(at, asked.digest, rows=21)


def test_earlier_packages_about_the_same_people_are_counted() -> None:
    at, asked = desk(), request()
    at.receive(asked)
    at.check(asked.digest, "Stew")
    marks = at.whole(asked.digest).require_check().marks
    with at.store.writing() as connection:
        for place, who in enumerate("AC"):
            earlier = request("sex", id=f"r{place}", institution=who)
            at.register.note_release(connection, earlier, ["sex"], marks[place : place + 4])
        at.register.note_release(connection, request("age", id="other"), ["age"], [bytes(16)])
    shown = preview(at, asked.digest)
    assert (shown.packages, shown.people, shown.recipients) == (2, 5, ("A", "C"))


def test_a_package_that_was_changed_is_not_shown() -> None:
    at, asked = desk(), request()
    at.receive(asked)
    at.check(asked.digest, "Stew")
    with at.store.writing() as connection:
        connection.execute(RECOMMENDATIONS.update().values(package=b"other rows"))
    with pytest.raises(VerificationError):
        preview(at, asked.digest)


def test_both_languages_say_everything_with_the_same_figures() -> None:
    fields = {
        language: {
            key: {name for _, name, _, _ in string.Formatter().parse(text) if name}
            for key, text in texts(language).items()
        }
        for language in LANGUAGES
    }
    assert fields["en"] == fields["de"]
    for role in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE):
        assert f"role_{role}" in fields["en"]
    with pytest.raises(ParameterError, match="en, de"):
        texts("fr")
    at, asked = desk(), request()
    at.receive(asked)
    at.check(asked.digest, "Stew", {"weight": Role.QUASI_IDENTIFIER})
    shown = preview(at, asked.digest, rows=3)
    said = {
        language: preview_text(shown, at.recommendation(asked.digest), asked.to_dict(), language)
        for language in LANGUAGES
    }
    assert "Recommended: let it leave, changed." in said["en"]
    assert "Empfohlen: herausgeben, mit Änderungen." in said["de"]
    assert "Sie unterschreiben: Prüfung 1" in said["de"]
    for text in said.values():
        assert f"({shown.check[:4]}…)" in text
        assert f"{shown.package[:4]}…" in text  # type: ignore[index]
        assert not re.search(r"\bS\d+a?\b", text), "steps are told by their questions"
        assert "×" not in text
        for row in shown.sample:
            assert all(value in text for value in row.values())


def test_a_refusal_is_shown_without_rows() -> None:
    at, asked = desk(), request(anchor=request().anchor.__class__("medication", ("nobody takes it",)))
    at.receive(asked)
    at.check(asked.digest, "Stew")
    shown = preview(at, asked.digest)
    assert (shown.package, shown.sample) == (None, ())
    text = preview_text(shown, at.recommendation(asked.digest), asked.to_dict(), "de")
    assert "Empfohlen: ablehnen" in text
    assert "die kein Paket hat" in text


def test_an_expert_says_it_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "expert.toml"
    lines = ['expert = "Dr. E"', 'qualification = "statistician"', 'method = "counted"', 'request = "4f1c"']
    path.write_text("\n".join([*lines, "decided = 2026-01-02", "valid_until = 2027-01-02"]), encoding="utf-8")
    assert ExpertDetermination.load(path).valid_until == date(2027, 1, 2)
    path.write_text("\n".join([*lines, 'decided = "soon"', "valid_until = 2027-01-02"]), encoding="utf-8")
    with pytest.raises(JobError, match="are days"):
        ExpertDetermination.load(path)
    path.write_text("decided = 2026-01-02\nvalid_until = 2027-01-02", encoding="utf-8")
    with pytest.raises(JobError, match="missing"):
        ExpertDetermination.load(path)


def tarn(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["exchange", *words])
    said = capsys.readouterr()
    assert ended.value.code == code, said
    return said.out, said.err


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = make(tmp_path / "trial", 400)
    keys = tmp_path / "trial" / "keys"
    claimed = ["--legal-basis", "approval=DSK 7/26", "--operation", "transmit"]
    select = ["--select", "medication=ibuprofen", "--select", "medication=metformin"]
    ask = [
        "--site",
        str(a),
        "--to",
        "B",
        "--want",
        "sex",
        "--want",
        "diagnosis",
        "--question",
        "Whom?",
        *select,
    ]
    tarn(capsys, "request", *ask, "--as", "Dr. Ask", "--id", "study-7", *claimed)
    with ExchangeSite.load(a) as asking:
        [sent] = [each.request for each in asking.outbox().all()]
    assert (str(sent.operation), sent.legal_basis) == ("transmit", {"approval": "DSK 7/26"})
    assert sent.anchor.values == ("ibuprofen", "metformin")
    with ExchangeSite.load(b) as own:
        own.desk().receive(sent)
    site = ["--site", str(b)]
    assert re.match(r"study-7  received: Dr. Ask \(A\), since 2\d{3}-", tarn(capsys, "review", *site)[0])
    check = ["review", "study-7", *site, "--check-as", "Stew", "--key", str(keys / "Stew.key")]
    _, wrong = tarn(capsys, *check, "--reclassify", "sex", code=2)
    assert "NAME=ROLE:REASON" in wrong
    _, wrong = tarn(capsys, *check, "--reclassify", "sex=insensitive", code=2)
    assert "reason" in wrong
    _, wrong = tarn(capsys, "review", "study-7", *site, "--reclassify", "sex=sensitive:x", code=2)
    assert "--check-as" in wrong
    text, _ = tarn(capsys, *check, "--lang", "de", "--rows", "2", "--reclassify", "sex=sensitive:sichtbar")
    assert "Dr. Ask (A) bittet um" in text
    assert "ibuprofen oder metformin" in text
    assert "Geändert von Stew: sex gilt als sensibel statt als bekannt („sichtbar“)." in text
    with ExchangeSite.load(b) as own:
        entry = [e for e in own.desk().log.entries() if e.event == "request checked"][-1]
        assert entry.details["reclassified"][0]["reason"] == "sichtbar"
    how = ["--as", "Ann", "--key", str(keys / "Ann.key"), "--reason", "yes", "--reject"]
    shown, _ = tarn(capsys, "decide", "study-7", *site, *how)
    assert "You sign: check 1" in shown
    assert shown.rstrip().endswith("is rejected")
    consents = tmp_path / "consents.csv"
    consents.write_text("patient;kind;until;signed_on;reference\nP0000001;withdrawal;;2026-01-02;x\n")
    steward = ["--as", "Stew", "--key", str(keys / "Stew.key")]
    told, _ = tarn(capsys, "patients", "import", str(consents), *site, *steward, "--json")
    assert json.loads(told)["import"] == {"identified again": 0, "matching": 0, "withdrawal": 1}


def test_the_language_of_a_site_is_in_its_file(tmp_path: Path) -> None:
    [_, b] = make(tmp_path / "trial", 100)
    b.write_text('language = "de"\n' + b.read_text(encoding="utf-8"), encoding="utf-8")
    assert ExchangeSite.load(b).language == "de"
    assert tomllib.loads(b.read_text(encoding="utf-8"))["language"] == "de"
