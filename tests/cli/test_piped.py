"""What is piped into a command is a table like any other, but has no name."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tarnkappe.cli.program import run

PEOPLE = "age;sex\n" + "".join(f"{20 + n % 4};{'fm'[n % 2]}\n" for n in range(40))


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_what_is_piped_in_is_released_where_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["anonymize", "--input", name, "--qi", "age", "--qi", "sex", "--k", "5"]
    for more, code in (([], 2), (["--out", "release.csv"], 0)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PEOPLE.encode())))
        with pytest.raises(SystemExit) as ended:
            run([*asked, *more])
        assert int(ended.value.code or 0) == code
        if code:
            assert "say with --out where the release goes" in capsys.readouterr().err
            assert list(tmp_path.iterdir()) == []
    assert (tmp_path / "release.csv").read_text(encoding="utf-8").startswith("age;sex\n")
