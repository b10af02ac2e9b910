"""The file of an institution: everything that its part of the exchange needs, in one place."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from tarnkappe.errors import JobError
from tarnkappe.exchange.catalogue import AttributeCatalogue
from tarnkappe.exchange.checking import Surroundings
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.figures import Figures
from tarnkappe.exchange.desk.tables import EXCHANGE
from tarnkappe.exchange.institution import Institution
from tarnkappe.exchange.keys import InstitutionKeys
from tarnkappe.exchange.network import Network
from tarnkappe.exchange.peer import ExchangeService, Outbox
from tarnkappe.exchange.peer.contact import WitnessedCaller
from tarnkappe.exchange.peer.tables import PEER
from tarnkappe.exchange.peer.witness_tables import WITNESSES
from tarnkappe.exchange.peer.witnesses import Witnesses
from tarnkappe.exchange.policy import SitePolicy
from tarnkappe.exchange.sections import read_toml, refuse_unknown
from tarnkappe.exchange.staff import Staff
from tarnkappe.exchange.statistics import Statistics
from tarnkappe.exchange.statistics.sharing import CountingPlan
from tarnkappe.exchange.statistics.store import STATISTICS
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.transport import Caller
from tarnkappe.pseudonym import Registrar, Vault
from tarnkappe.state import AuditLog, Component, HeadFile, Key, Signer, Store, guard
from tarnkappe.state.store import Mode
from tarnkappe.table.formats.address import is_address

KEYS = (
    "name",
    "store",
    "key",
    "keys",
    "head",
    "patients",
    "catalogue",
    "policy",
    "network",
    "staff",
    "statistics",
    "counted",
    "vault",
    "certificates",
    "listen",
    "peers",
    "patience",
    "witnesses",
    "language",
)


VAULT_KEYS = ("store", "project", "registrar", "key")


@dataclasses.dataclass(frozen=True)
class ExchangeSite:
    """An institution as its file describes it.

    Attributes:
        name: its name in the network and in its certificate.
        folder: where the file is; other files are looked for from there.
        content: what the file says.
    """

    name: str
    folder: Path
    content: Mapping[str, Any]
    _opened: list[Store] = dataclasses.field(default_factory=list, repr=False, compare=False)

    def __enter__(self) -> ExchangeSite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of every store that was opened for it."""
        while self._opened:
            self._opened.pop().close()

    @classmethod
    def load(cls, path: str | Path) -> ExchangeSite:
        """Read the file of an institution."""
        content = read_toml(path, "site file")
        refuse_unknown(content, KEYS, f"key of {path}")
        for key in ("name", "store", "network"):
            if not isinstance(content.get(key), str):
                raise JobError("exchange.path-key-missing", "{path}: '{key}' is missing", path=path, key=key)
        if ("key" in content) == ("keys" in content):
            raise JobError(
                "exchange.name-keys-keys-sign",
                "{path}: name your keys: keys = {{sign = FILE, seal = FILE, marks = FILE}}",
                path=path,
            )
        return cls(content["name"], Path(path).parent, content)

    def desk(self) -> RequestWorkflow:
        """Its desk, where requests of others come in."""
        patients = dict(self._section("patients"))
        refuse_unknown(patients, ("database", "table", "query", "patient"), "key of [patients]")
        source = str(patients.pop("database", ""))
        if is_address(source) and source.startswith(("sqlite:///", "duckdb:///")):
            scheme, _, path = source.partition(":///")
            source = f"{scheme}:///{self.folder / path}"
        try:
            institution = Institution(self.name, source, patients.pop("patient"), **patients)
        except KeyError:
            raise JobError(
                "exchange.patients-names-no-column",
                "[patients] names no column 'patient' that tells who a row is about",
            ) from None
        statistics = self.content.get("statistics")
        around = Surroundings(
            institution,
            AttributeCatalogue.load(self._file("catalogue")),
            SitePolicy.load(self._file("policy")),
            self.network(),
            None if statistics is None else Statistics(self._open(statistics, STATISTICS)),
        )
        return RequestWorkflow(self.store(), self.keys(), around, self.staff(), self._registrar())

    def figures(self, desk: RequestWorkflow) -> Figures | None:
        """What it shares of its statistics, if it has a plan for that."""
        return Figures(desk, CountingPlan.load(self._file("counted"))) if "counted" in self.content else None

    def vault(self) -> Vault:
        """The vault that knows who is behind the pseudonyms in its packages."""
        said = self._section("vault")
        refuse_unknown(said, VAULT_KEYS, "key of [vault]")
        for key in VAULT_KEYS:
            if not isinstance(said.get(key), str):
                raise JobError("exchange.vault-lacks", "[vault] lacks '{key}'", key=key)
        vault = Vault.open(self._place(said["store"]), said["project"])
        self._opened.append(vault.store)
        return vault

    def _registrar(self) -> Registrar | None:
        if "vault" not in self.content:
            return None
        vault, said = self.vault(), self._section("vault")
        return Registrar(vault, said["registrar"], Key.load(self.folder / said["key"]))

    def outbox(self) -> Outbox:
        """Where its own requests to others are kept."""
        return Outbox(self.store(), self.network(), self.caller())

    def caller(self) -> Caller:
        """By what it reaches others."""
        patience = float(self.content.get("patience", 30.0))
        return WitnessedCaller(self.credentials(), self.peers(), patience, self.witnesses())

    def witnesses(self) -> Witnesses:
        """What is known of the others' logs, and what they know of the own one."""
        said = self.content.get("witnesses", {})
        if not isinstance(said, Mapping):
            raise JobError(
                "exchange.witnesses-names-heads-asked",
                "[witnesses] names whose heads are asked for: ask = [NAME, ...]",
            )
        refuse_unknown(said, ("ask",), "key of [witnesses]")
        ask = said.get("ask")
        if ask is not None and not (isinstance(ask, list) and all(isinstance(each, str) for each in ask)):
            raise JobError(
                "exchange.witnesses-ask-list-institutions", "[witnesses]: ask is a list of institutions"
            )
        return Witnesses(self.store(), self.network(), Signer(self.keys().sign), self.name, ask)

    def staff(self) -> Staff:
        """Who may do what here."""
        return Staff.load(self._file("staff"))

    def peers(self) -> dict[str, tuple[str, int]]:
        """Where others are."""
        return {name: _address(said) for name, said in self._section("peers").items()}

    def service(self) -> ExchangeService:
        """Its desk, for others to reach."""
        desk, address = self.desk(), _address(self.content.get("listen", "127.0.0.1:0"))
        return ExchangeService(desk, self.credentials(), address, self.figures(desk), self.witnesses())

    def store(self, *, accept: bool = False) -> Store:
        """Where everything is kept; its log is sealed, and its head is kept in a file.

        Args:
            accept: take the log as it is for the right one, whatever the head file says.
        """
        store, keys = self._open(self.content["store"]), self.keys()
        guard(store, keys.seals, HeadFile(self.head, self.name, Signer(keys.sign)), accept=accept)
        store.ensure(EXCHANGE, PEER, WITNESSES)  # now, since what is written about it is sealed, too
        return store

    def log(self) -> AuditLog:
        """The log of its desk, to be read only."""
        store, keys = self._open(self.content["store"], EXCHANGE, mode="read"), self.keys()
        store.seals, store.heads = keys.seals, HeadFile(self.head, self.name, Signer(keys.sign))
        return AuditLog(store)

    def _open(self, place: object, *components: Component, mode: Mode = "create") -> Store:
        store = Store.open(self._place(str(place)), *components, mode=mode)
        self._opened.append(store)
        return store

    @property
    def head(self) -> Path:
        """The file of the newest head of the log."""
        return self.folder / str(self.content.get("head", f"{self.name}.head"))

    def keys(self) -> InstitutionKeys:
        """The institution's keys; new ones if there are none."""
        if "key" in self.content:
            return InstitutionKeys.of(Key.load(self._file("key"), create=True))
        said = self._section("keys")
        names = [field.name for field in dataclasses.fields(InstitutionKeys)]
        refuse_unknown(said, tuple(names), "key of keys")
        if missing := [name for name in names if not isinstance(said.get(name), str)]:
            raise JobError("exchange.keys-lacks", "keys lacks {missing}", missing=", ".join(missing))
        own = [Key.load(self.folder / said[name], create=True) for name in names]
        if len({key.fingerprint for key in own}) < len(own):
            raise JobError(
                "exchange.keys-names-key-twice", "keys names one key twice: each purpose has its own"
            )
        return InstitutionKeys(*own)

    def network(self) -> Network:
        """Who it knows."""
        return Network.load(self._file("network"))

    def credentials(self) -> Credentials:
        """By what others know it."""
        said = self._section("certificates")
        refuse_unknown(said, ("certificate", "key", "authority", "revoked"), "key of [certificates]")
        try:
            certificate, key, authority = (
                self.folder / said[name] for name in ("certificate", "key", "authority")
            )
        except KeyError as error:
            raise JobError(
                "exchange.certificates-lacks", "[certificates] lacks {error}", error=error
            ) from None
        revoked = self.folder / said["revoked"] if "revoked" in said else None
        return Credentials(certificate, key, authority, revoked)

    @property
    def language(self) -> str:
        """In which language people here read what they sign."""
        return str(self.content.get("language", "en"))

    def _section(self, name: str) -> Mapping[str, Any]:
        section = self.content.get(name)
        if not isinstance(section, Mapping):
            raise JobError(
                "exchange.site-file-no-section", "the site file has no section [{name}]", name=name
            )
        return section

    def _file(self, name: str) -> Path:
        if not isinstance(self.content.get(name), str):
            raise JobError(
                "exchange.site-file-not-name", "the site file does not name the file '{name}'", name=name
            )
        return self.folder / str(self.content[name])

    def _place(self, place: str) -> str | Path:
        return place if is_address(place) else self.folder / place


def _address(said: object) -> tuple[str, int]:
    host, _, port = str(said).rpartition(":")
    if not host or not port.isdigit():
        raise JobError("exchange.address-written-host-port", "an address is written host:port")
    return host, int(port)
