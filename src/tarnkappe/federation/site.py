"""A site: its data, its certificates, and which contracts it agrees to. Read from a TOML file."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tarnkappe.errors import AccessError, JobError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.contract import Contract, Distribution, Protocol, SharedColumn
from tarnkappe.federation.leakage import LeakageReport, foretell, transcript_lines
from tarnkappe.federation.linkage import LinkedParty
from tarnkappe.federation.local import Rule
from tarnkappe.federation.masked import MaskedHelper, MaskedParty
from tarnkappe.federation.masked_ring import MaskedRingParty
from tarnkappe.federation.message import Participant
from tarnkappe.federation.ring import RingParty
from tarnkappe.federation.star import StarHelper, StarParty
from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.lattice import SEARCHES
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.table import Role, Table, read, write

Address = tuple[str, int]

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
    if name == contract.helper:
        return (MaskedHelper if contract.protocol.is_masked else StarHelper)(name, contract)
    if contract.protocol is Protocol.RING:
        return RingParty(name, contract, table, hierarchies)
    if table is None:
        raise AccessError(f"'{name}' has no data: say [input] path in its configuration")
    return PARTIES[contract.protocol](name, contract, table, hierarchies)


@dataclasses.dataclass(frozen=True, eq=False)
class Site:
    """What `tarn party serve` needs to know.

    Attributes:
        credentials: who it is.
        address: where it listens.
        output: the folder for releases, transcripts and leakage reports.
        table: its data; a helper has none.
        hierarchies: how its columns generalize.
        accept: the contracts that it agrees to without asking: none (""), "all", or a digest.
        patience: after how many seconds without a message a run is given up.
    """

    credentials: Credentials
    address: Address
    output: Path
    table: Table | None = None
    hierarchies: Mapping[str, Hierarchy | Rule] = dataclasses.field(default_factory=dict)
    accept: str = ""
    patience: float = 60.0

    @classmethod
    def from_file(cls, path: Path) -> Site:
        """A site as its file describes it; other files are found beside it."""
        content, folder = _read_toml(path), path.parent
        own = content.get("site", {})
        data, columns = content.get("input", {}), content.get("columns", {})
        try:
            credentials = Credentials(
                folder / own["certificate"], folder / own["key"], folder / own["authority"]
            )
            table = None
            if data:
                table = read(str(folder / data["path"]))
                names = [name for name, plan in columns.items() if plan.get("role") == "identifier"]
                table = table.with_roles(identifiers=names)
            rules = {
                name: read_hierarchy(str(folder / plan["hierarchy"]))
                for name, plan in columns.items()
                if "hierarchy" in plan
            }
            return cls(
                credentials,
                parse_address(own["address"]),
                folder / own.get("output", "."),
                table,
                rules,
                str(own.get("accept", "")),
                float(own.get("patience", 60.0)),
            )
        except KeyError as error:
            raise JobError(f"{path}: [site] or [input] lacks {error}") from None

    def build(self, contract: Contract) -> Participant:
        """The state machine of this site."""
        return participant(self.credentials.name, contract, self.table, self.hierarchies)

    def confirm(self, contract: Contract, ask: Callable[[str], bool] | None = None) -> None:
        """Agree to a contract, or refuse it."""
        if self.accept in ("all", contract.digest.hex()):
            return
        if ask is None or not ask(describe(contract)):
            raise AccessError(f"'{self.credentials.name}' does not agree to the contract")

    def keep(self, done: Participant) -> None:
        """Write the release, the signed transcript and the leakage report of a run that has ended well."""
        folder = self.output / done.contract.digest.hex()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        lines = "\n".join(transcript_lines(done.transcript)).encode()
        (folder / "transcript.jsonl").write_bytes(lines)
        (folder / "transcript.signature").write_bytes(self.credentials.sign(done.contract.digest + lines))
        report = LeakageReport.of(done.contract, {done.name: done.transcript})
        document = json.dumps(report.as_document(), indent=1, ensure_ascii=False)
        (folder / "leakage.json").write_text(document, encoding="utf-8")
        if done.outcome is not None:
            write(Table(done.outcome.release), str(folder / "release.parquet"))


def describe(contract: Contract) -> str:
    """A contract in words, with what every party will learn."""
    lines = [
        f"protocol {contract.protocol}, {contract.distribution} data of {', '.join(contract.parties)}"
        + (f", helper {contract.helper}" if contract.helper else ""),
        *(f"the same people: {', '.join(region)}" for region in contract.regions),
        "columns: " + ", ".join(f"{c.name} ({c.role})" for c in contract.columns),
        *(f"promise: {model.promise}" for model in contract.models),
        f"at most {contract.suppression_limit:.0%} of all rows are suppressed; loss: {contract.loss}",
    ]
    for party, learned in foretell(contract).items():
        lines += [f"{party} will learn", *(f"  {each}" for each in learned)]
    return "\n".join([*lines, f"digest {contract.digest.hex()}"])


@dataclasses.dataclass(frozen=True, eq=False)
class FederatedJob:
    """What `tarn federate` needs to know: the contract, where everybody is, and who asks."""

    contract: Contract
    addresses: Mapping[str, Address]
    credentials: Credentials
    patience: float = 60.0

    @classmethod
    def from_file(cls, path: Path) -> FederatedJob:
        """A job as its file describes it."""
        content, folder = _read_toml(path), path.parent
        try:
            federation, search = dict(content["federation"]), content.get("search", {})
            identity, addresses = content["identity"], content["addresses"]
            models = [dict(entry) for entry in content["privacy"]]
            columns = [
                SharedColumn(
                    name,
                    **{
                        **plan,
                        "role": Role.parse(plan["role"]),
                        "owners": tuple(plan.get("owners", ())),
                    },
                )
                for name, plan in content["columns"].items()
            ]
            patience = float(federation.pop("patience", 60.0))
            contract = Contract(
                **{
                    **federation,
                    "protocol": Protocol(federation["protocol"]),
                    "distribution": Distribution(federation["distribution"]),
                    "parties": tuple(federation["parties"]),
                    "without_data": tuple(federation.get("without_data", ())),
                    "regions": tuple(map(tuple, federation.get("regions", ()))),
                },
                columns=tuple(columns),
                models=tuple(MODELS.create(entry.pop("model"), entry) for entry in models),
                loss=LOSSES.create(search.get("loss", "entropy"), {}),
                suppression_limit=float(search.get("suppression_limit", 0.0)),
                search=SEARCHES.create(search.get("algorithm", "auto"), {}),
            )
            credentials = Credentials(*(folder / identity[k] for k in ("certificate", "key", "authority")))
            return cls(contract, {n: parse_address(a) for n, a in addresses.items()}, credentials, patience)
        except KeyError as missing:
            raise JobError(
                f"{path}: {missing} is missing: is it the job of a federation? It has [federation], "
                "[addresses], [identity], [columns] and [[privacy]]"
            ) from None
        except (TypeError, ValueError) as error:
            raise JobError(f"{path}: the job cannot be understood: {error}") from None


def parse_address(text: str) -> Address:
    """Host and port."""
    host, _, port = str(text).rpartition(":")
    if not host or not port.isdigit():
        raise JobError(f"an address is host:port, not '{text}'")
    return host, int(port)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise JobError(f"'{path}' cannot be read: {error}") from None
