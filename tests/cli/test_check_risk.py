"""The flags of `tarn check` for risk measures, for identifiers and for the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_check import KNOWN, Tarn, folder, tarn

__all__ = ["folder", "tarn"]  # fixtures


def test_usual_measures_are_in_every_report(tarn: Tarn) -> None:
    _, report = tarn.json(*KNOWN)
    assert list(report["measures"]) == ["reidentification", "uniqueness", "attribute-disclosure"]
    found = report["measures"]["reidentification"]
    assert set(found) == {"threshold", "prosecutor", "journalist", "marketer", "basis", "distribution"}
    assert set(found["prosecutor"]) == {"highest", "average", "above"}
    assert found["journalist"] is None
    assert report["safe_harbor"] is None
    assert set(report["measures"]["attribute-disclosure"]["columns"]["illness"]) == {
        "rows", "highest", "guessed", "blind", "certain", "above", "gain",
    }  # fmt: skip


def test_the_journalist_is_measured_in_a_population_or_estimated(tarn: Tarn) -> None:
    population = tarn.json(*KNOWN, "--population", "population.csv")[1]["measures"]
    assert population["reidentification"]["basis"] == "population table"
    assert population["reidentification"]["journalist"]["highest"] == 0.5
    sampled = tarn.json(*KNOWN, "--sampling-fraction", "1/20", "--threshold", "1/3")[1]["measures"]
    assert sampled["reidentification"]["basis"] == "estimate"
    assert sampled["reidentification"]["threshold"] == pytest.approx(1 / 3)
    assert set(sampled["uniqueness"]["estimates"]) == {"pitman", "zayatz", "snb", "dankar"}


def test_further_measures_are_asked_for_by_name_or_all_at_once(tarn: Tarn) -> None:
    _, report = tarn.json(*KNOWN, "--suda-size", "1", "--measure", "contributions")
    assert list(report["measures"])[3:] == ["special-uniques", "contributions"]
    assert report["measures"]["special-uniques"]["largest"] == 1
    assert set(report["measures"]["contributions"]["columns"]) == {"age", "sex"}
    _, everything = tarn.json(*KNOWN, "--measure", "all", "--suda-size", "2")
    assert list(everything["measures"]) == [
        "reidentification", "uniqueness", "attribute-disclosure", "special-uniques", "contributions",
        "distinction", "wildcards", "survey-risk",
    ]  # fmt: skip
    assert everything["measures"]["special-uniques"]["largest"] == 2
    _, out, _ = tarn(*KNOWN, "--measure", "all")
    for title in (
        "Re-identification",
        "Attribute disclosure",
        "Special uniques",
        "Contribution of each column",
    ):
        assert title in out


def test_survey_weights_are_read_though_nobody_protects_them(tarn: Tarn) -> None:
    Path("survey.csv").write_text("age;w\n30;120.5\n30;80\n41;15\n", encoding="utf-8")
    found = tarn.json("survey.csv", "--qi", "age", "--measure", "survey-risk:weight=w")[1]
    assert found["measures"]["survey-risk"]["population"] == pytest.approx(215.5)
    assert found["quasi_identifiers"] == ["age"]


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--measure", "contribution"), "did you mean contributions"),
        (("--measure", "special-uniques:size=0"), "size: at least 1 is needed"),
        (("--suda-size", "0"), "size: at least 1 is needed"),
        (("--sampling-fraction", "2"), "sampling_fraction: at most 1 is allowed, not '2'"),
        (("--sampling-fraction", "a tenth"), "a fraction such as"),
        (("--threshold", "0"), "a number above 0 is needed"),
        (("--html", "nowhere/page.html"), "nowhere"),
    ],
)
def test_mistakes_are_told_in_one_line(tarn: Tarn, flags: tuple[str, ...], told: str) -> None:
    code, out, err = tarn(*KNOWN, *flags)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


PATIENTS = """\
colour;visit;group
ann@example.org;2020-03-04;a
bob@example.org;2020-05-06;b
cem@example.org;2021-07-08;a
"""


def test_identifiers_are_looked_for_in_every_column(tarn: Tarn, folder: Path) -> None:
    (folder / "patients.csv").write_text(PATIENTS)
    code, report = tarn.json("patients.csv", "--safe-harbor")
    assert code == 1
    assert (report["holds"], report["safe_harbor"]["kinds"]) == (False, [3, 6])
    roles = {name: column["role"] for name, column in report["safe_harbor"]["columns"].items()}
    assert roles == {"colour": "identifier", "visit": "quasi-identifier", "group": "quasi-identifier"}
    assert "ann@" not in json.dumps(report)
    code, out, _ = tarn("patients.csv", "--safe-harbor")
    assert code == 1
    assert "all of the values are e-mail addresses, whatever the header says" in out
    code, whole = tarn.json("patients.csv", "--qi", "group", "--safe-harbor")
    assert (code, whole["safe_harbor"]) == (1, report["safe_harbor"])
    assert whole["rows"] == 3
    assert "Identifiers (HIPAA safe harbor)" in tarn("patients.csv", "--qi", "group", "--safe-harbor")[1]


def test_a_clean_table_passes(tarn: Tarn) -> None:
    code, report = tarn.json("people.csv", "--safe-harbor")
    assert (code, report["holds"], report["safe_harbor"]["kinds"]) == (0, True, [])


def test_a_page_is_written_beside_the_report(tarn: Tarn, folder: Path) -> None:
    code, report = tarn.json(*KNOWN, "--html", "page.html")
    assert (code, report["rows"]) == (0, 7)
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Risk report" in page
    assert "people.csv" in page
    code, _, err = tarn("people.csv", "--safe-harbor", "--html", "page.html")
    assert (code, "--qi" in err) == (2, True)
