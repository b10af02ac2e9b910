"""What the files of a federation may say: a site's own file, and that of a federated job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from msgspec import Meta, field

from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.ciphers.paillier import RECOMMENDED_BITS
from tarnkappe.federation.common_hierarchy import CommonHierarchy
from tarnkappe.federation.policy import Policy
from tarnkappe.federation.protocols import Partitioning, Protocol, Reveal
from tarnkappe.federation.shared_column import DEFAULT_WIDTH
from tarnkappe.lattice import SEARCHES
from tarnkappe.lattice.section import AlgorithmSection, sections_of
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tarnkappe.schema import (
    MOST_NAMES,
    Name,
    NotNegative,
    Parameters,
    Problem,
    Seconds,
    Share,
    Text,
    param,
)
from tarnkappe.schema.documents import refused
from tarnkappe.table import Role
from tarnkappe.table.reading_settings import ReadingSettings

Address = tuple[str, int]
DAY = 86_400.0
PATIENCE = 60.0
MOST_SECTIONS = 1_000

Names = Annotated[tuple[Name, ...], Meta(max_length=MOST_NAMES)]
Days = Annotated[int, Meta(ge=0, le=100_000)] | Annotated[float, Meta(ge=0, le=100_000)]
Level = Annotated[int, Meta(ge=0, le=10_000)]
Insiders = Annotated[int, Meta(ge=0, le=100)]

if TYPE_CHECKING:
    AnyLoss = Loss
    AnyModel = Model
    LossName = str
else:
    AnyLoss, AnyModel, LossName = LOSSES.union, MODELS.union, Literal[LOSSES.names]


def parse_address(text: object) -> Address:
    """Host and port."""
    host, _, port = str(text).rpartition(":")
    if not host or not port.isdigit() or not int(port) < 2**16:
        raise JobError("federation.address-host-port", "an address is host:port, not '{text}'", text=text)
    return host, int(port)


def _wrong_address(text: str, *path: str) -> Iterator[Problem]:
    try:
        parse_address(text)
    except TarnkappeError as error:
        yield refused(error.reason, *path)


class IdentitySection(Parameters, kw_only=True):
    """Who somebody is: `[identity]`."""

    certificate: Annotated[Name, param("the file with the own certificate", kind="file")]
    key: Annotated[Name, param("the file with its key", kind="file")]
    authority: Annotated[Name, param("the file with the certificate of the authority", kind="file")]
    revoked: Annotated[Name | None, param("the file with revoked certificates", kind="file")] = None


def credentials_of(said: IdentitySection) -> Credentials:
    """Who somebody is, by the files that a document names."""
    return Credentials(
        Path(said.certificate),
        Path(said.key),
        Path(said.authority),
        None if said.revoked is None else Path(said.revoked),
    )


class SiteSection(IdentitySection, kw_only=True):
    """A site: `[site]`."""

    address: Annotated[Name, param("where it listens, host:port")]
    output: Annotated[
        Name | None, param("the folder for releases and the ledger; releases-NAME if not said", kind="file")
    ] = None
    accept: Annotated[Text, param("contracts agreed to without asking: none, `all`, or a digest")] = ""
    patience: Annotated[
        Seconds, param("without a message a run is given up after so long", kind="seconds", unit="seconds")
    ] = PATIENCE
    consent_days: Annotated[Days, param("how long people may take to decide", unit="days")] = 7.0
    longest_run: Annotated[
        Seconds, param("after which a run is given up, whatever others say", kind="seconds", unit="seconds")
    ] = DAY

    def rules(self) -> Iterator[Problem]:
        """The address is one."""
        yield from _wrong_address(self.address, "address")


class SiteInput(ReadingSettings, kw_only=True):
    """The rows of a site: `[input]`; a helper has none."""

    path: Annotated[Name | None, param("the file, or the address of a database", kind="file")] = None
    table: Annotated[Name | None, param("the table of the database")] = None
    query: Annotated[Text | None, param("a query of the database, instead of a table")] = None

    def rules(self) -> Iterator[Problem]:
        """What is said is said of something."""
        if self.path is None and self.options:
            yield Problem("schema.missing-key", ("path",), {"hint": "the file, or the address of a database"})

    @property
    def options(self) -> dict[str, Any]:
        """All that is said of the source."""
        given = {"table": self.table, "query": self.query}
        return self.stated | {name: value for name, value in given.items() if value is not None}


class SiteColumn(CommonHierarchy, kw_only=True):
    """A column of a site: `[columns.NAME]`."""

    role: Annotated[Role, param("identifier, for what never leaves; others are as a contract says")] = (
        Role.INSENSITIVE
    )


class SiteDocument(Parameters, kw_only=True):
    """The file of a site of a federation."""

    site: Annotated[SiteSection, param("the file of a site says who it is and where it listens")]
    input: Annotated[SiteInput, param("the rows; a helper has none")] = SiteInput()
    columns: Annotated[
        Annotated[Mapping[Text, SiteColumn], Meta(max_length=MOST_NAMES)],
        param("one [columns.NAME] for each column of which something is said"),
    ] = field(default_factory=dict)
    policy: Annotated[Policy, param("the rules that no contract overrides")] = Policy()


class FederationSection(Parameters, kw_only=True):
    """What is done, by whom: `[federation]`."""

    protocol: Annotated[Protocol, param("who works together, and how")]
    distribution: Annotated[Partitioning, param("how the data are distributed")]
    parties: Annotated[tuple[Name, ...], param("those with data, in order", max_length=MOST_NAMES)]
    helper: Annotated[Name | None, param("the party without data that anonymizes in a star")] = None
    key: Annotated[Name | None, param("the column that names people, in a vertical distribution")] = None
    regions: Annotated[
        Annotated[tuple[Names, ...], Meta(max_length=MOST_NAMES)],
        param("groups of parties that have different columns of the same people"),
    ] = ()
    member: Annotated[Name | None, param("the column that tells who is to be released")] = None
    without_data: Annotated[Names, param("parties of a ring that have no rows")] = ()
    group: Annotated[Name, param("the group of the commutative cipher")] = "ristretto255"
    counter_bits: Annotated[
        int, param("the length of the key of the counters", unit="bits", ge=1, le=65_536)
    ] = RECOMMENDED_BITS
    made_up_share: Annotated[NotNegative, param("rows that are made up, as a share of the true ones")] = 0.25
    private_keys: Annotated[bool, param("whether vertical parties keep the keys of their columns")] = False
    fill_absent: Annotated[bool, param("whether people whom a party does not know get missing values")] = (
        False
    )
    link: Annotated[bool, param("whether parties first find out who is known to all of them")] = False
    shared_tests: Annotated[bool, param("whether all parties of a masked run share the tests")] = False
    check_master: Annotated[bool, param("whether all parties of a ring anonymize, and compare")] = False
    weak_ciphers: Annotated[bool, param("whether ciphers below recommendations are allowed")] = False
    person: Annotated[Names, param("the columns that together tell who a row is about")] = ()
    compute: Annotated[Names, param("the three parties that compute in an oblivious run")] = ()
    reveal: Annotated[Reveal, param("what an oblivious run tells beside its release")] = Reveal.RESULT
    insiders: Annotated[
        Insiders | None,
        param(
            "how many sites may take out their own rows together and still find as many of others; 1 in an "
            "oblivious run of three sites or more, else 0"
        ),
    ] = None
    run: Annotated[Name | None, param("a name that no other run has; drawn if not said")] = None
    patience: Annotated[
        Seconds, param("without a message a run is given up after so long", kind="seconds", unit="seconds")
    ] = PATIENCE


class ContractColumn(CommonHierarchy, kw_only=True):
    """A column of the release: `[columns.NAME]`."""

    role: Annotated[Role, param("quasi-identifier, sensitive or insensitive")]
    kind: Annotated[Name, param("the type of its values, as Arrow names it")] = "string"
    height: Annotated[Level, param("the highest level of its hierarchy", unit="levels")] = 0
    least_level: Annotated[Level, param("the level before anything is encrypted", unit="levels")] = 0
    width: Annotated[
        int, param("the greatest number of bytes of a value or label", unit="bytes", ge=1, le=1_000_000)
    ] = DEFAULT_WIDTH
    owner: Annotated[Name | None, param("the party that has it, in a vertical distribution")] = None
    owners: Annotated[Names, param("the parties that have it, in a hybrid distribution")] = ()


class ContractSearch(AlgorithmSection, kw_only=True):
    """How levels are looked for: `[search]`. The parameters of the search stand beside these."""

    loss: Annotated[
        LossName | AnyLoss,
        param("what is minimized: a name, or a table with a name and parameters", what="loss"),
    ] = "entropy"
    suppression_limit: Annotated[Share, param("the share of rows that may be suppressed", kind="share")] = 0.0


CONTRACT_SEARCHES = sections_of(ContractSearch, SEARCHES)

if TYPE_CHECKING:
    AnySearch = ContractSearch
else:
    AnySearch = Union[CONTRACT_SEARCHES]  # noqa: UP007  as many as there are


class ContractDocument(Parameters, kw_only=True):
    """The file of a federated job: the contract, where everybody is, and who asks."""

    federation: Annotated[FederationSection, param("the job of a federation says what is done, by whom")]
    identity: Annotated[IdentitySection, param("who asks")]
    addresses: Annotated[
        Mapping[Name, Name], param("where everybody is, host:port by name", max_length=MOST_NAMES)
    ]
    columns: Annotated[
        Mapping[Name, ContractColumn],
        param("one [columns.NAME] for each column of the release", max_length=MOST_NAMES),
    ]
    privacy: Annotated[
        tuple[AnyModel, ...],
        param("one [[privacy]] for each promise", what="privacy model", max_length=MOST_SECTIONS),
    ]
    search: Annotated[AnySearch, param("how levels are looked for", what="algorithm", otherwise="auto")] = (
        CONTRACT_SEARCHES[0]()
    )

    def rules(self) -> Iterator[Problem]:
        """Addresses are such."""
        for name, address in self.addresses.items():
            yield from _wrong_address(address, "addresses", name)
