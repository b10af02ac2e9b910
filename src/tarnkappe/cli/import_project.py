"""`tarn import`: projects and functional hierarchies of ARX become a job file, or a builder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli.console import output, print_json
from tarnkappe.errors import InputError, ParameterError
from tarnkappe.job.arx_builders import read_functional_hierarchy
from tarnkappe.job.arx_project import import_project as import_arx_project

LARGEST_RULE = 16 * 2**20
"""Bytes; functional hierarchies have a few thousand."""


def import_project(
    file: Annotated[Path, typer.Argument(help="A project (.deid) or functional hierarchy (.ahs) of ARX.")],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="A new folder for a project; else the name of the file without .deid.",
            writable=True,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make a job file of an ARX project, or a hierarchy builder of a functional hierarchy of ARX.

    What cannot be carried over is listed.
    """
    if not file.is_file():
        raise InputError("cli.no-file", "{file}: there is no such file", file=file)
    if file.suffix.lower() == ".ahs":
        if folder is not None:
            raise ParameterError(
                "cli.functional-hierarchy-becomes-line",
                "a functional hierarchy becomes one line of a job file: leave out --out",
            )
        _show_builder(file, as_json)
        return
    made = import_arx_project(file, folder if folder is not None else Path(file.stem))
    if as_json:
        print_json({"folder": str(made.folder), "job": str(made.job), "left_out": list(made.left_out)})
        return
    output.print(f"The job: {made.job}", highlight=False, markup=False)
    output.print("Not carried over:", highlight=False, markup=False)
    for sentence in made.left_out:
        output.print(f"- {sentence}", highlight=False, markup=False)
    output.print(f"Try: tarn anonymize {made.job}", highlight=False, markup=False)


def _show_builder(path: Path, as_json: bool) -> None:
    with path.open("rb") as source:
        content = source.read(LARGEST_RULE + 1)
    if len(content) > LARGEST_RULE:
        raise InputError(
            "cli.too-large-functional-hierarchy",
            "{path}: this is too large for a functional hierarchy",
            path=path,
        )
    try:
        builder = read_functional_hierarchy(content)
    except InputError as error:
        raise error.within(path) from None
    if as_json:
        print_json({"builder": builder.name, **builder.parameters})
    else:
        output.print(f"hierarchy = {builder}", highlight=False, markup=False, soft_wrap=True)
