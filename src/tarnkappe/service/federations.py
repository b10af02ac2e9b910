"""The federations of the house: contracts, who would learn what, and how far their runs are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import NotFoundError, TarnkappeError
from tarnkappe.federation import require_packages
from tarnkappe.service.people import Account, Right

NO_RUN = "no such run"
"""What a party says that is there, but was not asked yet."""


class Federations:
    """The federated jobs that the settings name."""

    def __init__(self, jobs: Mapping[str, Path]) -> None:
        self._jobs = jobs

    def names(self, who: Account) -> list[str]:
        """Which federations there are."""
        who.require(Right.FEDERATE)
        return sorted(self._jobs)

    def contract(self, name: str, who: Account) -> dict[str, Any]:
        """The contract of a federation, in words too, and what everybody would learn."""
        from tarnkappe.federation.leakage import foretell
        from tarnkappe.federation.wording import describe

        contract = self._job(name, who).contract
        return {
            "contract": contract.as_document(),
            "digest": contract.digest.hex(),
            "text": describe(contract),
            "learned": {party: list(lines) for party, lines in foretell(contract).items()},
        }

    def status(self, name: str, who: Account, run: str | None = None) -> dict[str, Any]:
        """How far each party is with a run; one that cannot be reached is told with the reason.

        Args:
            name: of the federation.
            who: asks.
            run: as the job that started it names it; without it, as the file of the federation does.
        """
        from tarnkappe.federation.transport import Caller

        job = self._job(name, who)
        contract = job.contract if run is None else dataclasses.replace(job.contract, run=run)
        digest = contract.digest.hex()
        caller = Caller(job.credentials, job.addresses, job.patience)
        parties = {}
        try:
            for party in job.addresses:
                try:
                    parties[party] = caller.call(party, f"/status/{digest}", pauses=())
                except TarnkappeError as error:
                    state = "none" if NO_RUN in str(error) else "unknown"
                    parties[party] = {"state": state, "error": "" if state == "none" else str(error)}
        finally:
            caller.close()
        return {"digest": digest, "parties": parties}

    def _job(self, name: str, who: Account) -> Any:
        who.require(Right.FEDERATE)
        require_packages()
        from tarnkappe.federation.job_file import FederatedJob

        if name not in self._jobs:
            raise NotFoundError(
                "service.no-federation-name-settings",
                "there is no federation of this name: the settings of the service list them",
            )
        return FederatedJob.from_file(self._jobs[name])
