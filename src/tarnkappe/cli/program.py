"""The entry point of `tarn`: commands, exit codes and errors in the user's words."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, cast

import typer

from tarnkappe.cli import asks_for_a_list, say_version
from tarnkappe.cli.arguments import ColumnLists
from tarnkappe.cli.console import PlainConsole, say_that_it_compiles, show_in_one_line
from tarnkappe.errors import ParameterError, Reason, TarnkappeError
from tarnkappe.native import is_interruption, on_first_compilation
from tarnkappe.process.signals import StoppedError, interrupted

STOPPED = 130
ERROR = Reason("cli.error", "error")
UsageError = cast(type[Exception], typer.BadParameter.__mro__[1])
"""What Typer raises for wrong usage; Typer exports only this subclass of it."""

COMMANDS = {
    "demo": "Anonymize a made-up hospital and write an HTML report.",
    "start": "Make a verified release of a file that nobody has described, and the job file that repeats it.",
    "look": "Show how a file is read, and the release that `tarn anonymize FILE` would make of it.",
    "anonymize": "Publish a table with the promised guarantees and the least loss.",
    "import": "Make a job file of an ARX project, or a hierarchy builder of a functional hierarchy of ARX.",
    "verify": "Prove what a release promises; with the input, also that cells are true and no levels lose "
    "less.",
    "check": "Tell which guarantees a table has: k, l, t, delta, risks, and the attacks that work.",
    "compare": "Publish the same table in several ways: loss, suppression, query error, accuracy, time.",
    "utility": "Tell what a release is still good for: what may leave, and what must stay.",
    "attack": "Replay one attack on a release and list its victims.",
    "lattice": "Classify every combination of levels: does it keep the promises, what does it lose, what "
    "suppress?",
    "hierarchy": "Build, show and check generalization hierarchies.",
    "pseudonymize": "Replace the columns that say who somebody is by a pseudonym.",
    "reidentify": "Who is behind a pseudonym: one person asks, another agrees, every access is logged.",
    "sql": "Run SQL with generalize, slice and randomize inside, on DuckDB, PostgreSQL or Spark.",
    "gate": "Free queries; everybody in an answer keeps k possible values.",
    "policy": "A policy decides what every query may see.",
    "party": "Take part in federations of several sites.",
    "federate": "Propose a contract to all sites, and run it when all have agreed.",
    "exchange": "May this package leave the house? Requests between institutions, checked and decided.",
    "serve": "Start the REST API and the web application; Ctrl-C ends them.",
    "store": "Stores: which versions they have, and what may go.",
    "schema": "Print what a file may say as a JSON Schema, with which an editor completes and checks it.",
}
"""Each is a module of this folder with a function of its name, or with an `app` of further commands.

The sentences stand here as well as in the modules, so that `tarn --help` loads none of them.
"""
MODULES = {"import": "import_project"}
"""Where Python has another meaning for the name."""

PLUG_INS = "tarnkappe.commands"
"""The entry points by which other packages bring commands: each is a function or an `app`."""
ELSEWHERE = {
    "bench": "the package tarnkappe-bench, which is in the folder `benchmarks` of the source: pip install "
    "./benchmarks",
}
"""Commands that are ours but come with another package."""


def _version(asked: bool) -> None:
    if asked:
        say_version()
        raise typer.Exit


def root(
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version.")
    ] = False,
) -> None:
    """Options that come before the command."""
    del debug  # read from the arguments in `run`, so that it covers every error
    del version  # said before any command is looked at


def commands(names: Iterable[str], plug_ins: Iterable[EntryPoint] = ()) -> typer.Typer:
    """The command line with some of its commands and plug-ins; what they need is loaded now."""
    app = _empty()
    for name in names:
        called = MODULES.get(name, name)
        module = import_module(f"tarnkappe.cli.{called}")
        _add(app, name, getattr(module, "app", None) or getattr(module, called))
    for plug_in in plug_ins:
        _add(app, plug_in.name, plug_in.load())
    return app


def listed(plug_ins: Iterable[EntryPoint]) -> typer.Typer:
    """The command line with the names of all commands and what each is for; nothing is loaded or runs."""
    app = _empty()
    for name, sentence in COMMANDS.items():
        app.command(name, help=sentence)(_nothing)
    for plug_in in plug_ins:
        app.command(plug_in.name, help=plug_in.dist.metadata["Summary"] if plug_in.dist else "")(_nothing)
    return app


def _empty() -> typer.Typer:
    app = typer.Typer(
        name="tarn",
        help="Use personal tabular data without exposing the person.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(root)
    return app


def _nothing() -> None:
    raise AssertionError("a command that is only listed was run")


def _add(app: typer.Typer, name: str, command: Any) -> None:
    if isinstance(command, typer.Typer):
        app.add_typer(command)
    else:
        app.command(name, cls=ColumnLists)(command)


def every_command() -> typer.Typer:
    """The command line with all commands and plug-ins, loaded."""
    return commands(COMMANDS, _plug_ins())


def _plug_ins() -> list[EntryPoint]:
    return [each for each in entry_points(group=PLUG_INS) if each.name not in COMMANDS]


def asked(words: Sequence[str]) -> typer.Typer:
    """The command line with the command that is asked for, or with a list of all of them.

    Plug-ins are looked for only where none of our own commands is asked for: looking takes time.
    """
    first = words[0] if words else ""
    if first in COMMANDS:
        return commands([first])
    found = _plug_ins()
    if first in {each.name for each in found}:
        return commands([], [each for each in found if each.name == first])
    if first in ELSEWHERE:
        raise ParameterError(
            "cli.tarn-needs", "`tarn {first}` needs {elsewhere}", first=first, elsewhere=ELSEWHERE[first]
        )
    return listed(found)


def _tell(error: TarnkappeError, *, as_json: bool) -> None:
    """An error in the language of the environment; for programs in English, with its code."""
    show_in_one_line(_names(error.reason))
    if as_json:
        _say(f"error: {error}\ncode: {error.code}")
        return
    from tarnkappe.texts import language, told

    _say(f"{told(language(), ERROR)}: {told(language(), error)}")


def _names(reason: Reason) -> Iterator[str]:
    """The texts that an error quotes, unless it has several lines by itself."""
    rest, quoted = reason.sentence, []
    for value in reason.values.values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Reason):
                yield from _names(each)
            if isinstance(each, str):
                rest = rest.replace(each, "")
                quoted += [] if isinstance(each, Reason) else [each]
    yield from quoted if "\n" not in rest else ()


def run(given: Sequence[str]) -> None:
    """Run the command line; every error becomes one line on stderr and an exit code."""
    debug = "--debug" in given
    try:
        words = [word for word in given if word != "--debug"]
        with on_first_compilation(say_that_it_compiles):
            command = typer.main.get_command(asked(words))
            if not asks_for_a_list(words):
                from tarnkappe.cli.outputs import protect_inputs

                command = protect_inputs(command)
            code = command(words, standalone_mode=False)
    except TarnkappeError as error:
        if debug:
            raise
        _tell(error, as_json="--json" in given)
        sys.exit(error.exit_code)
    except UsageError as error:
        message = getattr(error, "format_message", error.__str__)()
        if not message:  # a bare `tarn` has shown its help
            sys.exit(0)
        _say(f"error: {message} (tarn --help shows what there is)")
        sys.exit(2)
    except StoppedError as error:
        _say(f"stopped: {error}")
        sys.exit(STOPPED)
    except (typer.Abort, KeyboardInterrupt):
        _say("stopped")
        sys.exit(STOPPED)
    except BrokenPipeError:  # the reader of our output has gone, as in `tarn ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # not about the input or the output, which have errors of their own
        if debug:
            raise
        about = f"{error.filename}: " if error.filename else ""
        _say(f"error: {about}{error.strerror or type(error).__name__}")
        sys.exit(2)
    except MemoryError:
        if debug:
            raise
        _say("error: there is not enough memory: take fewer rows or columns, or an engine that keeps a limit")
        sys.exit(2)
    except Exception as error:
        if is_interruption(error) or interrupted():
            _say("stopped")
            sys.exit(STOPPED)
        if debug:
            raise
        # The text of an unexpected error may quote data, so only its kind is shown.
        _say(f"error: unexpected {type(error).__name__}: please report it; --debug shows the details")
        sys.exit(2)
    if code == STOPPED:  # what Typer makes of Ctrl-C
        _say("stopped")
    sys.exit(code if isinstance(code, int) else 0)


def _say(line: str) -> None:
    # Ctrl-C may have hit the usual console in the middle of drawing, so another one speaks.
    PlainConsole(stderr=True).print(line, style="bold red", markup=False, highlight=False, soft_wrap=True)
