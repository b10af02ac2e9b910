"""`tarn lattice`: classify the whole lattice of a job, as a table and as a picture."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli.console import output, print_json, progress_bar
from tarnkappe.cli.pictures import check_picture, write_picture
from tarnkappe.cli.remote_option import RemoteOption
from tarnkappe.job import Job, explore_job
from tarnkappe.lattice.picture import draw_lattice
from tarnkappe.report.figures import lattice_figures
from tarnkappe.table import write
from tarnkappe.table.files import format_of, writable


def lattice(
    job: Annotated[Path, typer.Argument(help="The job file (TOML).")],
    out: Annotated[
        Path | None, typer.Option(help="One row a node: .parquet, .csv, ...", writable=True)
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Where to draw it: .svg or .png.", writable=True)
    ] = None,
    remote: RemoteOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Classify every combination of levels: does it keep the promises, what does it lose, what suppress?"""
    if out is not None:
        format_of(writable(out))
    if picture is not None:
        check_picture(picture)
    if remote is not None:
        from tarnkappe.cli.remote_anonymize import explore_remotely

        explore_remotely(remote, job, out, picture, as_json)
        return
    plan = Job.load(job)
    with progress_bar() as progress:
        start = time.perf_counter()
        view = explore_job(plan, progress).lattice
        seconds = time.perf_counter() - start
    if out is not None:
        write(view.to_arrow(), out)
    if picture is not None:
        write_picture(draw_lattice(view), picture)
    if as_json:
        print_json(lattice_figures(view, seconds, out, picture))
        return
    output.print(repr(view), highlight=False)
    for path in (out, picture):
        if path is not None:
            output.print(f"written to {path}", highlight=False)
