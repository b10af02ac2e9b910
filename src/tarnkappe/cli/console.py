"""Where the command line writes: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tarnkappe.table.encoding import Progress as Report

output = Console()
errors = Console(stderr=True)


def print_json(result: Any) -> None:
    """Print one JSON object, and nothing else, on stdout."""
    json.dump(result, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")


def say(line: str) -> None:
    """Say something on stderr that is no error."""
    errors.print(line, markup=False, highlight=False, soft_wrap=True)


def say_that_it_compiles() -> None:
    """Say why this run takes longer than those to come."""
    errors.print("compiling kernels, once: later runs start at once", style="dim", highlight=False)


def say_first_seen(fingerprint: str) -> None:
    """Say that a key works with a vault for the first time, so that a person can compare."""
    errors.print(
        "this key works with this vault for the first time. Compare the fingerprint with the one that was "
        f"shown when the vault was made: {fingerprint}",
        highlight=False,
        soft_wrap=True,
    )


@contextmanager
def progress_bar() -> Iterator[Report]:
    """Show the progress of long work on stderr; what is shown disappears when the work is done."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    ) as bars:
        tasks: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int, note: str = "") -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total, note=note)
            bars.update(tasks[what], completed=done, total=total, note=note)

        yield report
