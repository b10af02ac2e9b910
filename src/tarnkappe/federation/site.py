"""A site: its data, its certificates, its policy, and which contracts it has agreed to. Read from a TOML
file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from tarnkappe.errors import AccessError, OutputError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.decoding import DecodingEstimate, estimate
from tarnkappe.federation.documents import DAY, Address, SiteDocument, credentials_of, parse_address
from tarnkappe.federation.insiders import Subtraction, simulate
from tarnkappe.federation.leakage import LeakageReport, transcript_lines
from tarnkappe.federation.ledger import Ledger, LedgerEvent
from tarnkappe.federation.message import Participant
from tarnkappe.federation.participants import participant
from tarnkappe.federation.party_share import Rule, local_share
from tarnkappe.federation.people import refuse_repeated_identifiers
from tarnkappe.federation.policy import Policy
from tarnkappe.federation.support import refuse_unsupported
from tarnkappe.federation.verification import verifiable
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.schema.documents import load
from tarnkappe.table import Role, Table, read, write
from tarnkappe.table.encoding import as_text

PAUSE = 0.2
"""Seconds between two looks at whether people have decided."""


@dataclasses.dataclass(frozen=True)
class Exposure:
    """What a contract exposes of the rows of a site, in numbers that the site computes for itself.

    Attributes:
        decoded: what a simulated attack reads of the ciphertexts of its rows, or None if it has none.
        subtractions: what an insider of each size finds by taking out its own rows.
    """

    decoded: DecodingEstimate | None
    subtractions: tuple[Subtraction, ...]

    def lines(self) -> list[str]:
        """The numbers in sentences."""
        told = ["This site sends no ciphertexts of rows: nothing of it can be read by frequencies."]
        if self.decoded is not None and not self.decoded.is_reliable:
            told = [
                f"{self.decoded.num_rows:,} rows are too few to measure what can be read: count on all of "
                "them."
            ]
        elif self.decoded is not None:
            low, high = self.decoded.low, self.decoded.high
            told = [
                "Who gets the ciphertexts and knows how often values occur reads "
                f"{low.cells:.0%} to {high.cells:.0%} of all cells and {low.rows:.0%} to {high.rows:.0%} of "
                "all rows "
                f"of this site (a simulated attack on {self.decoded.num_rows:,} of them, seed "
                f"{self.decoded.seed}; "
                "others may read more)."
            ]
        return told + [
            f"A site with {each.insider_share:.0%} of all rows that takes out its own finds {each.below:.1%} "
            "of the "
            f"others' rows in classes smaller than promised, {each.alone:.1%} alone (simulated on rows of "
            "this site)."
            for each in self.subtractions
        ]

    def as_document(self) -> dict[str, Any]:
        """The numbers as plain data."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, eq=False)
class FederationSite:
    """What `tarn party` needs to know.

    Attributes:
        credentials: who it is.
        address: where it listens.
        output: the folder for releases, transcripts, leakage reports, contracts and the ledger.
        table: its data; a helper has none.
        hierarchies: how its columns generalize.
        accept: the contracts that it agrees to without asking: none (""), "all", or a digest.
        patience: after how many seconds without a message a run is given up.
        policy: the rules that no contract overrides.
        consent_days: how long people may take to decide.
        longest_run: after how many seconds a run is given up, whatever others say.
    """

    credentials: Credentials
    address: Address
    output: Path
    table: Table | None = None
    hierarchies: Mapping[str, Hierarchy | Rule] = dataclasses.field(default_factory=dict)
    accept: str = ""
    patience: float = 60.0
    policy: Policy = dataclasses.field(default_factory=Policy)
    consent_days: float = 7.0
    longest_run: float = DAY

    @classmethod
    def from_file(cls, path: Path) -> FederationSite:
        """A site as its file describes it; other files are found beside it."""
        said, folder = load(SiteDocument, path, "site file"), path.parent
        own = said.site
        credentials = credentials_of(own)
        return cls(
            credentials,
            parse_address(own.address),
            folder / f"releases-{credentials.name}" if own.output is None else Path(own.output),
            _table(said),
            {name: rules for name, plan in said.columns.items() if (rules := plan.common()) is not None},
            own.accept,
            float(own.patience),
            said.policy,
            float(own.consent_days),
            float(own.longest_run),
        )

    @cached_property
    def name(self) -> str:
        """Whose site it is."""
        return self.credentials.name

    @cached_property
    def ledger(self) -> Ledger:
        """What has happened to the contracts of this site."""
        return Ledger(self.output)

    @cached_property
    def data_digest(self) -> str:
        """One digest of all rows: a consent is about these."""
        hashed = hashlib.sha256()
        data = pa.table({}) if self.table is None else self.table.data
        for name, column in zip(data.column_names, data.columns, strict=True):
            hashed.update(json.dumps([name, as_text(column.combine_chunks()).to_pylist()]).encode())
        return hashed.hexdigest()

    # ------------------------------------------------------------------ consent

    def receive(self, contract: Contract, proposer: str) -> None:
        """Store a contract that has arrived; what the policy forbids is refused, and nobody is asked."""
        self.check(contract, proposer)
        self.ledger.receive(contract, proposer)

    def check(self, contract: Contract, proposer: str) -> None:
        """Refuse a contract that cannot be run or breaks the policy.

        The data are not looked at: whoever proposes contracts could ask questions about them that way.
        """
        refuse_unsupported(contract)
        sends_rows = self.table is not None and self.name != contract.helper
        self.policy.refuse(contract, proposer, self.name, sends_rows=sends_rows)

    def check_data(self, contract: Contract) -> None:
        """Refuse a contract that does not fit the data, or exposes more of them than the policy allows."""
        if self.table is None or self.name == contract.helper:
            return
        if not self.policy.accept_repeated_people:
            refuse_repeated_identifiers(self.table, contract)
        share = local_share(self.table, self.name, contract, self.hierarchies)
        if not self.policy.accept_decodable_rows:
            self.policy.refuse_decodable(estimate(share, contract, self.name), self.name)

    def exposure(self, contract: Contract, seed: int = 0) -> Exposure:
        """What the contract exposes of the rows of this site, in numbers."""
        if self.table is None or self.name == contract.helper:
            return Exposure(None, ())
        share = local_share(self.table, self.name, contract, self.hierarchies)
        return Exposure(estimate(share, contract, self.name, seed), simulate(share, contract, seed))

    def agree(self, digest: str, by: str) -> None:
        """Agree to a stored contract and no other one, with the data as they are now."""
        contract = self.ledger.contract(digest)
        received = self.ledger.history(digest)[0]
        self.check(contract, received.by)
        self.check_data(contract)
        self.ledger.decide(digest, LedgerEvent.ACCEPTED, by, self.data_digest)

    def confirm(self, contract: Contract) -> None:
        """Wait until people have agreed to a contract, or rejected it; the site file may agree for them."""
        digest = contract.digest.hex()
        if self.ledger.decision(digest) is None and self.accept in ("all", digest):
            self.check_data(contract)
            self.ledger.decide(digest, LedgerEvent.ACCEPTED, "the site file", self.data_digest)
        deadline = time.monotonic() + self.consent_days * DAY
        while (decision := self.ledger.decision(digest)) is None:
            history = self.ledger.history(digest)
            if not history or any(line.event is LedgerEvent.FAILED for line in history):
                raise AccessError("federation.proposal-withdrawn", "the proposal was withdrawn")
            if time.monotonic() > deadline:
                raise AccessError(
                    "federation.nobody-decided-about-contract",
                    "nobody at '{name}' has decided about the contract in time",
                    name=self.name,
                )
            time.sleep(PAUSE)
        if decision.event is LedgerEvent.REJECTED:
            raise AccessError(
                "federation.not-agree-contract", "'{name}' does not agree to the contract", name=self.name
            )

    # ------------------------------------------------------------------ the run

    def build(self, contract: Contract) -> Participant:
        """The state machine of this site, once for each contract and with the data that were agreed to."""
        digest = contract.digest.hex()
        self.check(contract, self.ledger.history(digest)[0].by)
        self.check_data(contract)
        decision = self.ledger.decision(digest)
        if decision is None or decision.note != self.data_digest:
            raise AccessError(
                "federation.data-changed-since-agreed",
                "the data of '{name}' have changed since it agreed to the contract: propose it anew "
                "(--new-run)",
                name=self.name,
            )
        self.ledger.start(digest, self.name)
        return participant(self.name, contract, self.table, self.hierarchies)

    def fail(self, contract: Contract, error: str) -> None:
        """Note that a contract has ended without a release."""
        self.ledger.end(contract.digest.hex(), LedgerEvent.FAILED, self.name, error)

    def keep(self, done: Participant) -> None:
        """Write all that a run gives, once: contract, consents, release, what was done, transcript,
        leakage.
        """
        digest = done.contract.digest.hex()
        folder = self.output / digest[:16]
        if folder.exists():
            raise OutputError(
                "federation.exists-release-written-once",
                "'{folder}' exists: a release is written once and never replaced",
                folder=folder,
            )
        part = self.output / f".{digest[:16]}.{os.getpid()}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            self._write(part, done)
            part.rename(folder)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        self.ledger.end(digest, LedgerEvent.FINISHED, self.name)

    def _write(self, folder: Path, done: Participant) -> None:
        lines = "\n".join(transcript_lines(done.transcript)).encode()
        (folder / "transcript.jsonl").write_bytes(lines)
        (folder / "transcript.signature").write_bytes(self.credentials.sign(done.contract.digest + lines))
        report = LeakageReport.of(done.contract, {done.name: done.transcript})
        consents = [dataclasses.asdict(line) for line in self.ledger.history(done.contract.digest.hex())]
        documents = {
            "contract": done.contract.as_document(),
            "consents": consents,
            "leakage": report.as_document(),
        }
        outcome = done.outcome
        if outcome is not None:
            verified = [str(part) for part in verifiable(done.contract, outcome.suppressed)]
            promised = [str(part) for model in done.contract.models for part in model.parts]
            documents["result"] = {
                "contract": done.contract.digest.hex(),
                "verified": verified,
                "not_verifiable": [promise for promise in promised if promise not in verified],
                "release": outcome.digest,
                "rows": outcome.release.num_rows,
                "levels": outcome.levels,
                "suppressed": outcome.suppressed,
                "loss": outcome.loss,
                "loss_told_by": None
                if outcome.loss is None
                else done.contract.helper or done.contract.master,
                "own": None if outcome.own is None else dataclasses.asdict(outcome.own),
            }
            write(Table(outcome.release), str(folder / "release.parquet"))
        for name, document in documents.items():
            text = json.dumps(document, indent=1, ensure_ascii=False)
            (folder / f"{name}.json").write_text(text, encoding="utf-8")


def _table(said: SiteDocument) -> Table | None:
    if said.input.path is None:
        return None
    table = read(said.input.path, **said.input.options)
    return table.with_roles(
        identifiers=[name for name, plan in said.columns.items() if plan.role is Role.IDENTIFIER]
    )
