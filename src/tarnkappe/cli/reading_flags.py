"""Flags that correct how a file was read, the same for every command that reads one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from tarnkappe.cli.console import say
from tarnkappe.cli.language import told
from tarnkappe.errors import ParameterError
from tarnkappe.table import Table

Text = str | None
Words = list[str] | None

FLAGS: dict[str, Any] = {
    "delimiter": Annotated[Text, typer.Option(help="Of CSV files; found out if not given.")],
    "encoding": Annotated[Text, typer.Option(help="Of CSV files, as cp1252; found out if not given.")],
    "quote": Annotated[Text, typer.Option(help="Around fields of CSV files ('' for none).")],
    "header": Annotated[Text, typer.Option(help="Whether the first line names the columns: yes|no.")],
    "decimal": Annotated[Text, typer.Option(help="The decimal mark of numbers: '.' or ','.")],
    "dates": Annotated[Text, typer.Option(help="Day or month first, as in 31.12.1980: dmy|mdy.")],
    "missing": Annotated[Words, typer.Option(help="A word for a missing value, instead of NA, n/a ...")],
    "bad_lines": Annotated[Text, typer.Option(help="Lines with other numbers of fields: refuse|skip.")],
    "sheet": Annotated[Text, typer.Option(help="Of a workbook, or the file of an archive.")],
    "type": Annotated[Words, typer.Option(help="COLUMN=text|number|code|date[:FORMAT].")],
}

Options = dict[str, Any]
"""What flags say about how files are written, as arguments of `read`."""


def with_reading_flags(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the flags of this module in place of its parameter `reading`, what they say."""
    signature = inspect.signature(command, eval_str=True)
    own = [parameter for name, parameter in signature.parameters.items() if name != "reading"]
    keyword = inspect.Parameter.KEYWORD_ONLY
    added = [
        inspect.Parameter(name, keyword, default=None, annotation=annotation)
        for name, annotation in FLAGS.items()
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        said = {name: given.pop(name, None) for name in FLAGS}
        command(**given, reading=reading_options(said))

    run.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *added]}
    return run


def reading_options(said: Options) -> Options:
    """What flags say, without those that were not given.

    >>> reading_options({"dates": "dmy", "type": ["zip=code"], "quote": None})
    {'dates': 'dmy', 'types': {'zip': 'code'}}
    """
    options = {name: value for name, value in said.items() if value is not None and name != "type"}
    types = _types(said.get("type") or ())
    return {**options, **({"types": types} if types else {})}


def _types(given: Sequence[str]) -> dict[str, str]:
    types: dict[str, str] = {}
    for text in given:
        name, sign, kind = text.rpartition("=")
        if not sign or not name or not kind:
            raise ParameterError(
                "cli.type-write-type-column",
                "--type {text}: write --type COLUMN=text, number, code or date:FORMAT",
                text=text,
            )
        if name in types:
            raise ParameterError(
                "cli.type-given-twice-leave", "--type is given twice for '{name}': leave one out", name=name
            )
        types[name] = kind
    return types


def say_reading(table: Table) -> None:
    """Say on stderr what was guessed about a file."""
    if table.reading is not None:
        for note in table.reading.notes:
            say(told(note))
