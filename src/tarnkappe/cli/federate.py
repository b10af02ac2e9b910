"""`tarn federate`: several sites publish one anonymized table."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tarnkappe.cli.console import errors, print_json, progress_bar
from tarnkappe.federation import require_packages

if TYPE_CHECKING:
    from tarnkappe.federation.cost import ProtocolCost


def federate(
    job: Annotated[Path, typer.Argument(help="The contract, the addresses of all and who asks (TOML).")],
    show: Annotated[
        bool, typer.Option("--show", help="Show the contract and what everybody would learn, and end.")
    ] = False,
    new_run: Annotated[
        bool, typer.Option("--new-run", help="Make another contract: one that was proposed runs once.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Foretell time and traffic on machines like this one, and end.")
    ] = False,
    rows: Annotated[int, typer.Option(min=1, help="For --estimate: how many rows all sites have.")] = 100_000,
    distinct: Annotated[
        int, typer.Option(min=1, help="For --estimate: how many distinct values, added up over columns.")
    ] = 1000,
    tests: Annotated[int, typer.Option(min=0, help="For --estimate: how many levels are tested.")] = 200,
    groups: Annotated[int, typer.Option(min=1, help="For --estimate: how many groups a test has.")] = 500,
    megabits: Annotated[float, typer.Option(min=0.1, help="For --estimate: Mbit/s of the network.")] = 100.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Propose a contract to all sites, and run it when all have agreed."""
    require_packages()
    from tarnkappe.federation import cost, initiator
    from tarnkappe.federation.job_file import FederatedJob
    from tarnkappe.federation.leakage import foretell
    from tarnkappe.federation.wording import describe

    asked = FederatedJob.from_file(job, new_run=new_run)
    contract = asked.contract
    if estimate:
        work = cost.FederationWorkload(
            len(contract.parties),
            rows,
            len(contract.columns),
            distinct,
            round(contract.made_up_share * rows) if contract.protocol.is_masked else 0,
            tests,
            groups,
            len(contract.regions) or 1,
        )
        speed = cost.calibrated(contract, megabits * 1e6, min(max(groups, cost.SAMPLE), 8 * cost.SAMPLE))
        _tell(cost.estimate(contract.protocol, contract.distribution, work, speed), as_json)
        return
    asked.store(job)
    if not show:
        text = f"proposing {contract.digest.hex()[:16]} to {', '.join(contract.everybody)}"
        errors.print(text, highlight=False, soft_wrap=True, markup=False)
        with progress_bar() as progress:
            transcript = initiator.federate(
                contract, asked.addresses, asked.credentials, patience=asked.patience, progress=progress
            )
        proof = job.with_name(f"{contract.digest.hex()[:16]}.transcript.json")
        proof.write_text(json.dumps(transcript.as_document(), indent=1), encoding="utf-8")
    if as_json:
        print_json(
            {
                "contract": contract.as_document(),
                "digest": contract.digest.hex(),
                "learned": {party: list(lines) for party, lines in foretell(contract).items()},
                "done": not show,
                "transcript": None if show else str(proof),
            }
        )
    elif show:
        typer.echo(describe(contract))
    else:
        folder = contract.digest.hex()[:16]
        told = f"done: every site has the release under {folder}; what was exchanged is proven in {proof}"
        errors.print(told, highlight=False, soft_wrap=True, markup=False)


def _tell(cost: ProtocolCost, as_json: bool) -> None:
    if as_json:
        totals = ("operations", "messages", "bits", "computing", "transfer", "seconds")
        phases = [dataclasses.asdict(phase) | {"seconds": phase.seconds} for phase in cost.phases]
        print_json({**{name: getattr(cost, name) for name in totals}, "phases": phases})
        return
    typer.echo(
        f"about {cost.seconds:,.1f} s: {cost.computing:,.1f} s of ciphers, {cost.transfer:,.1f} s of network "
        f"({cost.bits / 8e6:,.1f} MB in {cost.messages:,} messages); the search comes on top"
    )
    for phase in cost.phases:
        typer.echo(
            f"  {phase.name}: {phase.seconds:,.1f} s ({phase.operations:,.0f} operations, "
            f"{phase.bits / 8e6:,.1f} MB)"
        )
