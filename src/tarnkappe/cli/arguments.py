"""The small languages of the command line: `NAME:parameter=value,...`, `COLUMN=FILE`, lists of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from tarnkappe.errors import ParameterError
from tarnkappe.schema.written import toml_value

COLUMN_LISTS = (
    "--qi", "--sensitive", "--identifier", "--publish", "--accept", "--column", "--field", "--new-key",
    "--prove", "--rule",
)  # fmt: skip
PAIR_LISTS = ("--data", "--hierarchies", "--person")
PAIR = re.compile(r"[^\s=]+=.+", re.DOTALL)


class ColumnLists(TyperCommand):
    """A command that takes several columns after one option: `--qi age sex` means `--qi age --qi sex`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat an option that takes columns before each further column."""
        return super().parse_args(ctx, repeat_options(args))


def repeat_options(words: Sequence[str]) -> list[str]:
    """Write out lists of columns, and of pairs NAME=FILE, as Typer reads them.

    >>> repeat_options(["data.csv", "--qi", "age", "sex", "--k", "5"])
    ['data.csv', '--qi', 'age', '--qi', 'sex', '--k', '5']
    """
    written: list[str] = []
    option = ""
    for word in words:
        if word.startswith("-"):
            option = word if word in (*COLUMN_LISTS, *PAIR_LISTS) else ""
        elif option and written[-1] != option and (option in COLUMN_LISTS or PAIR.fullmatch(word)):
            written.append(option)
        written.append(word)
    return written


def refuse_repeated(command: Any, words: Sequence[str]) -> None:
    """Refuse an option that takes one value and is given twice: the second would silently undo the first."""
    for option in (each for each in command.params if each.param_type_name == "option" and not each.multiple):
        names = {*option.opts, *option.secondary_opts}
        given = [word for word in words if word.partition("=")[0] in names]
        if len(given) > 1:
            raise ParameterError(
                "cli.given-twice-leave",
                "{given} is given twice: leave one out",
                given=given[1].partition("=")[0],
            )


def parse_column(text: str) -> tuple[str, str | None]:
    """A column, with the file of its hierarchy if one is given.

    >>> parse_column("age=age.csv"), parse_column("age")
    (('age', 'age.csv'), ('age', None))
    """
    name, _, file = text.partition("=")
    return name, file or None


def hierarchy_files(hierarchies: Sequence[str]) -> dict[str, Path]:
    """The file of each hierarchy: `COLUMN=FILE`."""
    files: dict[str, Path] = {}
    for text in hierarchies:
        column, file = parse_column(text)
        if file is None:
            raise ParameterError(
                "cli.hierarchy-write-hierarchy-column",
                "--hierarchy {text}: write --hierarchy COLUMN=FILE",
                text=text,
            )
        if column in files:
            raise ParameterError(
                "cli.hierarchy-hierarchy-already-leave",
                "--hierarchy {text}: '{column}' has a hierarchy already: leave one out",
                text=text,
                column=column,
            )
        files[column] = Path(file)
    return files


def parse_parameters(text: str) -> tuple[str, dict[str, Any]]:
    """A name with parameters; values are numbers, true and false, lists in brackets, or plain text.

    >>> parse_parameters("recursive-diversity:column=occupation,c=3,l=4")
    ('recursive-diversity', {'column': 'occupation', 'c': 3, 'l': 4})
    """
    name, _, rest = text.partition(":")
    parameters: dict[str, Any] = {}
    for part in _split(rest):
        key, sign, value = part.partition("=")
        if not sign or not key:
            raise ParameterError(
                "cli.no-parameter-write-name",
                "'{part}' in '{text}' is no parameter: write NAME:parameter=value,...",
                part=part,
                text=text,
            )
        if key.strip() in parameters:
            raise ParameterError(
                "cli.gives-parameter-twice-leave",
                "'{text}' gives the parameter '{key}' twice: leave one out",
                text=text,
                key=key.strip(),
            )
        parameters[key.strip()] = _value(value.strip())
    return name, parameters


def _split(text: str) -> list[str]:
    """Split at commas that are not inside brackets or quotes."""
    parts, depth, quoted, current = [], 0, "", ""
    for character in text:
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "\"'":
            quoted = character
        else:
            depth += (character in "[{") - (character in "]}")
        if character == "," and not depth and not quoted:
            parts.append(current)
            current = ""
        else:
            current += character
    return [part for part in [*parts, current] if part]


def _value(text: str) -> Any:
    try:
        return toml_value(text)
    except ValueError:
        return text
