"""Where the command line writes: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.control import strip_control_codes
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

if TYPE_CHECKING:
    from tarnkappe.table.encoding import Progress as Report


_foreign: set[str] = set()
"""Names in foreign files that are no single line."""


def show_in_one_line(names: Iterable[str]) -> None:
    """Let names of a foreign file break no line from now on: a header may have a line break."""
    for name in names:
        if name.strip() and not name.isprintable():
            _foreign.update((name, strip_control_codes(name)))  # which Rich takes out of some texts


def _in_one_line(text: str) -> str:
    for name in sorted(_foreign, key=len, reverse=True):
        if name in text:
            text = text.replace(name, "".join(each if each.isprintable() else " " for each in name))
    return text


class PlainConsole(Console):
    """Shows texts without terminal codes: a header of a foreign file could repaint the screen by them."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is drawn, with a blank for what is neither printable nor a line break or tab of ours."""
        if isinstance(renderable, str):
            renderable = _in_one_line(renderable)
        elif isinstance(renderable, Text) and (flat := _in_one_line(renderable.plain)) != renderable.plain:
            renderable = renderable.copy()
            renderable.plain = flat  # as long as before, so styles stay in place
        for segment in super().render(renderable, options):
            shown = segment.text
            if segment.control is None and not shown.isprintable():
                shown = "".join(each if each.isprintable() or each in "\n\t" else " " for each in shown)
            yield Segment(shown, segment.style, segment.control)


output = PlainConsole()
errors = PlainConsole(stderr=True)


def print_json(result: Any) -> None:
    """Print one JSON object, and nothing else, on stdout."""
    json.dump(result, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")


def say(line: str) -> None:
    """Say something on stderr that is no error."""
    errors.print(line, markup=False, highlight=False, soft_wrap=True)


def near_path(path: Path) -> Path:
    """A path as people call it who are in the folder where they work."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def say_that_it_compiles() -> None:
    """Say why this run takes longer than those to come."""
    from tarnkappe.cli.language import told  # loads patterns that few runs need

    errors.print(told("compiling kernels, once: later runs start at once"), style="dim", highlight=False)


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
