"""`tarn start`: from a file to a job file and a release, with three questions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tarnkappe.cli.anonymize import run_or_stop, warn
from tarnkappe.cli.console import output, progress_bar, say
from tarnkappe.cli.language import told
from tarnkappe.cli.proposing import content_of, job_path, proposal_from_flags, settle
from tarnkappe.cli.reading_flags import Options, with_reading_flags
from tarnkappe.errors import ParameterError, TarnkappeError
from tarnkappe.job import Job, ReleaseProposal
from tarnkappe.job.paths import default_outputs
from tarnkappe.job.proposal_text import (
    column_lines,
    guess_lines,
    promise_text,
    remaining_text,
    size_text,
)
from tarnkappe.table import Role
from tarnkappe.table.files import STDIN
from tarnkappe.table.read import READING_KEYS
from tarnkappe.texts import language
from tarnkappe.texts import told as error_told

AUDIENCES = {"1": "internal", "2": "partner", "3": "public"}
ROLES = {
    "1": ("it names people: left out", Role.IDENTIFIER),
    "2": ("others may know it: generalized", Role.QUASI_IDENTIFIER),
    "3": ("it is sensitive: kept, with several values in every group", Role.SENSITIVE),
    "4": ("it is harmless: kept as it is", Role.INSENSITIVE),
}
MEANING = """\
  left out       the release does not have the column
  generalized    values become coarser until several rows look alike: 34 becomes 30-39
  kept           values stay as they are; in every group of rows that look alike there are several of them
  GUESS          nothing explains the column: you know better what it is"""
Words = list[str]


@with_reading_flags
def start(
    data: Annotated[str, typer.Argument(help="The table (CSV, Excel, Parquet, ...).")],
    audience: Annotated[str | None, typer.Option("--for", help="internal|partner|public.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="How many rows look alike at least.")] = None,
    identifier: Annotated[Words | None, typer.Option(help="A column that names a person.")] = None,
    qi: Annotated[Words | None, typer.Option(help="A quasi-identifier: COLUMN[=HIERARCHY.csv].")] = None,
    sensitive: Annotated[Words | None, typer.Option(help="A sensitive column.")] = None,
    publish: Annotated[Words | None, typer.Option(help="A column to release as it is.")] = None,
    accept: Annotated[Words | None, typer.Option(help="What names nobody: COLUMN=DETECTOR.")] = None,
    uniform: Annotated[bool, typer.Option("--uniform", help="One level for a column, in all rows.")] = False,
    job: Annotated[Path | None, typer.Option(help="Where to write the job file.", writable=True)] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the release.", writable=True)] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing: everything as proposed.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="A guess is refused.")] = False,
    *,
    reading: Options,
) -> None:
    """Make a verified release of a file that nobody has described, and the job file that repeats it.

    Asks how the file was read, who gets the release, and what the columns are; Enter takes what is proposed.
    Without a terminal, or with --yes, nothing is asked. No cell is shown.
    """
    if data in STDIN:
        raise ParameterError(
            "cli.what-piped-cannot-read",
            "what is piped in cannot be read again: save it as a file, or use tarn anonymize -",
        )
    flags = (k, identifier, qi, sensitive, publish, accept)
    asks = not yes and sys.stdin.isatty()
    proposal = proposal_from_flags(data, audience, *flags, uniform=uniform, reading=reading)
    _show(f"{data}: {size_text(proposal, told)}")
    if asks:
        while change := _ask("[Enter] right  [KEY=VALUE] change, as dates=mdy"):
            proposal = _again(data, audience, flags, uniform, reading, change, proposal)
        if audience is None:
            _show("What is the release for?  1 colleagues  2 a partner with an agreement  3 everybody")
            proposal = proposal.with_(for_=AUDIENCES.get(_ask("[Enter] 2") or "2", "partner"))
        proposal = _ask_columns(proposal)
    else:
        for line in column_lines(proposal, told):
            _show(line)
    written = job or job_path(data)
    release, report = default_outputs(Path(data).absolute())
    content = content_of(proposal, data)
    content["output"] = {"path": str(release if out is None else out.absolute()), "report": str(report)}
    plan = Job.from_dict(content)
    settle(proposal, data, written, strict=strict and not asks)
    _show(f"{told('Promise')}: {promise_text(proposal, told)}.")
    with progress_bar() as progress:
        result = run_or_stop(plan, proposal.table, progress)
    _show(f"Written: {written} (change it and run: tarn anonymize {written})")
    kept = f"{len(result.release.column_names)} of {len(result.input.column_names)} columns"
    _show(f"Released and verified: {result.output}, {result.release.num_rows:,} rows, {kept}.")
    for line in [*result.columns.lines, remaining_text(result.release)]:
        _show(line)
    warn(result, plan)


def _again(
    data: str,
    audience: str | None,
    flags: tuple[Any, ...],
    uniform: bool,
    reading: Options,
    change: str,
    before: ReleaseProposal,
) -> ReleaseProposal:
    """The proposal for the file as it is read with a change; after a wrong one all stays as it was."""
    key, _, value = change.partition("=")
    try:
        if key.strip() not in READING_KEYS or key.strip() == "types":
            raise ParameterError(
                "cli.not-known",
                "'{key}' is not known: {reading_keys}",
                key=key,
                reading_keys=", ".join(READING_KEYS[:-1]),
            )
        reading[key.strip()] = value.strip()
        after = proposal_from_flags(data, audience, *flags, uniform=uniform, reading=reading)
    except TarnkappeError as error:
        reading.pop(key.strip(), None)
        say(error_told(language(), error))
        return before
    _show(f"{data}: {size_text(after, told)}")
    return after


def _ask_columns(proposal: ReleaseProposal) -> ReleaseProposal:
    """Let columns be changed by their names until nothing is said any more."""
    while True:
        notes = [f"{told('note')}: {told(note)}" for note in proposal.notes]
        for line in [*column_lines(proposal, told), *notes, *guess_lines(proposal)]:
            _show(line)
        said = _ask("[Enter] as proposed  [name] change a column  [?] what this means")
        if not said:
            return proposal
        if said == "?":
            _show(MEANING)
        elif said not in proposal.table.column_names:
            say(told(f"there is no column '{said}'"))
        else:
            for number, (what, _) in ROLES.items():
                _show(f"  {number} {what}")
            chosen = ROLES.get(_ask(f"{said}: 1 to 4, [Enter] as it is"))
            if chosen is not None:
                proposal = stated(proposal, said, chosen[1])


LISTS = {
    Role.IDENTIFIER: "identifiers",
    Role.QUASI_IDENTIFIER: "quasi_identifiers",
    Role.SENSITIVE: "sensitive",
    Role.INSENSITIVE: "publish",
}


def stated(proposal: ReleaseProposal, name: str, role: Role) -> ReleaseProposal:
    """The proposal with the role of one column stated."""
    said = {key: [other for other in proposal.said[key] if other != name] for key in LISTS.values()}
    said[LISTS[role]].append(name)
    return proposal.with_(**said)


def _ask(question: str) -> str:
    return str(
        typer.prompt(f"  {told(question)}", default="", show_default=False, prompt_suffix="  > ")
    ).strip()


def _show(line: str) -> None:
    output.print(told(line), markup=False, highlight=False, soft_wrap=True)
