"""`tarn check FILE`: whether a file that nobody has described may be published, the verdict first."""

from __future__ import annotations

import typer

from tarnkappe.cli.console import output, print_json, progress_bar
from tarnkappe.cli.proposing import proposal_from_flags
from tarnkappe.cli.reading_flags import Options, say_reading
from tarnkappe.job import ReleaseProposal
from tarnkappe.job.proposal_text import column_lines, size_text
from tarnkappe.risk import Report
from tarnkappe.risk import check as check_table


def check_proposed(data: str, audience: str | None, k: int | None, reading: Options, as_json: bool) -> None:
    """Check a file with the roles that are proposed for it; no cell is shown."""
    proposal = proposal_from_flags(data, audience, k, None, None, None, None, None, reading=reading)
    report = None
    if proposal.table.quasi_identifiers:
        with progress_bar() as progress:
            report = check_table(proposal.table, models=proposal.privacy, worst=0, progress=progress)
    reasons = _reasons(proposal, report)
    say_reading(proposal.table)
    if as_json:
        found = {} if report is None else {"k": report.k, "uniques": report.sizes.uniques}
        print_json(
            {"input": data, "fit": not reasons, "reasons": reasons, **found, "proposal": proposal.to_dict()}
        )
    else:
        verdict = f"not fit to be published: {'; '.join(reasons)}" if reasons else "fit to be published"
        lines = [verdict, f"{data}: {size_text(proposal)}", *column_lines(proposal)]
        if report is not None:
            lines += [f"{attack.title}: {attack.explanation}" for attack in report.attacks if attack.victims]
        if reasons:
            lines.append(f"what to do: tarn anonymize {data}")
        for line in lines:
            output.print(line, markup=False, highlight=False, soft_wrap=True)
    if reasons:
        raise typer.Exit(1)


def _reasons(proposal: ReleaseProposal, report: Report | None) -> list[str]:
    """Why the file may not be published as it is."""
    named = len(proposal.table.identifiers)
    reasons = [f"{named} column{'s name' if named > 1 else ' names'} people"] if named else []
    if report is None:
        return reasons
    if report.sizes.uniques:
        reasons.append(
            f"{report.sizes.uniques:,} of {report.rows:,} rows are alone with what others may know"
        )
    elif report.k < proposal.k:
        reasons.append(f"{report.k} rows share what others may know, not {proposal.k}")
    failed = [
        verdict.model
        for verdict in report.verdicts
        if not verdict.holds and "column" in verdict.model.parameters
    ]
    reasons += [f"a group has too few values of '{model.parameters['column']}'" for model in failed]
    return reasons
