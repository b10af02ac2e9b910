"""Propose the contract of a federation to all its parties, and run it when all have agreed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.federation import require_packages
from tarnkappe.service.people import Right
from tarnkappe.service.work.documents import RestFederate
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome

LONGEST_RUN = 64


class Federate(JobKind):
    """Start a federated job; every site gets the release, this house gets none of it."""

    name = "federate"
    right = Right.FEDERATE
    document = RestFederate
    restarts = False

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        if "federation" not in document:
            raise ParameterError("service.name-federation", "name the 'federation'")
        run = document.get("run", "0")
        if not isinstance(run, str) or not 0 < len(run) <= LONGEST_RUN:
            raise ParameterError(
                "service.run-text-most-letters",
                "a 'run' is a text of at most {longest_run} letters that no other run has",
                longest_run=LONGEST_RUN,
            )

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        require_packages()
        from tarnkappe.federation.initiator import federate
        from tarnkappe.federation.job_file import FederatedJob
        from tarnkappe.federation.leakage import foretell

        asked = FederatedJob.from_file(Path(document["federation"]))
        contract = dataclasses.replace(asked.contract, run=document.get("run", asked.contract.run))
        federate(
            contract, asked.addresses, asked.credentials, patience=asked.patience, progress=work.progress
        )
        learned = {party: list(lines) for party, lines in foretell(contract).items()}
        told = {
            "contract": contract.as_document(),
            "digest": contract.digest.hex(),
            "learned": learned,
            "done": True,
        }
        return JobOutcome(told, f"done: every site has the release under {contract.digest.hex()[:16]}")
