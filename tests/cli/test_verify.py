"""`tarn verify` says in one line what it cannot use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarnkappe.cli.program import run


@pytest.mark.parametrize("missing", ["certificate.json", "release.csv", "input.csv"])
def test_a_file_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    places = {name: tmp_path / name for name in ("certificate.json", "release.csv", "input.csv")}
    for name, path in places.items():
        if name != missing:
            path.write_text("{}\n", encoding="utf-8")
    certificate, release, source = map(str, places.values())
    with pytest.raises(SystemExit) as ended:
        run(["verify", certificate, "--release", release, "--input", source])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"error: {places[missing]}: there is no such file\n"
