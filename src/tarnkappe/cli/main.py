"""The entry point of `tarn`: commands, exit codes and errors in the user's words."""

from __future__ import annotations

import os
import sys
from typing import Annotated, cast

import typer

from tarnkappe.cli.anonymize import anonymize
from tarnkappe.cli.arguments import ColumnLists
from tarnkappe.cli.check import check
from tarnkappe.cli.console import errors
from tarnkappe.cli.demo import demo
from tarnkappe.cli.hierarchy import app as hierarchy
from tarnkappe.errors import TarnkappeError

UsageError = cast(type[Exception], typer.BadParameter.__mro__[1])
"""What Typer raises for wrong usage; Typer exports only this subclass of it."""

app = typer.Typer(
    name="tarn",
    help="Use personal tabular data without exposing the person.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def root(
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Options that come before the command."""
    del debug  # read from the arguments in `main`, so that it covers every error


app.command("demo")(demo)
app.command("anonymize", cls=ColumnLists)(anonymize)
app.command("check", cls=ColumnLists)(check)
app.add_typer(hierarchy)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every error becomes one line on stderr and an exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in given
    try:
        code = app([word for word in given if word != "--debug"], standalone_mode=False)
    except TarnkappeError as error:
        if debug:
            raise
        _say(f"error: {error}")
        sys.exit(error.exit_code)
    except UsageError as error:
        message = getattr(error, "format_message", error.__str__)()
        if not message:  # a bare `tarn` has shown its help
            sys.exit(0)
        _say(f"error: {message} (tarn --help shows what there is)")
        sys.exit(2)
    except (typer.Abort, KeyboardInterrupt):
        _say("stopped")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone, as in `tarn ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        # The text of an unexpected error may quote data, so only its kind is shown.
        _say(f"error: unexpected {type(error).__name__}: please report it; --debug shows the details")
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)


def _say(line: str) -> None:
    errors.print(line, style="bold red", markup=False, highlight=False, soft_wrap=True)
