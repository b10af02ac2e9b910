"""`tarn federate`: several sites publish one anonymized table that none of them has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli.console import errors, print_json, progress_bar
from tarnkappe.federation import require_packages


def federate(
    job: Annotated[Path, typer.Argument(help="The contract, the addresses of all and who asks (TOML).")],
    show: Annotated[
        bool, typer.Option("--show", help="Show the contract and what everybody would learn, and end.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Propose a contract to all sites, and run it when all have agreed."""
    require_packages()
    from tarnkappe.federation import service
    from tarnkappe.federation.leakage import foretell
    from tarnkappe.federation.site import FederatedJob, describe

    asked = FederatedJob.from_file(job)
    contract = asked.contract
    if not show:
        with progress_bar() as progress:
            service.federate(
                contract, asked.addresses, asked.credentials, patience=asked.patience, progress=progress
            )
    if as_json:
        print_json(
            {
                "contract": contract.as_document(),
                "digest": contract.digest.hex(),
                "learned": {party: list(lines) for party, lines in foretell(contract).items()},
                "done": not show,
            }
        )
    elif show:
        typer.echo(describe(contract))
    else:
        folder = contract.digest.hex()[:16]
        errors.print(f"done: every site has the release under {folder}", highlight=False, soft_wrap=True)
