"""`tarn compare`: several methods side by side on the table of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Grid

from tarnkappe.cli.console import output, print_json, progress_bar
from tarnkappe.cli.pictures import check_picture, write_picture
from tarnkappe.job import Job, compare_job
from tarnkappe.report.comparison import Comparison, draw_comparison, measures, write_comparison
from tarnkappe.table.files import writable
from tarnkappe.utility import Workload


def compare(
    job: Annotated[Path, typer.Argument(help="The job file (TOML); nothing of its output is written.")],
    methods: Annotated[str | None, typer.Option(help="Which methods: a,b,c; else the usual ones.")] = None,
    queries: Annotated[int, typer.Option(help="How many random queries to ask.")] = Workload.queries,
    selectivity: Annotated[
        float, typer.Option(help="About which share of rows a query lets through.")
    ] = Workload.selectivity,
    target: Annotated[str | None, typer.Option(help="A column that a classifier predicts.")] = None,
    seed: Annotated[int, typer.Option(help="Of the queries: the same seed asks the same.")] = Workload.seed,
    picture: Annotated[
        Path | None, typer.Option(help="Where to draw it: .svg or .png.", writable=True)
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write an HTML page.", writable=True)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Publish the same table in several ways: loss, suppression, query error, accuracy, time.

    Nothing is released. A method that finds no release has a row that says why.
    """
    if picture is not None:
        check_picture(picture)
    if report is not None:
        writable(report)
    named = [name.strip() for name in methods.split(",") if name.strip()] if methods else []
    with progress_bar() as progress:
        found = compare_job(
            Job.load(job),
            methods=named,
            workload=Workload(queries, selectivity, seed),
            target=target,
            progress=progress,
        )
    if picture is not None:
        write_picture(draw_comparison(found), picture)
    if report is not None:
        write_comparison(found, report)
    if as_json:
        written = {"picture": picture and str(picture), "report": report and str(report)}
        print_json(found.to_dict() | written)
        return
    _print(found)
    for path in (picture, report):
        if path is not None:
            output.print(f"written to {path}", highlight=False)


def _print(found: Comparison) -> None:
    output.print(f"{found.rows:,} rows under {', '.join(found.promises)}", highlight=False)
    shown = measures(found)
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("method")
    for measure in shown:
        grid.add_column(measure.title, justify="right")
    for outcome in found.outcomes:
        grid.add_row(outcome.method, *(measure.text(outcome) for measure in shown))
    output.print(grid)
    if found.remark:
        output.print(found.remark, highlight=False)
    reference = next((each.accuracy for each in found.outcomes if each.accuracy), None)
    if reference is not None:
        output.print(
            f"accuracy of '{reference.target}' from the original rows: {reference.original:.1%}; "
            f"by always guessing the most frequent value: {reference.most_frequent:.1%}",
            highlight=False,
        )
    output.print()
    for outcome in found.outcomes:
        text = f"no release: {outcome.failure}" if outcome.failure else outcome.summary
        output.print(f"[bold]{outcome.method}[/]: ", end="")
        output.print(f"{text} {outcome.remark}".rstrip(), highlight=False, markup=False)
