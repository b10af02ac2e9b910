"""From a file of another country to a release that looks like it: in Python, by a job file, on the shell."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from tarnkappe.cli import main
from tarnkappe.job import Job, run
from tarnkappe.table import read

TOWNS = ("01067", "80331")


def german(folder: Path, rows: int = 60) -> Path:
    """A CSV file as German Excel writes it: Windows-1252, semicolons, decimal commas, dotted dates."""
    lines = ["Name;Geburtsdatum;Größe;PLZ;Diagnose"]
    for row in range(rows):
        day = dt.date(1950, 1, 1) + dt.timedelta(days=97 * row)
        size = "k.A." if row % 20 == 7 else f"1,{50 + row % 40}"
        lines.append(
            f"Müller {row};{day:%d.%m.%Y};{size};{TOWNS[row % 2]};{('Grippe', 'Asthma')[row // 2 % 2]}"
        )
    path = folder / "patienten.csv"
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return path


def job(folder: Path, **output: object) -> dict[str, object]:
    return {
        "input": {"path": str(german(folder))},
        "columns": {
            "Name": {"role": "identifier"},
            "Geburtsdatum": {"role": "quasi-identifier", "hierarchy": {"builder": "dates"}},
            "Größe": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [0.1, 0.2]}},
            "PLZ": {"role": "quasi-identifier", "level": 0, "hierarchy": {"builder": "root"}},
            "Diagnose": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "output": {"path": str(folder / "release.csv"), "manifest": str(folder / "m.json"), **output},
    }


def test_the_release_is_spelled_as_the_input_and_verified(tmp_path: Path) -> None:
    result = run(Job.from_dict(job(tmp_path)), seed=1)
    assert result.verified
    content = (tmp_path / "release.csv").read_bytes()
    assert content.startswith("\ufeffGeburtsdatum;Größe;PLZ;Diagnose\r\n".encode())
    again = read(tmp_path / "release.csv")
    assert set(again.data.column("PLZ").to_pylist()) == set(TOWNS)
    said = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["reading"]
    assert (said["encoding"], said["columns"]["Größe"]["number"]["decimal"]) == ("cp1252", ",")
    assert "Müller" not in json.dumps(said, ensure_ascii=False)


@pytest.mark.parametrize("excel", [True, False])
def test_exact_values_come_out_as_they_were_written(tmp_path: Path, excel: bool) -> None:
    content = job(tmp_path, excel=excel)
    content["columns"] = {
        "Größe": {"role": "insensitive"},
        "Geburtsdatum": {"role": "insensitive"},
        "PLZ": {"role": "quasi-identifier", "hierarchy": {"builder": "root"}},
    }
    run(Job.from_dict(content), seed=1)
    lines = (tmp_path / "release.csv").read_text(encoding="utf-8-sig").splitlines()
    assert "01.01.1950;1,50;01067" in lines
    assert any(line.split(";")[1] == "k.A." for line in lines)


def shell(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def test_corrections_go_through_the_job_file_and_the_flags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text(
        "day,zip\n03/04/2001,123\n05/06/2001,456\n07/08/2002,123\n09/10/2002,456\n"
    )
    content = {
        "input": {"path": str(tmp_path / "a.csv"), "dates": "mdy"},
        "columns": {
            "day": {
                "role": "quasi-identifier",
                "hierarchy": {"builder": "dates", "levels": ["month", "year"]},
            },
            "zip": {"role": "insensitive", "type": "code"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    made = Job.from_dict(content)
    table = made.read_input()
    assert table.reading is not None
    assert str(table.reading.columns["zip"].kind) == "code"
    assert table.data.column("zip").to_pylist()[0] == "123"
    assert sorted(set(run(made).release.data.column("day").to_pylist())) == ["2001", "2002"]
    flags = ["hierarchy", "build", str(tmp_path / "a.csv"), "--column", "day", "--builder", "dates"]
    assert shell(*flags) == 2
    assert "--dates dmy or mdy" in " ".join(capsys.readouterr().err.split())
    assert shell(*flags, "--dates", "dmy") == 0
    assert "03/04/2001;2001-04;2001" in capsys.readouterr().out


def test_memory_and_duckdb_read_the_same(tmp_path: Path) -> None:
    content = job(tmp_path)
    run(Job.from_dict(content), seed=1)
    path = content["input"]["path"]  # type: ignore[index]
    beside = {**content, "input": {"path": path, "engine": "duckdb"}}
    beside["output"] = {"path": str(tmp_path / "other.csv")}
    run(Job.from_dict(beside), seed=1)
    ours, theirs = read(tmp_path / "release.csv"), read(tmp_path / "other.csv")
    assert sorted(map(str, ours.data.to_pylist())) == sorted(map(str, theirs.data.to_pylist()))
