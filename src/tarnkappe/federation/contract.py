"""The contract: all that the parties of a run agree on before the first value is encrypted."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import secrets
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.federation.ciphers.paillier import LEAST_BITS, RECOMMENDED_BITS
from tarnkappe.federation.field_types import require_types
from tarnkappe.federation.printable import printable
from tarnkappe.federation.protocols import CIPHERED, Partitioning, Protocol, Reveal
from tarnkappe.federation.regions import refuse_bad_regions, refuse_bad_ring
from tarnkappe.federation.shared_column import SharedColumn
from tarnkappe.lattice import SEARCHES, AutoSearch, Search
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tarnkappe.schema import values_of
from tarnkappe.state.canonical import canonical_json
from tarnkappe.table import Role

__all__ = ["CIPHERED", "Contract", "Partitioning", "Protocol", "Reveal", "SharedColumn"]

LEAST_RING = 3
LISTS = ("parties", "without_data", "person", "compute")
COMPUTING = 3
DIVERSITIES = ("distinct-diversity", "entropy-diversity", "recursive-diversity")


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
    run: str = dataclasses.field(default_factory=lambda: secrets.token_hex(16))

    def __post_init__(self) -> None:
        require_types(self)
        if self.is_oblivious and not self.compute:
            three = (*self.parties[: COMPUTING - bool(self.helper)], *filter(None, [self.helper]))
            object.__setattr__(self, "compute", three)
        self._check_parties()
        self._check_columns()
        self._check_ciphers()
        self._check_models()
        if not self.made_up_share >= 0:
            raise ParameterError(f"the share of made-up rows is at least 0, not {self.made_up_share}")

    def _check_models(self) -> None:
        if not self.models:
            raise ParameterError("the contract promises nothing: name at least one model")
        for part in (part for model in self.models for part in model.parts):
            least = [part.k] if hasattr(part, "k") else []
            least += [part.l] if part.name in DIVERSITIES and hasattr(part, "l") else []
            if any(number <= 1 for number in least):
                raise ParameterError(f"{part} protects nobody: take at least 2")
        if not 0 <= self.suppression_limit <= 1:
            raise ParameterError(f"the suppression limit is from 0 to 1, not {self.suppression_limit}")
        for name in {column.name for column in self.columns} & set(self.person):
            raise ColumnError(f"'{name}' tells who a row is about: it cannot be part of a release")

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

    def _check_ciphers(self) -> None:
        weak = GROUPS[self.group].comparison_only or (
            self.protocol.is_masked and self.counter_bits < LEAST_BITS
        )
        if weak and not self.weak_ciphers:
            raise ParameterError(
                f"the group '{self.group}' or counters of {self.counter_bits} bits are below current "
                f"recommendations (ristretto255, {RECOMMENDED_BITS} bits): take others, or say weak_ciphers"
            )

    def _check_parties(self) -> None:
        if len(set(self.everybody)) < len(self.everybody):
            raise ParameterError("two parties have the same name: every party needs its own")
        if len(self.parties) < 2:
            raise ParameterError("one party alone needs no federation: use `tarn anonymize`")
        if self.private_keys and self.protocol in (Protocol.RING, Protocol.MASKED_RING):
            raise ParameterError("where everybody encrypts everything, all keys are private: leave it out")
        if self.is_oblivious:
            self._check_computing()
        elif self.compute or self.reveal is not Reveal.RESULT:
            raise ParameterError("only an oblivious run has 'compute' and 'reveal': leave them out")
        elif self.protocol is Protocol.RING:
            self._check_ring()
        elif self.helper is None:
            raise ParameterError(
                f"the protocol '{self.protocol}' needs a helper without data who sides with none of them"
            )
        elif self.without_data:
            raise ParameterError("a party without data is of use in a ring only: leave it out")

    def _check_computing(self) -> None:
        if len(set(self.compute)) != COMPUTING or not set(self.compute) <= set(self.everybody):
            raise ParameterError(
                "an oblivious run needs three parties that compute: three parties with data, or two of them "
                "and a helper"
            )
        if self.helper is not None and self.helper not in self.compute:
            raise ParameterError(f"the helper '{self.helper}' does not compute: leave it out")
        if self.distribution is not Partitioning.HORIZONTAL:
            raise ParameterError(
                f"the protocol 'oblivious' takes horizontal data only, not {self.distribution} ones: choose "
                "another"
            )
        for name in ("without_data", "member", "private_keys"):
            if getattr(self, name):
                raise ParameterError(f"an oblivious run has no '{name}': leave it out")

    def _check_ring(self) -> None:
        if self.helper is not None:
            raise ParameterError("a ring has no helper: leave it out, or choose the protocol 'star'")
        holders = [name for name in self.parties if name not in self.without_data]
        if len(self.parties) < LEAST_RING or (len(holders) < LEAST_RING and self.master in holders):
            raise ParameterError(
                f"a ring of {len(holders)} parties with data protects nobody: '{self.master}', which "
                "anonymizes, would get its own rows back in full encryption with no rows of others among "
                "them, and could read everybody's values that equal its own. Choose the protocol 'star', "
                "or put a party without data first"
            )

    def _check_columns(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise ColumnError("two columns of the contract have the same name")
        if not self.quasi_identifiers:
            raise ColumnError("no column is a quasi-identifier: say which columns an attacker may know")
        vertical = self.distribution is Partitioning.VERTICAL
        if self.distribution is not Partitioning.HORIZONTAL and self.key is None:
            raise ColumnError("vertically distributed data need a key: the column by which people are joined")
        if self.distribution is Partitioning.HYBRID:
            self._check_hybrid()
        elif self.regions:
            raise ParameterError("only a hybrid distribution has regions: leave them out")
        if self.without_data and self.distribution is not Partitioning.HORIZONTAL:
            raise ParameterError("a party without data has no people to join: it is for horizontal data only")
        if self.fill_absent and self.protocol is not Protocol.STAR:
            raise ParameterError("absent people can be filled in by the helper of a star only: link them")
        if self.shared_tests and not self.protocol.is_masked:
            raise ParameterError("only a masked run has tests to share: leave shared_tests out")
        if self.check_master and self.protocol is not Protocol.RING:
            raise ParameterError("only a ring has a master to check: leave check_master out")
        if self.link and (self.fill_absent or not (vertical or self.regions)):
            raise ParameterError(
                "people are linked in vertical data or regions only, and instead of being filled in"
            )
        for column in self.columns:
            if vertical and column.owner not in self.parties:
                raise ColumnError(
                    f"the column '{column.name}' needs an owner among {', '.join(self.parties)}"
                )
            if not vertical and column.owner is not None:
                raise ColumnError(f"'{column.name}' has an owner, but all parties have all columns")

    def _check_hybrid(self) -> None:
        if self.private_keys:
            raise ParameterError(
                "in a hybrid distribution several parties have a column, so its key cannot be private"
            )
        for column in self.columns:
            if not column.owners or not set(column.owners) <= set(self.parties):
                raise ColumnError(f"the column '{column.name}' needs owners among {', '.join(self.parties)}")
        if self.regions:
            refuse_bad_regions(self.regions, self.parties, {c.name: c.owners for c in self.columns})
            if self.protocol is Protocol.RING:
                refuse_bad_ring(self.regions, self.parties, LEAST_RING)
        elif self.protocol is not Protocol.STAR:
            raise ParameterError(
                "a hybrid distribution without regions needs the protocol 'star': only a helper that sees "
                "all shares at once can find out who has which people. Say which parties have the same ones "
                "(regions), or choose the star"
            )

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
                raise ParameterError("the contract cannot be understood: names come in lists")
            plain |= {name: tuple(plain[name]) for name in LISTS}
            plain["regions"] = tuple(map(tuple, plain["regions"]))
            plain["protocol"] = Protocol(plain["protocol"])
            plain["reveal"] = Reveal(plain["reveal"])
            plain["distribution"] = Partitioning(plain["distribution"])
            return cls(**plain)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ParameterError(f"the contract cannot be understood: {printable(error)}") from None

    @cached_property
    def digest(self) -> bytes:
        """What binds every message to this contract."""
        return hashlib.sha256(canonical_json(self.as_document())).digest()
