"""The rules of a site, which no contract overrides: `[policy]` in its file.

They are checked when a contract arrives and again before its run. Whatever gives protection away has a name
that says what is lost.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from tarnkappe.errors import AccessError, JobError
from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.federation.contract import Contract, Protocol, Reveal
from tarnkappe.federation.decoding import DecodingEstimate
from tarnkappe.federation.toml_file import refuse_unknown
from tarnkappe.table import Role

LISTS = ("protocols", "columns", "sensitive", "ciphers", "proposers", "reveal", "never_together")


@dataclasses.dataclass(frozen=True)
class Policy:
    """What a site agrees to at most.

    Attributes:
        least_k: how many rows a class of the release must have at least.
        protocols: the protocols that may be used; any if empty.
        columns: the columns that may be shared; all but identifiers if empty.
        sensitive: columns that are sensitive or quasi-identifiers in every contract, never insensitive.
        least_levels: the least level to which a column is generalized before anything is encrypted.
        greatest_suppression: the greatest share of rows that may be suppressed.
        ciphers: the groups of commutative ciphers that may be used; if empty, all that are recommended.
        proposers: who may propose contracts; everybody with a certificate if empty.
        reveal: what an oblivious run may tell beside its release; anything if empty.
        never_together: groups of parties that are one house, of which one may compute in an oblivious run.
        greatest_decodable_cells: the greatest share of own cells that a simulated attack may read of the
            ciphertexts; 0 refuses all protocols that send ciphertexts, since none can promise it.
        accept_decodable_rows: whether rows may leave that who gets them can read for the most part.
        accept_weak_ciphers: whether ciphers may be used that can be broken, for trials.
        accept_repeated_people: whether one person may count as several in the own rows.
    """

    least_k: int = 5
    protocols: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    least_levels: Mapping[str, int] = dataclasses.field(default_factory=dict)
    greatest_suppression: float = 0.2
    ciphers: tuple[str, ...] = ()
    proposers: tuple[str, ...] = ()
    reveal: tuple[str, ...] = ()
    never_together: tuple[tuple[str, ...], ...] = ()
    greatest_decodable_cells: float = 0.0
    accept_decodable_rows: bool = False
    accept_weak_ciphers: bool = False
    accept_repeated_people: bool = False

    @classmethod
    def from_section(cls, said: Mapping[str, Any], where: str) -> Policy:
        """The rules as a site file gives them."""
        kinds = {f.name: str(f.type) for f in dataclasses.fields(cls)}
        refuse_unknown(said, kinds, f"{where}: [policy] has no key")
        given: dict[str, Any] = {}
        for name, value in said.items():
            kind = kinds[name]
            good = {
                "bool": isinstance(value, bool),
                "int": isinstance(value, int) and not isinstance(value, bool),
                "float": isinstance(value, int | float) and not isinstance(value, bool),
            }.get(kind, isinstance(value, list) if name in LISTS else isinstance(value, dict))
            if not good:
                words = {"bool": "true or false", "int": "a whole number", "float": "a number"}
                raise JobError(f"{where}: [policy] {name} is {words.get(kind, 'a list or table')}")
            given[name] = tuple(map(str, value)) if name in LISTS else value
        if "never_together" in said:
            if not all(isinstance(group, list) for group in said["never_together"]):
                raise JobError(f"{where}: [policy] never_together is a list of lists of parties")
            given["never_together"] = tuple(tuple(map(str, group)) for group in said["never_together"])
        for name in given.get("reveal", ()):
            if name not in list(Reveal):
                raise JobError(f"{where}: [policy] reveal has no '{name}': {', '.join(Reveal)}")
        for name in given.get("protocols", ()):
            if name not in list(Protocol):
                raise JobError(f"{where}: [policy] there is no protocol '{name}': {', '.join(Protocol)}")
        return cls(**given)

    def refuse(self, contract: Contract, proposer: str, site: str, *, sends_rows: bool) -> None:
        """Refuse a contract that breaks a rule; others are told the name of the rule.

        Args:
            contract: what is proposed.
            proposer: by whom.
            site: whose rules these are.
            sends_rows: whether the site would send rows, and not only help.
        """
        for rule, why in self._broken(contract, proposer, sends_rows):
            raise AccessError(
                f"'{site}' does not agree to the contract: its policy says otherwise ({rule}: {why})"
            )

    def _broken(self, contract: Contract, proposer: str, sends_rows: bool) -> Iterator[tuple[str, str]]:
        if self.proposers and proposer not in self.proposers:
            yield "proposers", "this party may not propose contracts"
        if contract.class_size < self.least_k:
            yield "least_k", f"classes need at least {self.least_k} rows, not {contract.class_size}"
        if self.protocols and contract.protocol not in self.protocols:
            yield "protocols", f"'{contract.protocol}' is not among them"
        if contract.suppression_limit > self.greatest_suppression:
            yield "greatest_suppression", f"at most {self.greatest_suppression:g} of all rows"
        if contract.weak_ciphers and not self.accept_weak_ciphers:
            yield "accept_weak_ciphers", "the contract allows ciphers that can be broken"
        allowed = self.ciphers or tuple(name for name in GROUPS.names if not GROUPS[name].comparison_only)
        if contract.group not in allowed and not self.accept_weak_ciphers:
            yield "ciphers", "the group of the contract is not among them"
        ciphertexts = sends_rows and not contract.is_oblivious
        if ciphertexts and not (self.accept_decodable_rows or self.greatest_decodable_cells):
            yield (
                "greatest_decodable_cells",
                "who gets the ciphertexts can read rows of this site. A site that accepts this says "
                "accept_decodable_rows = true",
            )
        yield from self._broken_by_computing(contract)
        yield from self._broken_by_columns(contract)

    def _broken_by_computing(self, contract: Contract) -> Iterator[tuple[str, str]]:
        if not contract.is_oblivious:
            return
        if self.reveal and contract.reveal not in self.reveal:
            yield "reveal", f"'{contract.reveal}' is not among them"
        for group in self.never_together:
            if len(set(group) & set(contract.compute)) > 1:
                yield "never_together", "two parties of one house would compute, and read everything together"

    def _broken_by_columns(self, contract: Contract) -> Iterator[tuple[str, str]]:
        for column in contract.columns:
            if self.columns and column.name not in self.columns:
                yield "columns", "the contract names a column that may not be shared"
            if column.name in self.sensitive and column.role is Role.INSENSITIVE:
                yield "sensitive", "the contract calls a sensitive column insensitive"
            if column.least_level < self.least_levels.get(column.name, 0):
                yield "least_levels", "a column is to leave at a finer level than allowed"

    def refuse_decodable(self, estimate: DecodingEstimate | None, site: str) -> None:
        """Refuse if a simulated attack on the ciphertexts reads more of the own cells than allowed."""
        if estimate is None or self.accept_decodable_rows:
            return
        measured = estimate.high.cells if estimate.is_reliable else 1.0
        if not measured <= self.greatest_decodable_cells:
            raise AccessError(
                f"'{site}' does not agree to the contract: its policy says otherwise "
                "(greatest_decodable_cells: who gets ciphertexts can read more of its rows than it allows)"
            )
