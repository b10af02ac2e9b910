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

from tarnkappe.errors import AccessError, JobError, OutputError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.contract import Contract, Protocol
from tarnkappe.federation.decoding import DecodingEstimate, estimate
from tarnkappe.federation.insiders import Subtraction, simulate
from tarnkappe.federation.leakage import LeakageReport, transcript_lines
from tarnkappe.federation.ledger import Ledger, LedgerEvent
from tarnkappe.federation.linkage import LinkedParty
from tarnkappe.federation.masked import MaskedHelper, MaskedParty
from tarnkappe.federation.masked_ring import MaskedRingParty
from tarnkappe.federation.message import Participant
from tarnkappe.federation.oblivious.party import ObliviousParty
from tarnkappe.federation.party_share import Rule, local_share
from tarnkappe.federation.people import refuse_repeated_identifiers
from tarnkappe.federation.policy import Policy
from tarnkappe.federation.ring import RingParty
from tarnkappe.federation.star import StarHelper, StarParty
from tarnkappe.federation.support import refuse_unsupported
from tarnkappe.federation.toml_file import Address, parse_address, read_toml, refuse_unknown
from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.table import Role, Table, read, write
from tarnkappe.table.encoding import as_text
from tarnkappe.table.formats.address import is_address
from tarnkappe.table.read import DATABASE_OPTIONS, READING_KEYS

SECTIONS = ("site", "input", "columns", "policy")
SITE_KEYS = (
    "certificate",
    "key",
    "authority",
    "revoked",
    "address",
    "output",
    "accept",
    "patience",
    "consent_days",
    "longest_run",
)
INPUT_KEYS = ("path", *(key for key in READING_KEYS if key != "types"), *DATABASE_OPTIONS)
COLUMN_KEYS = ("role", "hierarchy")
DAY = 86_400.0
PAUSE = 0.2
"""Seconds between two looks at whether people have decided."""

PARTIES: Mapping[Protocol, type[StarParty]] = {
    Protocol.STAR: StarParty,
    Protocol.MASKED: MaskedParty,
    Protocol.MASKED_RING: MaskedRingParty,
}
"""The parties with data of all protocols that have a helper."""


def participant(
    name: str,
    contract: Contract,
    table: Table | None,
    hierarchies: Mapping[str, Hierarchy | Rule],
) -> Participant:
    """The state machine of a party or helper of a contract."""
    if contract.link and name != contract.helper:
        if table is None:
            raise AccessError(f"'{name}' has no data: say [input] path in its configuration")
        return LinkedParty(name, contract, table, lambda common: _party(name, contract, common, hierarchies))
    return _party(name, contract, table, hierarchies)


def _party(
    name: str, contract: Contract, table: Table | None, hierarchies: Mapping[str, Hierarchy | Rule]
) -> Participant:
    if contract.is_oblivious:
        return ObliviousParty(name, contract, table, hierarchies)
    if name == contract.helper:
        return (MaskedHelper if contract.protocol.is_masked else StarHelper)(name, contract)
    if contract.protocol is Protocol.RING:
        return RingParty(name, contract, table, hierarchies)
    if table is None:
        raise AccessError(f"'{name}' has no data: say [input] path in its configuration")
    return PARTIES[contract.protocol](name, contract, table, hierarchies)


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
        content, folder = read_toml(path, SECTIONS, "site", "the file of a site"), path.parent
        own = content.get("site", {})
        refuse_unknown(own, SITE_KEYS, f"{path}: [site] has no key")
        try:
            credentials = Credentials(
                folder / own["certificate"],
                folder / own["key"],
                folder / own["authority"],
                folder / own["revoked"] if "revoked" in own else None,
            )
            return cls(
                credentials,
                parse_address(own["address"]),
                folder / own.get("output", f"releases-{credentials.name}"),
                _table(path, content),
                _hierarchies(path, content),
                str(own.get("accept", "")),
                float(own.get("patience", 60.0)),
                Policy.from_section(content.get("policy", {}), str(path)),
                float(own.get("consent_days", 7.0)),
                float(own.get("longest_run", DAY)),
            )
        except KeyError as error:
            raise JobError(f"{path}: [site] or [input] lacks {error}") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise JobError(f"{path}: the site cannot be understood: {error}") from None

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
                raise AccessError("the proposal was withdrawn")
            if time.monotonic() > deadline:
                raise AccessError(f"nobody at '{self.name}' has decided about the contract in time")
            time.sleep(PAUSE)
        if decision.event is LedgerEvent.REJECTED:
            raise AccessError(f"'{self.name}' does not agree to the contract")

    # ------------------------------------------------------------------ the run

    def build(self, contract: Contract) -> Participant:
        """The state machine of this site, once for each contract and with the data that were agreed to."""
        digest = contract.digest.hex()
        self.check(contract, self.ledger.history(digest)[0].by)
        self.check_data(contract)
        decision = self.ledger.decision(digest)
        if decision is None or decision.note != self.data_digest:
            raise AccessError(
                f"the data of '{self.name}' have changed since it agreed to the contract: propose it anew "
                "(--new-run)"
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
            raise OutputError(f"'{folder}' exists: a release is written once and never replaced")
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
            documents["result"] = {
                "contract": done.contract.digest.hex(),
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


def _table(path: Path, content: Mapping[str, Any]) -> Table | None:
    data, columns = content.get("input", {}), content.get("columns", {})
    refuse_unknown(data, INPUT_KEYS, f"{path}: [input] has no key")
    if not data:
        return None
    source = data["path"]
    options = {name: value for name, value in data.items() if name != "path"}
    table = read(source if is_address(source) else str(path.parent / source), **options)
    names = []
    for name, plan in columns.items():
        refuse_unknown(plan, COLUMN_KEYS, f"{path}: [columns.{name}] has no key")
        if Role.parse(plan.get("role", "insensitive")) is Role.IDENTIFIER:
            names.append(name)
    return table.with_roles(identifiers=names)


def _hierarchies(path: Path, content: Mapping[str, Any]) -> dict[str, Hierarchy | Rule]:
    rules: dict[str, Hierarchy | Rule] = {}
    for name, plan in content.get("columns", {}).items():
        if "hierarchy" not in plan:
            continue
        if not isinstance(plan["hierarchy"], str):
            raise JobError(
                f"{path}: [columns.{name}] hierarchy is the path of a file that all sites have, not a "
                "builder: "
                "`tarn hierarchy` makes one"
            )
        rules[name] = read_hierarchy(str(path.parent / plan["hierarchy"]))
    return rules
