"""Parties of a federation as services, each with its own certificate and socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tarnkappe.federation.certificates import Authority
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.initiator import federate
from tarnkappe.federation.message import Participant
from tarnkappe.federation.participants import participant
from tarnkappe.federation.service import PartyService
from tarnkappe.federation.transcript import MergedTranscript
from tarnkappe.table import Table
from tests.federation.federations import Federation

HERE = ("127.0.0.1", 0)
PATIENCE = 20.0


class Sites:
    """All parties of a federation, each with its own certificate and socket."""

    def __init__(self, folder: Path, federation: Federation, patience: float = PATIENCE) -> None:
        self.authority = Authority(folder)
        self.federation = federation
        self.credentials = {name: self.authority.issue(name) for name in federation.contract.everybody}
        self.ended: dict[str, Participant] = {}
        self.services: dict[str, PartyService] = {}
        self.patience = patience
        for name in federation.contract.everybody:
            self.add(name, self.build(name))

    def build(self, name: str) -> Callable[[Contract], Participant]:
        table = self.federation.tables.get(name)
        data = None if table is None else Table(table)
        return lambda contract: participant(name, contract, data, self.federation.rules)

    def add(
        self,
        name: str,
        build: Callable[[Contract], Participant],
        confirm: Callable[[Contract], None] = lambda _: None,
    ) -> None:
        if name in self.services:
            self.services[name].close()
        service = PartyService(
            self.credentials[name],
            HERE,
            build,
            confirm,
            lambda done: self.ended.__setitem__(done.name, done),
            self.patience,
        )
        service.start()
        self.services[name] = service

    @property
    def addresses(self) -> dict[str, tuple[str, int]]:
        return {name: service.address for name, service in self.services.items()}

    def run(
        self, contract: Contract | None = None, addresses: dict[str, tuple[str, int]] | None = None
    ) -> MergedTranscript:
        return federate(
            contract or self.federation.contract,
            addresses or self.addresses,
            self.credentials["P1"],
            patience=self.patience,
            pause=0.02,
        )

    def close(self) -> None:
        for service in self.services.values():
            service.close()
