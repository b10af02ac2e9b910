"""The contract: all that the parties of a run agree on before the first value is encrypted."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import secrets
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.federation.ciphers.paillier import RECOMMENDED_BITS
from tarnkappe.federation.contract_checks import (
    COMPUTING,
    check_ciphers,
    check_columns,
    check_models,
    check_parties,
)
from tarnkappe.federation.field_types import require_types
from tarnkappe.federation.printable import printable
from tarnkappe.federation.protocols import CIPHERED, Partitioning, Protocol, Reveal
from tarnkappe.federation.shared_column import SharedColumn
from tarnkappe.lattice import SEARCHES, AutoSearch, Search
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tarnkappe.schema import values_of
from tarnkappe.state.canonical import canonical_json
from tarnkappe.table import Role

__all__ = ["CIPHERED", "Contract", "Partitioning", "Protocol", "Reveal", "SharedColumn"]

LISTS = ("parties", "without_data", "person", "compute")


@dataclasses.dataclass(frozen=True)
class Contract:
    """What is done, by whom, with which guarantee.

    Attributes:
        protocol: who works together, and how.
        distribution: how the data are distributed.
        parties: those with data, in the order of the ring. The first anonymizes in a ring and holds the key
            of the counters in a masked run.
        columns: the columns of the release, in its order.
        models: what the release promises.
        loss: what is minimized.
        suppression_limit: the share of rows that may be suppressed.
        search: how the best levels are looked for.
        helper: the party without data that anonymizes in a star.
        key: the column that names people, where data are distributed vertically.
        regions: the groups of parties of a hybrid distribution that have different columns of the same
            people; different regions have different people. Where there are none, the helper of a star joins
            whatever it gets.
        member: the column that tells who is to be released, where the others are population only.
        without_data: parties of a ring that have no rows.
        group: the group of the commutative cipher.
        counter_bits: the length of the key of the counters.
        made_up_share: how many rows are made up, as a share of the true ones.
        private_keys: whether vertical parties of a star keep the keys of their columns to themselves.
        fill_absent: whether people whom a vertical party does not know get missing values there.
        link: whether parties that have the same people first find out, without telling the others, who is
            known to all of them.
        shared_tests: whether all parties of a masked run get the key of the counters and share its work.
        check_master: whether all parties of a ring anonymize, and decrypt only what all agree on.
        weak_ciphers: whether ciphers below current recommendations are allowed, to compare figures or to try.
        person: the columns that together tell who a row is about. They never leave a party; each refuses if
            somebody has several rows with it. Across parties rows are counted, not people.
        compute: the three parties that compute in an oblivious run: if not given the first three, or the
            first two and the helper.
        reveal: what an oblivious run tells beside its release.
        insiders: how many sites may take out their own rows together: what they find of others is still as
            large, and as diverse, as the models say (m-privacy), or nothing.
        run: a name that no other run has.
    """

    protocol: Protocol
    distribution: Partitioning
    parties: tuple[str, ...]
    columns: tuple[SharedColumn, ...]
    models: tuple[Model, ...]
    loss: Loss
    suppression_limit: float = 0.0
    search: Search = dataclasses.field(default_factory=AutoSearch)
    helper: str | None = None
    key: str | None = None
    regions: tuple[tuple[str, ...], ...] = ()
    member: str | None = None
    without_data: tuple[str, ...] = ()
    group: str = "ristretto255"
    counter_bits: int = RECOMMENDED_BITS
    made_up_share: float = 0.25
    private_keys: bool = False
    fill_absent: bool = False
    link: bool = False
    shared_tests: bool = False
    check_master: bool = False
    weak_ciphers: bool = False
    person: tuple[str, ...] = ()
    compute: tuple[str, ...] = ()
    reveal: Reveal = Reveal.RESULT
    insiders: int = 0
    run: str = dataclasses.field(default_factory=lambda: secrets.token_hex(16))

    def __post_init__(self) -> None:
        require_types(self)
        if self.is_oblivious and not self.compute:
            three = (*self.parties[: COMPUTING - bool(self.helper)], *filter(None, [self.helper]))
            object.__setattr__(self, "compute", three)
        check_parties(self)
        check_columns(self)
        check_ciphers(self)
        check_models(self)
        if not self.made_up_share >= 0:
            raise ParameterError(
                "federation.share-made-up-rows",
                "the share of made-up rows is at least 0, not {made_up_share}",
                made_up_share=self.made_up_share,
            )

    @property
    def is_oblivious(self) -> bool:
        """Whether parties compute on shared bits, and send no ciphertext of a value."""
        return self.protocol is Protocol.OBLIVIOUS

    @property
    def class_size(self) -> int:
        """How many rows every class of the release has at least, as far as its models say so."""
        parts = [part for model in self.models for part in model.parts]
        sizes = [part.k for part in parts if part.name == "k-anonymity" and hasattr(part, "k")]
        sizes += [part.l for part in parts if part.name == "distinct-diversity" and hasattr(part, "l")]
        return int(max(sizes, default=1))

    @property
    def everybody(self) -> tuple[str, ...]:
        """All parties, the helper last."""
        return self.parties if self.helper is None else (*self.parties, self.helper)

    @property
    def master(self) -> str:
        """The party that anonymizes in a ring, and the first that decrypts a result elsewhere."""
        return self.parties[0]

    @property
    def key_holder(self) -> str:
        """The party that can decrypt counters."""
        return self.parties[0]

    @cached_property
    def people(self) -> tuple[tuple[str, ...], ...]:
        """The groups of parties that have the same people: each alone, all together, or the regions."""
        if self.distribution is Partitioning.HYBRID:
            return self.regions
        alone = self.distribution is Partitioning.HORIZONTAL
        return tuple((party,) for party in self.parties) if alone else (self.parties,)

    def people_with(self, party: str) -> tuple[str, ...]:
        """The parties that have the same people as a party, itself included."""
        return next(group for group in self.people if party in group)

    def is_counting(self, party: str) -> bool:
        """Whether a party counts its people: of those that have the same ones, only the second does."""
        return party == self.people_with(party)[:2][-1]

    @cached_property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns to generalize."""
        return tuple(c.name for c in self.columns if c.role is Role.QUASI_IDENTIFIER)

    @property
    def decryption_order(self) -> tuple[str, ...]:
        """The parties of a ring as they decrypt; a master that is checked comes last."""
        return self.parties[::-1] if self.check_master else self.parties

    def column(self, name: str) -> SharedColumn:
        """A column by name."""
        return next(column for column in self.columns if column.name == name)

    def columns_of(self, party: str) -> tuple[SharedColumn, ...]:
        """The columns that a party has."""
        if self.distribution is Partitioning.HYBRID:
            return tuple(column for column in self.columns if party in column.owners)
        return tuple(column for column in self.columns if column.owner in (None, party))

    def right_of(self, party: str) -> str:
        """The next party of the ring."""
        return self.parties[(self.parties.index(party) + 1) % len(self.parties)]

    def left_of(self, party: str) -> str:
        """The previous party of the ring."""
        return self.parties[self.parties.index(party) - 1]

    @property
    def level_limits(self) -> Mapping[str, tuple[int, int]]:
        """The levels that may be chosen, of columns that are generalized beforehand."""
        limited = (c for c in self.columns if c.role is Role.QUASI_IDENTIFIER and c.least_level)
        return {column.name: (column.least_level, column.height) for column in limited}

    def as_document(self) -> dict[str, Any]:
        """The contract as plain data, for people to confirm and for the digest."""
        plain = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        plain["columns"] = [dataclasses.asdict(column) for column in self.columns]
        plain["models"] = [{"model": model.name, **model.parameters} for model in self.models]
        plain["loss"] = {"loss": self.loss.name, **self.loss.parameters}
        plain["search"] = {"search": self.search.name, **values_of(self.search)}
        document: dict[str, Any] = json.loads(canonical_json(plain))
        return document

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Contract:
        """A contract from plain data, as another party sends it."""
        try:
            plain = dict(document)
            loss = dict(plain["loss"])
            models = [dict(model) for model in plain["models"]]
            plain["columns"] = tuple(
                SharedColumn(
                    **{
                        **column,
                        "role": Role.parse(column["role"]),
                        "owners": tuple(column["owners"]),
                        "labels": tuple(column["labels"]),
                    }
                )
                for column in plain["columns"]
            )
            plain["models"] = tuple(MODELS.create(model.pop("model"), model) for model in models)
            plain["loss"] = LOSSES.create(loss.pop("loss"), loss)
            search = dict(plain["search"])
            plain["search"] = SEARCHES.create(search.pop("search"), search)
            if not all(isinstance(plain[name], list) for name in LISTS):
                raise ParameterError(
                    "federation.contract-cannot-understood-names",
                    "the contract cannot be understood: names come in lists",
                )
            plain |= {name: tuple(plain[name]) for name in LISTS}
            plain["regions"] = tuple(map(tuple, plain["regions"]))
            plain["protocol"] = Protocol(plain["protocol"])
            plain["reveal"] = Reveal(plain["reveal"])
            plain["distribution"] = Partitioning(plain["distribution"])
            return cls(**plain)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ParameterError(
                "federation.contract-cannot-understood",
                "the contract cannot be understood: {error}",
                error=printable(error),
            ) from None

    @cached_property
    def digest(self) -> bytes:
        """What binds every message to this contract."""
        return hashlib.sha256(canonical_json(self.as_document())).digest()
