"""`tarn hierarchy`: build, show and check generalization hierarchies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from rich.console import Console
from rich.table import Table as TextTable
from rich.text import Text
from rich.tree import Tree

from tarnkappe.cli.arguments import parse_parameters
from tarnkappe.cli.console import errors, output, print_json, progress_bar
from tarnkappe.cli.reading_flags import Options, say_reading, with_reading_flags
from tarnkappe.errors import HierarchyError, ParameterError, TarnkappeError
from tarnkappe.hierarchy import (
    BUILDERS,
    Hierarchy,
    HierarchyProposal,
    format_hierarchy,
    propose,
    read_hierarchy,
    write_hierarchy,
)
from tarnkappe.report.figures import MOST_EXAMPLES, hierarchy_figures
from tarnkappe.table import MISSING, Column
from tarnkappe.table.encoding import encode_column
from tarnkappe.table.read import read

app = typer.Typer(
    name="hierarchy", help="Build, show and check generalization hierarchies.", no_args_is_help=True
)

Positions = npt.NDArray[np.int64]

MOST_BRANCHES = 3
MOST_DEPTH = 3

DataColumn = Annotated[str, typer.Option("--column", help="The column to generalize.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
File = Annotated[Path, typer.Argument(help="A hierarchy file: one line a value, value;label;...;*")]


@app.command()
@with_reading_flags
def build(
    data: Annotated[str, typer.Argument(help="The table (CSV, Parquet, ...).")],
    column: DataColumn,
    builder: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(BUILDERS.names)}; proposed if not given.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="A parameter of the builder: name=value, as in width=[5,10].")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The file to write; else it is printed.", writable=True)
    ] = None,
    as_json: AsJson = False,
    *,
    reading: Options,
) -> None:
    """Build the hierarchy of a column; without a builder, propose one and say why."""
    parameters = _parameters(builder, option or [])
    values = _read_column(data, column, reading)
    built = _build(values, builder, parameters)
    if built.reason:
        _say(f"{column}: {built.reason}; proposed is {built.builder}", errors)
    if out is not None:
        write_hierarchy(built.hierarchy, out)
    if as_json:
        print_json(
            {
                "data": data,
                "column": column,
                "builder": {"builder": built.builder.name, **built.builder.parameters},
                "reason": built.reason or None,
                **hierarchy_figures(built.hierarchy),
                "out": None if out is None else str(out),
                "rows": None if out is not None else list(built.hierarchy.rows()),
            }
        )
    elif out is None:
        sys.stdout.write(format_hierarchy(built.hierarchy))
    else:
        _say(_told(out, built.hierarchy))


@app.command()
def show(file: File, as_json: AsJson = False) -> None:
    """Show the levels of a hierarchy file and the tree that they form."""
    hierarchy = read_hierarchy(file)
    if as_json:
        print_json({"file": str(file), **hierarchy_figures(hierarchy)})
        return
    _say(_told(file, hierarchy))
    output.print(_level_table(hierarchy))
    output.print(_tree(hierarchy))


@app.command()
@with_reading_flags
def check(
    file: File,
    data: Annotated[str | None, typer.Option(help="A table whose column it must cover.")] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of the table.")] = None,
    as_json: AsJson = False,
    *,
    reading: Options,
) -> None:
    """Check that a hierarchy file is monotone, has one root and covers the values of a column.

    Ends with exit code 2 if the hierarchy is refused.
    """
    if (data is None) != (column is None):
        raise ParameterError("cli.give-both-data-column", "give both --data and --column, or neither")
    try:
        hierarchy = read_hierarchy(file)
        covered = None
        if data and column:
            covered = _cover(file, hierarchy, _read_column(data, column, reading))
    except TarnkappeError as error:
        if as_json:
            print_json({"file": str(file), "valid": False, "error": str(error)})
        raise
    if as_json:
        result = {"file": str(file), "valid": True, "error": None, **hierarchy_figures(hierarchy)}
        print_json({**result, "data": data, "column": column, "labels_in_data": covered})
        return
    _say(_told(file, hierarchy))
    if covered:
        counts = ", ".join(map(str, covered))
        _say(f"it covers all {covered[0]} values of the column '{column}'; labels in use per level: {counts}")


def _parameters(builder: str | None, options: list[str]) -> dict[str, Any]:
    if builder is None:
        if options:
            raise ParameterError(
                "cli.option-parameter-builder-name",
                "--option is a parameter of a builder: name it with --builder",
            )
        return {}
    parameters: dict[str, Any] = {}
    for option in options:
        if "=" not in option:
            raise ParameterError(
                "cli.option-write-option-name", "--option {option}: write --option name=value", option=option
            )
        parameters |= parse_parameters(f"{builder}:{option}")[1]
    return parameters


def _read_column(data: str, column: str, reading: Options) -> Column:
    with progress_bar() as progress:
        table = read(data, **reading, progress=progress)
    say_reading(table)
    return encode_column(table.require(column), table.data.column(column), table.spelling(column))


def _build(values: Column, name: str | None, parameters: dict[str, Any]) -> HierarchyProposal:
    if name is None:
        return propose(values)
    builder = BUILDERS.create(name, parameters)
    return HierarchyProposal(builder.build_column(values), builder, reason="")


def _cover(file: Path, hierarchy: Hierarchy, column: Column) -> list[int]:
    """How many labels of each level occur in a column that the hierarchy must cover."""
    try:
        levels = hierarchy.encode(column)
    except HierarchyError as error:
        raise HierarchyError("cli.file-error", "{file}: {error}", file=file, error=error) from None
    return [levels.distinct(level) for level in range(levels.height + 1)]


def _say(line: str, console: Console = output) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _told(file: Path, hierarchy: Hierarchy) -> str:
    number = len(hierarchy.values)
    missing = ", one for missing cells" if hierarchy.has_missing else ""
    return f"{file}: {number} value{'s' if number > 1 else ''}{missing}, height {hierarchy.height}"


def _level_table(hierarchy: Hierarchy) -> TextTable:
    table = TextTable("level", "labels", "such as")
    for level in hierarchy_figures(hierarchy)["levels"]:
        more = "" if level["labels"] <= MOST_EXAMPLES else ", …"
        table.add_row(str(level["level"]), f"{level['labels']:,}", Text(", ".join(level["examples"]) + more))
    return table


def _tree(hierarchy: Hierarchy) -> Tree:
    """The hierarchy from its root; under every label only the first few, and not all levels."""
    tree = Tree(_branch(hierarchy.root, len(hierarchy.values)))
    _grow(tree, hierarchy, hierarchy.height - 1, np.arange(len(hierarchy.values)))
    return tree


def _grow(tree: Tree, hierarchy: Hierarchy, level: int, values: Positions) -> None:
    """Add the labels that some values, given by their positions, have on a level."""
    if level < max(0, hierarchy.height - MOST_DEPTH):
        return
    codes = values if level == 0 else hierarchy.maps[level - 1][values]
    found = np.unique(codes)
    for code in found[:MOST_BRANCHES].tolist():
        if level == 0:
            tree.add(Text(hierarchy.values[code] or MISSING))
        else:
            members = values[codes == code]
            branch = tree.add(_branch(hierarchy.labels(level)[code], len(members)))
            _grow(branch, hierarchy, level - 1, members)
    if len(found) > MOST_BRANCHES:
        tree.add(Text(f"… {len(found) - MOST_BRANCHES:,} more", style="dim"))


def _branch(label: str, values: int) -> Text:
    return Text.assemble(label, (f"  {values:,} value{'s' if values > 1 else ''}", "dim"))
