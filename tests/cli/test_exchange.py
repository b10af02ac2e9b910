"""`tarn exchange` in this process; between two processes it is tested in tests/exchange/test_two_processes.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tarnkappe.cli import main
from tests.cli.spoken import lines_of


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tarnkappe.exchange.example import make

    folder = tmp_path_factory.mktemp("trial") / "trial"
    make(folder, 600)
    return folder


def tarn(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict:
    with pytest.raises(SystemExit) as ended:
        main(["exchange", *words, "--json"])
    assert ended.value.code == code
    said = capsys.readouterr()
    if said.out:
        return json.loads(said.out)
    *error, coded = lines_of(said.err)
    assert coded.startswith("code: ")
    return {"error": error}


def test_from_a_request_to_a_decision_at_the_desk(trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = ["--site", str(trial / "A.toml")], ["--site", str(trial / "B.toml")]
    ask = ["--select", "medication=ibuprofen", "--want", "sex:0.5", "--want", "diagnosis", "--question", "?"]
    made = tarn(capsys, "request", *a, "--to", "B", *ask, "--as", "Dr. Ask", "--id", "study-7")
    assert made["state"] == "queued"  # nobody is there
    assert tarn(capsys, "withdraw", "study-7", *a)["state"] == "withdrawn"
    stew = ["--key", str(trial / "keys" / "Stew.key")]
    from tarnkappe.exchange.site import ExchangeSite

    [sent] = [each.request for each in ExchangeSite.load(trial / "A.toml").outbox().all()]
    ExchangeSite.load(trial / "B.toml").desk().receive(sent)
    assert [each["state"] for each in tarn(capsys, "review", *b)["requests"]] == ["received"]
    assert tarn(capsys, "review", "study-7", *b, "--check-as", "Stew", *stew)["k"] >= 5
    [wrong] = tarn(capsys, "review", "study-7", *b, "--check-as", "Stew", code=2)["error"]
    assert "--key" in wrong
    how = ["--as", "Ann", "--key", str(trial / "keys" / "Ann.key"), "--reason", "yes", "--accept"]
    assert tarn(capsys, "decide", sent.digest[:8], *b, *how)["state"] == "half agreed"
    [wrong] = tarn(capsys, "decide", "study-7", *b, *how, code=2)["error"]
    assert "two people" in wrong
    events = [entry["event"] for entry in tarn(capsys, "audit", *b)["entries"]]
    assert events == ["request received", "cohorts changed", "request checked", "decided", "refused"]


def test_several_values_of_one_attribute_can_be_selected(
    trial: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tarnkappe.exchange.site import ExchangeSite

    ask = [
        "--site",
        str(trial / "A.toml"),
        "--to",
        "B",
        "--want",
        "sex",
        "--question",
        "?",
        "--as",
        "Dr. Ask",
    ]
    two = ["--select", "medication=ibuprofen", "--select", "medication=metformin"]
    made = tarn(capsys, "request", *ask, *two)["request"]
    [sent] = [
        e.request for e in ExchangeSite.load(trial / "A.toml").outbox().all() if e.request.digest == made
    ]
    assert sent.anchor.values == ("ibuprofen", "metformin")
    for select, error in (("diagnosis=flu", "several attributes"), ("medication=ibuprofen", "twice")):
        [said] = tarn(capsys, "request", *ask, *two, "--select", select, code=2)["error"]
        assert error in said


def test_patients_statistics_and_wishes(trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    b = ["--site", str(trial / "B.toml")]
    assert tarn(capsys, "patient", "P0000001", *b, "--consent-until", "2040-01-01")["disclosures"] == []
    assert tarn(capsys, "patient", "P0000001", *b, "--withdraw")["held_back"] == []
    assert tarn(capsys, "share", *b, "--epsilon", "1/2", "--as", "Stew")["tables"] == 4
    for words, error in (
        (["share", *b, "--epsilon", "x", "--as", "Stew"], "number"),
        (["share", *b, "--epsilon", "9", "--as", "Stew"], "budget"),
        (["reidentify", "forward", *b, "abc", "--as", "Ann"], "no wish"),
        (["reidentify", "ask", *b, "abc", "--reason", "feedback"], "no request"),
        (["review", "abc", *b], "no request"),
    ):
        [said] = tarn(capsys, *words, code=2)["error"]
        assert error in said
    assert tarn(capsys, "reidentify", "list", *b) == {"wishes": []}
    assert tarn(capsys, "gather", *b)["institutions"] == {"A": "offline"}


def test_keys_and_the_example(tmp_path: Path, capsys: pytest.CaptureFixture[str], trial: Path) -> None:
    first = tarn(capsys, "key", str(tmp_path / "ann.key"))["public_key"]
    assert tarn(capsys, "key", str(tmp_path / "ann.key"))["public_key"] == first
    assert len(first) == 64
    [said] = tarn(capsys, "example", str(trial), code=2)["error"]
    assert "new folder" in said


def test_cohorts_are_prepared_shown_and_renewed_by_two_people(
    trial: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    b = ["--site", str(trial / "B.toml")]
    made = tarn(capsys, "prepare", *b, "--want", "age")
    assert made["selections"] > 3
    shown = tarn(capsys, "status", *b)
    everybody = sum(shown[kind] for kind in ("people", "held_out", "retired"))
    assert (shown["epoch"], shown["waiting"], everybody) == (1, 0, 600)
    [wrong] = tarn(capsys, "prepare", *b, "--want", "agee", code=2)["error"]
    assert "agee" in wrong
    ann, bea = (["--as", name, "--key", str(trial / "keys" / f"{name}.key")] for name in ("Ann", "Cleo"))
    [wrong] = tarn(capsys, "renew", *b, *ann, code=2)["error"]
    assert "two people" in wrong
    [wrong] = tarn(capsys, "renew", *b, *ann, *ann, code=2)["error"]
    assert "two people" in wrong
    [wrong] = tarn(capsys, "renew", *b, *ann, "--as", "Cleo", "--key", ann[-1], code=2)["error"]
    assert "signature" in wrong
    [wrong] = tarn(capsys, "renew", *b, *ann, *bea, code=2)["error"]
    assert "730 days" in wrong
    policy = trial / "policy.toml"
    before = policy.read_text(encoding="utf-8")
    policy.write_text(before.replace("[thresholds]", "[thresholds]\nepoch_days = 0"), encoding="utf-8")
    renewed = tarn(capsys, "renew", *b, *ann, *bea)
    policy.write_text(before, encoding="utf-8")
    assert (renewed["epoch"], renewed["in_both"]) == (2, shown["people"])
    last = tarn(capsys, "audit", *b)["entries"][-1]
    assert (last["event"], last["by"]) == ("cohorts renewed", ["Ann", "Cleo"])
