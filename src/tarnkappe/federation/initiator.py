"""Who starts a run: proposes the contract to all, waits for its end, and gathers what proves it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import ProtocolError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.printable import printable
from tarnkappe.federation.run import RunStage
from tarnkappe.federation.transcript import MergedTranscript
from tarnkappe.federation.transport import Caller
from tarnkappe.table.encoding import Progress


def federate(
    contract: Contract,
    addresses: Mapping[str, tuple[str, int]],
    credentials: Credentials,
    *,
    patience: float = 60.0,
    pause: float = 0.1,
    progress: Progress | None = None,
) -> MergedTranscript:
    """Propose a contract to all, start the run when all have confirmed it, and wait for its end.

    Any error of any party ends the run for all and is raised here. Returns the transcripts of all parties,
    each signed by its party and found to agree with those of the others.
    """
    caller = Caller(credentials, addresses, patience, keep_open=True)
    try:
        try:
            _propose(contract, addresses, caller)
            _wait(contract, caller, {RunStage.PROPOSED}, "parties agree", pause, progress)
            for party in contract.everybody:
                caller.call(party, f"/start/{contract.digest.hex()}")
            _wait(contract, caller, {RunStage.READY, RunStage.DONE}, "parties are ready", pause, progress)
            for party in contract.everybody:
                caller.call(party, f"/finish/{contract.digest.hex()}")
        except BaseException as error:
            _abort(contract, caller, str(error) or f"'{credentials.name}' was interrupted: the run ends")
            raise
        path = f"/transcript/{contract.digest.hex()}"
        signed = {party: caller.call(party, path) for party in contract.everybody}
        return MergedTranscript.of(contract, signed, credentials.authority)
    finally:
        caller.close()


def _propose(contract: Contract, addresses: Mapping[str, tuple[str, int]], caller: Caller) -> None:
    proposal = json.dumps({"contract": contract.as_document(), "addresses": addresses}).encode()
    for party in contract.everybody:
        if caller.call(party, "/propose", proposal)["digest"] != contract.digest.hex():
            raise ProtocolError(
                "federation.confirmed-another-contract-nothing-started",
                "'{party}' confirmed another contract: nothing was started",
                party=party,
            )


def _wait(
    contract: Contract,
    caller: Caller,
    stages: set[RunStage],
    what: str,
    pause: float,
    progress: Progress | None,
) -> None:
    """Wait until all parties have come to one of some stages."""
    digest, everybody = contract.digest.hex(), contract.everybody
    waiting = list(everybody)
    while True:
        states: dict[str, Any] = {party: caller.call(party, f"/status/{digest}") for party in waiting}
        for party, status in states.items():
            if status["state"] == RunStage.FAILED:
                raise ProtocolError.because(printable(status["error"]))
            if status["state"] in stages:
                waiting.remove(party)
        if progress:
            progress(what, len(everybody) - len(waiting), len(everybody))
        if not waiting:
            return
        time.sleep(pause)


def _abort(contract: Contract, caller: Caller, error: str) -> None:
    for party in contract.everybody:
        try:
            caller.call(party, f"/abort/{contract.digest.hex()}", error.encode(), pauses=())
        except ProtocolError:
            continue
