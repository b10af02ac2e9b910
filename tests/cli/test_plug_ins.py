"""Commands that other packages bring: there where they are installed, and named where they are not."""

from __future__ import annotations

import subprocess
import sys
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


def test_help_says_of_every_command_what_the_command_says_of_itself() -> None:
    whole = typer.main.get_command(program.commands(program.COMMANDS))
    said = {name: getdoc_line(command.help) for name, command in whole.commands.items()}  # type: ignore[attr-defined]
    assert said == program.COMMANDS


def test_help_loads_no_command() -> None:
    loaded = "import sys; from tarnkappe.cli import main\ntry: main()\nexcept SystemExit: pass\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", loaded, "--help"], capture_output=True, text=True, check=True, timeout=120
    )
    modules = set(run.stdout.splitlines()[-1].split())
    assert "tarnkappe.cli.program" in modules
    assert not modules & {"pyarrow", "numpy", "tarnkappe.job", "tarnkappe.cli.anonymize"}


def getdoc_line(text: str | None) -> str:
    return " ".join((text or "").partition("\n\n")[0].split())


def test_no_package_takes_the_place_of_a_command_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = EntryPoint("check", "tests.cli.test_plug_ins:never", program.PLUG_INS)
    monkeypatch.setattr(program, "entry_points", lambda group: [foreign])
    for app in (program.asked(["check"]), program.asked([]), program.every_command()):
        assert [each for each, _ in _commands(app)].count("check") == 1
        assert all(run is not never for _, run in _commands(app))


def never() -> None:
    raise AssertionError("a foreign command was run")


def _commands(app: typer.Typer) -> list[tuple[str | None, object]]:
    return [(each.name, each.callback) for each in app.registered_commands]
