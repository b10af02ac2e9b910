"""`tarn look`: how a file was read, and what would be done with it. Nothing is written."""

from __future__ import annotations

from typing import Annotated

import typer

from tarnkappe.cli.console import output, print_json
from tarnkappe.cli.language import told
from tarnkappe.cli.proposing import proposal_from_flags
from tarnkappe.cli.reading_flags import Options, say_reading, with_reading_flags
from tarnkappe.job.proposal_text import proposal_text

Words = list[str]


@with_reading_flags
def look(
    data: Annotated[str, typer.Argument(help="The table (CSV, Excel, Parquet, ...).")],
    audience: Annotated[str | None, typer.Option("--for", help="internal|partner|public.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="How many rows look alike at least.")] = None,
    identifier: Annotated[Words | None, typer.Option(help="A column that names a person.")] = None,
    qi: Annotated[Words | None, typer.Option(help="A quasi-identifier: COLUMN[=HIERARCHY.csv].")] = None,
    sensitive: Annotated[Words | None, typer.Option(help="A sensitive column.")] = None,
    publish: Annotated[Words | None, typer.Option(help="A column to release as it is.")] = None,
    accept: Annotated[Words | None, typer.Option(help="What names nobody: COLUMN=DETECTOR.")] = None,
    uniform: Annotated[bool, typer.Option("--uniform", help="One level for a column, in all rows.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    *,
    reading: Options,
) -> None:
    """Show how a file is read, and the release that `tarn anonymize FILE` would make of it.

    Nothing is written, and no cell is shown.
    """
    proposal = proposal_from_flags(
        data, audience, k, identifier, qi, sensitive, publish, accept, uniform=uniform, reading=reading
    )
    say_reading(proposal.table)
    if as_json:
        print_json(proposal.to_dict())
    else:
        output.print(proposal_text(proposal, told), markup=False, highlight=False, soft_wrap=True)
