"""`tarn utility`: what a release is still good for, whoever made it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli.arguments import hierarchy_files
from tarnkappe.cli.console import output, print_json, progress_bar, say
from tarnkappe.hierarchy import read_hierarchy
from tarnkappe.job import Job
from tarnkappe.job.utility import measure_utility
from tarnkappe.report.utility_page import internal_paths, write_internal, write_public
from tarnkappe.table import read
from tarnkappe.table.files import writable
from tarnkappe.utility import UtilityOptions, UtilityReport, Workload
from tarnkappe.utility.prediction import CLASSIFIERS, FOLDS, EvaluationProtocol

Names = list[str]


def utility(
    release: Annotated[Path, typer.Argument(help="The release (CSV, Parquet, ...), whoever made it.")],
    original: Annotated[Path | None, typer.Option(help="The table that it was made from.")] = None,
    job: Annotated[Path | None, typer.Option(help="The job file: roles, hierarchies, promise.")] = None,
    qi: Annotated[Names | None, typer.Option(help="The columns that form classes.")] = None,
    sensitive: Annotated[Names | None, typer.Option(help="The columns of interest.")] = None,
    hierarchy: Annotated[Names | None, typer.Option(help="The code list of a column: COLUMN=FILE.")] = None,
    target: Annotated[Names | None, typer.Option(help="A column that classifiers predict.")] = None,
    classifiers: Annotated[str | None, typer.Option(help=f"Which: {','.join(CLASSIFIERS)}.")] = None,
    folds: Annotated[int, typer.Option(help="Parts that are held out in turn: 2 to 20.")] = FOLDS,
    protocol: Annotated[
        str, typer.Option(help=f"Who learns from what: {'|'.join(EvaluationProtocol)}.")
    ] = EvaluationProtocol.RELEASE_TO_PEOPLE,
    queries: Annotated[int, typer.Option(help="How many random queries to ask.")] = Workload.queries,
    seed: Annotated[int, typer.Option(help="Of queries, folds and forests.")] = 0,
    share_errors: Annotated[
        bool, typer.Option("--share-errors", help="Add rounded errors to what may leave.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="Where to write a page of what may leave.", writable=True)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tell what a release is still good for: what may leave, and what must stay.

    What is printed is computed from the release alone. With --original, figures that compare both are
    written beside the release, as NAME.utility.internal.json and .html, which nobody but you can read: they
    tell sums and extremes of the original and must not be sent with the release.
    """
    options = UtilityOptions(
        tuple(target or ()),
        tuple(name.strip() for name in (classifiers or "").split(",") if name.strip()),
        folds,
        protocol,
        Workload(queries, seed=seed),
        share_errors,
        seed,
    )
    if report is not None:
        writable(report)
    with progress_bar() as progress:
        found = measure_utility(
            read(release),
            original=read(original) if original is not None else None,
            job=Job.load(job) if job is not None else None,
            quasi_identifiers=qi or (),
            sensitive=sensitive or (),
            hierarchies={n: read_hierarchy(file) for n, file in hierarchy_files(hierarchy or ()).items()},
            options=options,
            progress=progress,
        )
    written = _write(found, release, report)
    if as_json:
        print_json(found.to_dict() | {"written": [str(path) for path in written]})
        return
    output.print(str(found), markup=False, highlight=False, soft_wrap=True)
    for path in written:
        output.print(f"written to {path}", markup=False, highlight=False, soft_wrap=True)
    if found.internal is not None:
        say("the internal files are computed from the original: do not send them with the release")


def _write(found: UtilityReport, release: Path, report: Path | None) -> list[Path]:
    written = []
    if report is not None:
        write_public(found, report)
        written.append(report)
    if found.internal is not None:
        write_internal(found, *internal_paths(release))
        written += internal_paths(release)
    return written
