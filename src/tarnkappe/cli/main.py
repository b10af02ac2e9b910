"""The entry point of `tarn`: commands, exit codes and errors in the user's words."""

from __future__ import annotations

import sys
from typing import Annotated

import click
import typer

from tarnkappe.cli.console import errors
from tarnkappe.errors import TarnkappeError

app = typer.Typer(
    name="tarn",
    help="Use personal tabular data without exposing the person.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def root(
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Options that come before the command."""
    del debug  # read from the arguments in `main`, so that it also covers errors while parsing


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every error becomes one line on stderr and an exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        code = app(given, standalone_mode=False)
    except TarnkappeError as error:
        if "--debug" in given:
            raise
        errors.print(f"error: {error}", style="bold red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(error.exit_code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.exceptions.Abort, KeyboardInterrupt):
        errors.print("stopped", style="bold red")
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)
