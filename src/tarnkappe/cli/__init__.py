"""The command line: `tarn`."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; without arguments, those of the process, which then handles its signals too."""
    if (sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        say_version()  # nothing has to be loaded for it
        return
    try:
        # Loading takes a moment, in which the user may change his mind.
        if arguments is None:
            from tarnkappe.process.signals import leave_at_once

            leave_at_once()
            if not asks_for_a_list(sys.argv[1:]):
                from tarnkappe.process.libraries import load_libraries

                load_libraries()
        from tarnkappe.cli.program import run

        if arguments is None:
            from tarnkappe.process.signals import take_over

            take_over()
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(130)
    run(sys.argv[1:] if arguments is None else arguments)


def asks_for_a_list(words: list[str]) -> bool:
    """Whether only the names of the commands are wanted, for which no library has to be loaded."""
    return words[:1] in ([], ["--help"])


def say_version() -> None:
    """Print which version is installed."""
    from importlib.metadata import version

    sys.stdout.write(f"tarn {version('tarnkappe')}\n")


__all__ = ["asks_for_a_list", "main", "say_version"]
