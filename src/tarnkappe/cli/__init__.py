"""The command line: `tarn`."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; without arguments, those of the process, which then handles its signals too."""
    if (sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        say_version()  # nothing has to be loaded for it
        return
    if arguments is not None:
        from tarnkappe.cli.program import run

        run(arguments)
        return
    from tarnkappe.process.ending import ended_at_once

    with ended_at_once():
        _run_as_process(sys.argv[1:])


def _run_as_process(arguments: list[str]) -> None:
    try:
        # Loading takes a moment, in which the user may change his mind.
        from tarnkappe.process.signals import leave_at_once, take_over

        leave_at_once()
        if not asks_for_a_list(arguments):
            from tarnkappe.process.libraries import load_libraries

            load_libraries()
        from tarnkappe.cli.program import run

        take_over()
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(130)
    run(arguments)


def asks_for_a_list(words: list[str]) -> bool:
    """Whether only the names of the commands are wanted, for which no library has to be loaded."""
    return words[:1] in ([], ["--help"])


def say_version() -> None:
    """Print which version is installed."""
    from importlib.metadata import version

    sys.stdout.write(f"tarn {version('tarnkappe')}\n")


__all__ = ["asks_for_a_list", "main", "say_version"]
