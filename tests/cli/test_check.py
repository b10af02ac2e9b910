"""`tarn check`: exit codes, one clear line for every mistake, JSON that machines read, text that people do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer

from tarnkappe.cli import main
from tarnkappe.cli.arguments import ColumnLists, repeat_options
from tarnkappe.cli.console import output
from tarnkappe.privacy import MODELS
from tests.cli.spoken import lines_of

PEOPLE = """\
age;sex;illness;treatment
30;f;flu;A
30;f;cold;B
30;f;flu;A
40;m;ulcer;B
40;m;gastritis;B
50;f;flu;A
50;f;flu;A
"""
ILLNESSES = "flu;lung;*\ncold;lung;*\nulcer;stomach;*\ngastritis;stomach;*\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a table, a hierarchy and a population."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output, "width", 200)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "illness.csv").write_text(ILLNESSES)
    (tmp_path / "population.csv").write_text(PEOPLE + "40;m;flu;A\n40;m;flu;A\n60;m;flu;A\n")
    return tmp_path


class Tarn:
    """Runs the command line and keeps what it wrote."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self._capture.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["check", *words])
        written = self._capture.readouterr()
        return int(str(stop.value.code)), written.out, written.err

    def json(self, *words: str) -> tuple[int, dict[str, Any]]:
        code, out, err = self(*words, "--json")
        assert lines_of(err) == []
        return code, json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.fixture
def tarn(folder: Path, capsys: pytest.CaptureFixture[str]) -> Tarn:
    return Tarn(capsys)


KNOWN = ("people.csv", "--qi", "age", "sex", "--sensitive", "illness")


def test_json_tells_everything(tarn: Tarn) -> None:
    code, report = tarn.json(
        *KNOWN, "--hierarchy", "illness=illness.csv", "--population", "population.csv", "--k", "2"
    )
    assert code == 0
    assert report["input"] == "people.csv"
    assert (report["rows"], report["classes"], report["k"], report["uniques"]) == (7, 3, 2, 0)
    assert report["quasi_identifiers"] == ["age", "sex"]
    assert report["risk"] == {"prosecutor_max": 0.5, "prosecutor_mean": pytest.approx(3 / 7)}
    illness = report["sensitive"]["illness"]
    assert (illness["values"], illness["distinct_l"], illness["alpha"]) == (4, 1, 1)
    assert illness["worst_class"]["distinct_l"] == {"age": "50", "sex": "f"}
    assert {"entropy_l", "t_equal", "t_ordered", "t_variational", "t_kullback_leibler", "t_hierarchical",
            "delta_disclosure", "beta", "recursive_c", "given_others"} <= set(illness)  # fmt: skip
    assert illness["delta_disclosure"] is None
    assert report["presence"] == {"delta_min": 0, "delta_max": 1}
    assert {attack["attack"]: attack["victims"] for attack in report["attacks"]} == {
        "linking": 0,
        "homogeneity": 2,
        "background-knowledge": 7,
        "probabilistic-inference": 2,
        "skewness": 0,
        "similarity": 7,
    }
    (model,) = report["models"]
    assert (model["model"], model["k"], model["value"], model["holds"]) == ("k-anonymity", 2, 2, True)
    assert report["worst"][0] == {
        "labels": {"age": "50", "sex": "f"},
        "size": 2,
        "risk": 1.0,
        "values": {"illness": {"flu": 2}},
        "others": {"illness": 0},
    }
    assert set(report["seconds"]) == {"read", "check"}
    assert report["holds"]


def test_a_model_that_is_not_met_ends_with_1(tarn: Tarn) -> None:
    assert tarn(*KNOWN, "--k", "2")[0] == 0
    code, out, err = tarn(*KNOWN, "--k", "3")
    assert (code, err) == (1, "")
    assert "k-anonymity(k=3): measured 2; 4 rows in 2 classes violate it" in out
    code, report = tarn.json(*KNOWN, "--k", "2", "--model", "distinct-diversity:l=2")
    assert (code, report["holds"]) == (1, False)
    assert [model["holds"] for model in report["models"]] == [True, False]
    assert report["models"][1]["column"] == "illness"
    assert report["models"][1]["violating_rows"] == 2


@pytest.mark.parametrize("name", MODELS.names)
def test_every_model_can_be_asked_for_or_says_what_it_needs(tarn: Tarn, name: str) -> None:
    code, _, err = tarn(*KNOWN, "--population", "population.csv", "--model", name)
    assert "unexpected" not in err
    needs = re.compile(rf"error: privacy model '{name}': \w+: it is missing")
    assert code in (0, 1) or (code == 2 and needs.match(err))


def test_columns_can_be_listed_after_one_option_or_one_by_one(tarn: Tarn) -> None:
    listed = tarn.json("people.csv", "--qi", "age", "sex", "--sensitive", "illness", "treatment")[1]
    singly = tarn.json(
        "people.csv", "--sensitive", "illness", "--qi", "age", "--sensitive", "treatment", "--qi", "sex"
    )[1]
    for report in (listed, singly):
        del report["seconds"]
    assert listed == singly
    assert set(listed["sensitive"]["illness"]["given_others"]) >= {"distinct_l", "entropy_l"}
    assert repeat_options(["--qi=a", "b", "--sensitive", "c", "d"]) == [
        "--qi=a", "b", "--sensitive", "c", "--sensitive", "d",
    ]  # fmt: skip


def test_people_read_first_what_an_attacker_can_do(tarn: Tarn) -> None:
    code, out, err = tarn(*KNOWN, "--hierarchy", "illness=illness.csv", "--worst", "1")
    assert (code, err) == (0, "")
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[0] == "✗ people.csv: an attacker learns something for certain about everybody."
    assert lines[2].startswith("✓ Linking with a register: Knowing age and sex singles out nobody")
    assert lines[3] == (
        "✗ Homogeneity: 'illness' is the same for all who share their known values, for the people of 2 rows (28.6 %)."
    )
    assert re.search(r"^k +2 +rows in the smallest class *$", out, re.MULTILINE)
    assert lines[-2:] == ["Worst off", "2 rows: age 50, sex f → illness: flu (2)"]
    assert out.index("Homogeneity") < out.index("Measured") < out.index("entropy l") < out.index("Worst off")


def test_a_safe_table_is_called_safe(tarn: Tarn) -> None:
    _, out, _ = tarn("people.csv", "--qi", "sex", "--worst", "0")
    assert out.startswith("✓ people.csv: none of the attacks that were tried succeeds.")
    assert "Worst off" not in out


def test_values_are_rounded_to_the_worse_side(tarn: Tarn, folder: Path) -> None:
    rows = [f"{age};{illness}" for age in (1, 2) for illness in ("a", "a", "b", "c")]
    (folder / "fair.csv").write_text("\n".join(["age;illness", *rows]))
    _, out, _ = tarn("fair.csv", "--qi", "age", "--sensitive", "illness")
    assert re.search(r"entropy l +2\.828 ", out)  # 2.82842...
    assert re.search(r"t \(equal\) +0 ", out)
    assert re.search(r"recursive c +1 +for l = 2, 2 for 3; any greater c holds", out)


def test_one_row_and_missing_values_are_checked_like_others(tarn: Tarn, folder: Path) -> None:
    (folder / "one.csv").write_text("age;illness\n30;\n")
    code, report = tarn.json("one.csv", "--qi", "age", "--sensitive", "illness")
    assert (code, report["k"], report["sensitive"]["illness"]["distinct_l"]) == (0, 1, 1)


MISTAKES = {
    "an empty file": (("empty.csv", "--qi", "age"), "empty.csv", "empty"),
    "a file without rows": (("header.csv", "--qi", "age"), "header.csv", "no rows"),
    "a missing file": (("none.csv", "--qi", "age"), "none.csv"),
    "wrong characters": (
        ("latin.csv", "--qi", "age", "illness", "--encoding", "utf-8"),
        "latin.csv",
        "line 2",
        "UTF-8",
    ),
    "a ragged row": (("ragged.csv", "--qi", "age"), "ragged.csv", "line 3"),
    "a missing column": (("people.csv", "--qi", "agee"), "people.csv", "'agee'", "'age'"),
    "nothing that others know": (
        ("illness.csv", "--header", "no", "--sensitive", "column 1", "column 2", "column 3"),
        "illness.csv",
        "--qi",
    ),
    "two roles": (("people.csv", "--qi", "age", "--sensitive", "age"), "people.csv", "'age'", "two roles"),
    "a k above the rows": ((*KNOWN, "--k", "8"), "people.csv", "k = 8", "7 rows", "smaller k"),
    "an impossible k": ((*KNOWN, "--k", "0"), "k", "not 0"),
    "an unknown model": ((*KNOWN, "--model", "entropy:l=2"), "'entropy'", "entropy-diversity"),
    "an unknown parameter": (
        (*KNOWN, "--model", "k-anonymity:n=2"),
        "n: there is no such parameter",
        "it takes k",
    ),
    "a missing parameter": ((*KNOWN, "--model", "k-anonymity"), "k: it is missing"),
    "a broken parameter": ((*KNOWN, "--model", "k-anonymity:2"), "k-anonymity:2", "parameter=value"),
    "a model on no column": (
        ("people.csv", "--qi", "age", "--model", "distinct-diversity:l=2"),
        "column: it is missing",
    ),
    "a hierarchy gap": ((*KNOWN, "--hierarchy", "illness=gap.csv"), "gap.csv", "'illness'", "'gastritis'"),
    "a missing hierarchy": ((*KNOWN, "--hierarchy", "illness=no.csv"), "no.csv"),
    "a hierarchy of nothing": ((*KNOWN, "--hierarchy", "illness.csv"), "COLUMN=FILE"),
    "a hierarchy of no column": ((*KNOWN, "--hierarchy", "ill=illness.csv"), "'ill'", "people.csv"),
    "a small population": (
        ("people.csv", "--qi", "age", "--population", "few.csv"),
        "people.csv",
        "population",
    ),
    "a population without the column": (
        ("people.csv", "--qi", "sex", "--population", "few.csv"),
        "few.csv",
        "'sex'",
    ),
    "an unknown option": (("people.csv", "--bogus"), "--bogus"),
    "a number that is none": ((*KNOWN, "--k", "five"), "--k"),
    "a negative number": ((*KNOWN, "--worst", "-1"), "--worst"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_every_mistake_is_one_clear_line(
    tarn: Tarn, folder: Path, mistake: str, form: tuple[str, ...]
) -> None:
    (folder / "empty.csv").touch()
    (folder / "header.csv").write_text("age;illness\n")
    (folder / "latin.csv").write_bytes("age;illness\n30;Sterilität\n".encode("latin-1"))
    (folder / "ragged.csv").write_text("age;illness\n30;flu\n30;flu;A\n")
    (folder / "gap.csv").write_text(ILLNESSES.replace("gastritis;stomach;*\n", ""))
    (folder / "few.csv").write_text("age\n30\n40\n50\n")
    words, *told = MISTAKES[mistake]
    code, out, err = tarn(*words, *form)
    assert (code, out) == (2, ""), err
    assert err.startswith("error: ")
    assert [line[:6] for line in err.splitlines()[1:]] in ([], ["code: "] if form else []), "for programs"
    assert "Traceback" not in err
    assert "unexpected" not in err
    for word in told:
        assert word in err


def test_a_latin_file_is_read_if_told_so(tarn: Tarn, folder: Path) -> None:
    (folder / "latin.csv").write_bytes("age|illness\n30|Sterilität\n".encode("latin-1"))
    words = (
        "latin.csv",
        "--qi",
        "age",
        "--sensitive",
        "illness",
        "--encoding",
        "latin-1",
        "--delimiter",
        "|",
    )
    assert tarn.json(*words)[1]["worst"][0]["values"] == {"illness": {"Sterilität": 1}}


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    told = capsys.readouterr().out
    for option in (
        "--qi",
        "--sensitive",
        "--population",
        "--hierarchy",
        "--k",
        "--model",
        "--json",
        "--worst",
    ):
        assert option in told
    assert issubclass(ColumnLists, typer.core.TyperCommand)
