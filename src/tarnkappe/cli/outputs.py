"""Every command is asked, before it reads anything, whether an output of it is one of its inputs or not ours.

An output is a path option or argument that is declared `writable=True`; a command that has one gets the flag
`--replace`, which allows it to replace files that tarn did not write. Everything else that a command line
names and that is there is taken for an input: files, files of `COLUMN=FILE`, databases, and what a TOML file
(a job, a catalog, a policy) names in its turn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any

from typer.core import TyperOption

from tarnkappe.cli.arguments import refuse_repeated
from tarnkappe.errors import ParameterError
from tarnkappe.schema.written import UnreadableError, read_toml
from tarnkappe.table.formats.address import local_file
from tarnkappe.table.overwriting import one_run, refuse_overwriting, same_file

LONGEST_PATH = 4096

ONLY_NEW = ("--new-key", "--token-file", "path", "--review")
"""Secrets, and what people write into: the commands refuse every file that is there, whatever is said."""
IN_A_FOLDER = ("demo", "certify", "fetch", "example", "import")
"""Commands that write under names of their own, and look by themselves whether these are free."""


REPLACE_HELP = "Replace files that tarn did not write."


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with its words."""
    for name, each in getattr(command, "commands", {}).items():
        yield from leaves(each, (*path, name))
    if not hasattr(command, "commands"):
        yield path, command


def is_output(parameter: Any) -> bool:
    """Whether an option or argument of a command says where to write."""
    return bool(getattr(parameter.type, "writable", False))


def protect_inputs(command: Any) -> Any:
    """Let every command refuse to write over what it reads, and options that are given twice."""
    for words, leaf in leaves(command):
        if replaces(words, leaf):
            leaf.params.append(
                TyperOption(param_decls=["--replace"], is_flag=True, default=False, help=REPLACE_HELP)
            )
        leaf.callback = _protected(leaf.callback, leaf.params)
        leaf.parse_args = partial(_parse_once, leaf, leaf.parse_args)
    return command


def replaces(words: Sequence[str], leaf: Any) -> bool:
    """Whether a command writes files that the user names, and may replace."""
    named = [parameter for parameter in leaf.params if is_output(parameter)]
    return words[-1] not in IN_A_FOLDER and any(each.opts[-1] not in ONLY_NEW for each in named)


def _parse_once(
    leaf: Any, parse: Callable[[Any, list[str]], list[str]], context: Any, words: list[str]
) -> list[str]:
    refuse_repeated(leaf, words)
    return parse(context, words)


def _protected(work: Callable[..., Any], parameters: Sequence[Any]) -> Callable[..., Any]:
    flags = {each.name: each.opts[-1] for each in parameters if is_output(each)}

    @wraps(work)
    def protected(**given: Any) -> Any:
        replace = given.pop("replace", False)
        outputs = {
            flag if number == 0 else f"{flag} ({number + 1})": path
            for name, flag in flags.items()
            for number, path in enumerate(_listed(given.get(name)))
        }
        others = [value for name, value in given.items() if name not in flags]
        inputs, folders, manifests = _inputs(others) if outputs else ([], [], [])
        for flag, path in outputs.items():
            for folder in folders:
                if Path(path).is_file() and same_file(Path(path).resolve().parent, folder):
                    raise ParameterError(
                        "cli.read-run-all-choose",
                        "{path} is read by this run, as all of {folder}: choose another name for {flag}",
                        path=path,
                        folder=folder,
                        flag=flag,
                    )
        with one_run(inputs, replace=replace):
            refuse_overwriting(outputs, inputs, manifests, only_new=ONLY_NEW)
            return work(**given)

    return protected


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _inputs(values: Sequence[Any]) -> tuple[list[Path], list[Path], list[Path]]:
    """The files and the folders that are named among values, and the manifests that job files name."""
    files: list[Path] = []
    folders: list[Path] = []
    manifests: list[Path] = []
    for value in values:
        for word in _listed(value):
            if isinstance(word, str | Path):
                for path in _paths(str(word), Path()):
                    (folders if path.is_dir() else files).append(path)
    for path in list(files):
        if path.suffix.lower() == ".toml":
            named, manifest = _named_in(path)
            files += named
            manifests += manifest
    return files, folders, manifests


def _paths(word: str, folder: Path) -> Iterator[Path]:
    """What is there under the name, or under a part of it that follows '=', as in COLUMN=FILE."""
    parts = [word, *(word.split("=", count)[-1] for count in range(1, word.count("=") + 1))]
    for part in parts:
        name = local_file(part) if len(part) < LONGEST_PATH else None
        if name and "\0" not in name and os.path.lexists(folder / name):
            yield folder / name


def _named_in(path: Path) -> tuple[list[Path], list[Path]]:
    try:
        content = read_toml(path)
    except UnreadableError:
        return [], []  # the command says better what is wrong with it
    output = content.pop("output", None)  # of a job: what a flag names instead is written in its place
    said = output.get("manifest") if isinstance(output, Mapping) else None
    files = [found for text in _texts(content) for found in _paths(text, path.parent) if not found.is_dir()]
    return files, [path.parent / said] if isinstance(said, str) else []


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for each in content.values():
            yield from _texts(each)
    elif isinstance(content, list):
        for each in content:
            yield from _texts(each)
