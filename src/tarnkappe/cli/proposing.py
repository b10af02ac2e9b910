"""What `anonymize`, `start`, `look` and `check` share: a proposal from a file and flags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tarnkappe.cli.arguments import parse_column
from tarnkappe.cli.column_flags import accepted_plans
from tarnkappe.cli.console import progress_bar, say, show_in_one_line
from tarnkappe.cli.language import told
from tarnkappe.errors import GuaranteeError, ParameterError
from tarnkappe.job import ReleaseProposal, propose
from tarnkappe.job.paths import default_outputs
from tarnkappe.job.proposal import ColumnProposal
from tarnkappe.table.files import STDIN
from tarnkappe.table.formats.address import is_address, refuse_web

Words = Sequence[str] | None

ONE_BY_ONE = 3
"""So many guesses of one kind are told one by one; of more, so many are named."""
_COUNT = re.compile(r"^[0-9,]+ ")


def is_job_file(data: str) -> bool:
    """Whether a file is a job; anything else is a table."""
    return data.lower().endswith(".toml")


def proposal_from_flags(
    data: str,
    audience: str | None,
    k: int | None,
    identifier: Words,
    qi: Words,
    sensitive: Words,
    publish: Words,
    accept: Words,
    *,
    uniform: bool = False,
    reading: Mapping[str, Any] | None = None,
) -> ReleaseProposal:
    """The proposal for a file, with what flags state."""
    refuse_web(data)
    if is_address(data):
        raise ParameterError(
            "cli.proposal-made-file-give",
            "a proposal is made for a file: give a database with --input, --table and --qi",
        )
    known = [parse_column(text) for text in qi or ()]
    with progress_bar() as progress:
        proposal = propose(
            data,
            for_=audience or "partner",
            k=k,
            identifiers=list(identifier or ()),
            quasi_identifiers=[name for name, _ in known],
            sensitive=list(sensitive or ()),
            publish=list(publish or ()),
            hierarchies={name: str(Path(file).absolute()) for name, file in known if file is not None},
            accept={name: list(plan["accept"]) for name, plan in accepted_plans(accept or ()).items()},
            uniform=uniform,
            reading=reading or {},
            progress=progress,
        )
    show_in_one_line(proposal.table.column_names)
    return proposal


def content_of(proposal: ReleaseProposal, data: str) -> dict[str, Any]:
    """The content of a job file for a proposal, which reads the file."""
    path = data if data in STDIN else str(Path(data).absolute())
    content = proposal.to_content()
    several = {"several_rows_per_person": True} if proposal.several_rows_per_person else {}
    return {**content, "input": {"path": path, **several}}


def job_path(data: str) -> Path:
    """Where the job file of a table goes, if nobody says it.

    >>> job_path("data/people.csv").name
    'people.job.toml'
    """
    _, report = default_outputs(data)
    return report.with_name(f"{report.name.removesuffix('.report.html')}.job.toml")


def guess_lines(columns: Iterable[ColumnProposal]) -> list[str]:
    """What is only a guess, a line for each role and reason: a table may have hundreds of such columns."""
    alike: dict[tuple[str, str], list[ColumnProposal]] = {}
    for column in columns:
        if column.is_guess:
            alike.setdefault((str(column.role), _COUNT.sub("", column.reason)), []).append(column)
    lines = []
    for (role, reason), some in alike.items():
        if len(some) <= ONE_BY_ONE:
            lines += [f"guess: {column.name} is {role} ({column.reason})" for column in some]
        else:
            shown = ", ".join(column.name for column in some[:ONE_BY_ONE])
            lines.append(f"guess: {shown} and {len(some) - ONE_BY_ONE} more are {role} ({reason})")
    return lines


def settle(proposal: ReleaseProposal, data: str, out: Path | None, *, strict: bool = False) -> None:
    """Write the job file if it is wanted, and say what is only a guess; with `strict` that is refused."""
    guesses = proposal.guesses
    if out is None and strict and guesses and data not in STDIN:
        out = job_path(data)
    if out is not None:
        say(told(f"the proposal is written to {proposal.to_job(out)}"))
    if guesses and strict:
        raise GuaranteeError(
            "cli.only-guess-say-what-identifier",
            "{guesses}: this is only a guess: say what it is with --identifier, --qi, --sensitive or "
            "--publish, or in the job file",
            guesses=", ".join(guesses),
        )
    for line in guess_lines(proposal.columns):
        say(told(line))
    for note in proposal.notes:
        say(told(note))
