"""`tarn check`: which guarantees a table has, and what an attacker can do with it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tarnkappe.cli.arguments import parse_column, parse_parameters
from tarnkappe.cli.check_text import render
from tarnkappe.cli.console import output, print_json, progress_bar
from tarnkappe.errors import ColumnError, HierarchyError, ParameterError, TarnkappeError
from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.job import Job
from tarnkappe.privacy import MODELS, KAnonymity, Model, needed_distributions
from tarnkappe.risk import check as check_table
from tarnkappe.table import Table, encode, read
from tarnkappe.table.encoding import Progress

Words = list[str]


@dataclasses.dataclass(frozen=True)
class Question:
    """What is to be checked: a table with roles, and what it should promise."""

    table: Table
    population: Table | None
    hierarchies: Mapping[str, Hierarchy]
    models: Sequence[Model]


def check(
    data: Annotated[str, typer.Argument(help="The table (CSV, Parquet, ...) or a job file (TOML).")],
    qi: Annotated[Words | None, typer.Option(help="The columns that an attacker may know.")] = None,
    sensitive: Annotated[
        Words | None, typer.Option(help="The columns that an attacker wants to learn.")
    ] = None,
    population: Annotated[str | None, typer.Option(help="Everybody who could be in the table.")] = None,
    hierarchy: Annotated[
        Words | None, typer.Option(help="The categories of a sensitive column: COLUMN=FILE.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="Short for --model k-anonymity:k=K.")] = None,
    model: Annotated[
        Words | None, typer.Option(help="A model to be met: NAME:parameter=value,parameter=value.")
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst classes to name.")] = 5,
    delimiter: Annotated[str | None, typer.Option(help="Of CSV files; found out if not given.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Of CSV files; UTF-8 if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tell which guarantees a table has: k, l, t, delta, risks, and the attacks that work.

    Ends with exit code 1 if the table does not meet a model that was asked for.
    """
    start = time.perf_counter()
    files = _hierarchy_files(hierarchy or ())
    with progress_bar() as progress:
        if data.lower().endswith(".toml"):
            question = ask_job(data, progress)
        else:
            promised = _models(k, model or (), sensitive or ())
            reading = partial(read, delimiter=delimiter, encoding=encoding, progress=progress)
            question = _ask(reading, data, qi or (), sensitive or (), population, files, promised)
        asked = time.perf_counter()
        with _naming(data, files):
            report = check_table(
                question.table,
                population=question.population,
                hierarchies=question.hierarchies,
                models=question.models,
                worst=worst,
                progress=progress,
            )
    if as_json:
        seconds = {"read": round(asked - start, 6), "check": round(time.perf_counter() - asked, 6)}
        print_json({"input": data, **report.to_dict(), "seconds": seconds})
    else:
        output.print(render(report, data))
    if not report.holds:
        raise typer.Exit(1)


def ask_job(path: str, progress: Progress) -> Question:
    """The question that a job file asks: does its input, untouched, meet the models that it promises?"""
    job = Job.load(path)
    table = job.read_input(progress)
    columns = encode(table, table.sensitive)
    hierarchies = {name: job.columns[name].hierarchy_for(column) for name, column in columns.items()}
    return Question(
        table,
        None if job.population is None else job.population.read(progress),
        {name: hierarchy for name, hierarchy in hierarchies.items() if hierarchy is not None},
        job.privacy,
    )


def _ask(
    reading: Callable[..., Table],
    data: str,
    qi: Sequence[str],
    sensitive: Sequence[str],
    population: str | None,
    hierarchies: Mapping[str, Path],
    models: Sequence[Model],
) -> Question:
    """The question that flags ask; only the columns that matter are read."""
    if not qi:
        raise ColumnError(f"{data}: name the columns that an attacker may know: --qi COLUMN ...")
    judged = [name for names in needed_distributions(models) for name in names]
    columns = list(dict.fromkeys([*qi, *sensitive, *judged, *hierarchies]))
    table = reading(data, columns=columns)
    with _naming(data):
        table = table.with_roles(quasi_identifiers=qi, sensitive=sensitive)
    return Question(
        table,
        None if population is None else reading(population, columns=list(dict.fromkeys(qi))),
        {name: read_hierarchy(file) for name, file in hierarchies.items()},
        models,
    )


def _models(k: int | None, models: Sequence[str], sensitive: Sequence[str]) -> list[Model]:
    asked = [] if k is None else [KAnonymity(k)]
    return [*asked, *(_model(*parse_parameters(text), sensitive) for text in models)]


def _model(name: str, parameters: dict[str, Any], sensitive: Sequence[str]) -> Model:
    """A model; if it names no column, it is about the only sensitive one."""
    takes_column = any(field.name == "column" for field in dataclasses.fields(MODELS[name]))
    if takes_column and "column" not in parameters and len(sensitive) == 1:
        parameters = {"column": sensitive[0], **parameters}
    return MODELS.create(name, parameters)


def _hierarchy_files(hierarchies: Sequence[str]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for text in hierarchies:
        column, file = parse_column(text)
        if file is None:
            raise ParameterError(f"--hierarchy {text}: write --hierarchy COLUMN=FILE")
        files[column] = Path(file)
    return files


@contextmanager
def _naming(data: str, hierarchies: Mapping[str, Path] | None = None) -> Iterator[None]:
    """Let an error name the file that it is about: a hierarchy, or else the table."""
    try:
        yield
    except TarnkappeError as error:
        about = [str(file) for name, file in (hierarchies or {}).items() if f"'{name}'" in str(error)]
        file = about[0] if about and isinstance(error, HierarchyError) else data
        raise type(error)(f"{file}: {error}") from None
