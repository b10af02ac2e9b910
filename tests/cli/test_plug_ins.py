"""Commands that other packages bring: there where they are installed, and named where they are not."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
import typer

from tarnkappe.cli import main, program


def test_a_command_of_a_package_that_is_not_installed_names_the_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "entry_points", lambda group: [])
    with pytest.raises(SystemExit) as ended:
        main(["bench", "lattice"])
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert "tarnkappe-bench" in told
    assert "pip install ./benchmarks" in told
    assert told.count("\n") == 1


def test_help_lists_the_commands_of_all_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    assert "anonymize" in told
    assert "bench" in told


def test_no_package_takes_the_place_of_a_command_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = EntryPoint("check", "tests.cli.test_plug_ins:never", program.PLUG_INS)
    monkeypatch.setattr(program, "entry_points", lambda group: [foreign])
    for words in (["check"], []):
        names = [each for each, _ in _commands(program.asked(words))]
        assert names.count("check") == 1
        assert all(run is not never for _, run in _commands(program.asked(words)))


def never() -> None:
    raise AssertionError("a foreign command was run")


def _commands(app: typer.Typer) -> list[tuple[str | None, object]]:
    return [(each.name, each.callback) for each in app.registered_commands]
