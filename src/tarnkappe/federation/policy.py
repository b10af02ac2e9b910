"""The rules of a site, which no contract overrides: `[policy]` in its file.

They are checked when a contract arrives and again before its run. Whatever gives protection away has a name
that says what is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from msgspec import Meta, field

from tarnkappe.errors import AccessError
from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.federation.contract import Contract, Protocol, Reveal
from tarnkappe.federation.decoding import DecodingEstimate
from tarnkappe.schema import MOST_NAMES, Name, Parameters, Problem, Rows, Share, param, rule
from tarnkappe.table import Role

Names = Annotated[tuple[Name, ...], Meta(max_length=MOST_NAMES)]
Level = Annotated[int, Meta(ge=0, le=10_000)]


class Policy(Parameters, kw_only=True):
    """What a site agrees to at most: `[policy]`."""

    least_k: Annotated[Rows, param("rows that a class of the release has at least", unit="rows")] = 5
    protocols: Annotated[
        tuple[Protocol, ...], param("protocols that may be used; any if empty", max_length=MOST_NAMES)
    ] = ()
    columns: Annotated[
        Names, param("columns that may be shared; all but identifiers if empty", kind="columns")
    ] = ()
    sensitive: Annotated[Names, param("columns that are never insensitive", kind="columns")] = ()
    least_levels: Annotated[
        Annotated[Mapping[Name, Level], Meta(max_length=MOST_NAMES)],
        param("the least level to which a column is generalized before anything is encrypted"),
    ] = field(default_factory=dict)
    greatest_suppression: Annotated[
        Share, param("the greatest share of rows that may be suppressed", kind="share")
    ] = 0.2
    ciphers: Annotated[Names, param("groups of commutative ciphers; all that are recommended if empty")] = ()
    proposers: Annotated[Names, param("who may propose contracts; all with a certificate if empty")] = ()
    reveal: Annotated[
        tuple[Reveal, ...],
        param("what an oblivious run may tell beside its release; anything if empty", max_length=MOST_NAMES),
    ] = ()
    never_together: Annotated[
        Annotated[tuple[Names, ...], Meta(max_length=MOST_NAMES)],
        param("groups of parties that are one house, of which one may compute in an oblivious run"),
    ] = ()
    least_insiders: Annotated[
        int,
        param("how many insiders an oblivious run of three sites or more takes into account", ge=0, le=100),
    ] = 1
    greatest_decodable_cells: Annotated[
        Share,
        param("the greatest share of own cells that an attack on ciphertexts may read", kind="share"),
    ] = 0.0
    accept_decodable_rows: Annotated[
        bool, param("whether rows may leave that who gets them can read for the most part")
    ] = False
    accept_weak_ciphers: Annotated[
        bool, param("whether ciphers may be used that can be broken, for trials")
    ] = False
    accept_repeated_people: Annotated[
        bool, param("whether one person may count as several in the own rows")
    ] = False

    def rules(self) -> Iterator[Problem]:
        """A group of one would forbid nothing, and whoever wrote it meant something."""
        if any(len(group) < 2 for group in self.never_together):
            yield rule(
                "federation.group-of-one",
                'a group has at least two parties: write never_together = [["A", "B"]]',
                "never_together",
            )

    def refuse(self, contract: Contract, proposer: str, site: str, *, sends_rows: bool) -> None:
        """Refuse a contract that breaks a rule; others are told the name of the rule.

        Args:
            contract: what is proposed.
            proposer: by whom.
            site: whose rules these are.
            sends_rows: whether the site would send rows, and not only help.
        """
        for broken, why in self._broken(contract, proposer, sends_rows):
            raise AccessError(
                "federation.not-agree-contract-policy",
                "'{site}' does not agree to the contract: its policy says otherwise ({rule}: {why})",
                site=site,
                rule=broken,
                why=why,
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
        if len(contract.parties) > 2 and contract.insiders < self.least_insiders:
            yield "least_insiders", f"at least {self.least_insiders}, not {contract.insiders}"
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
                "federation.not-agree-contract-policy-says",
                "'{site}' does not agree to the contract: its policy says otherwise "
                "(greatest_decodable_cells: who gets ciphertexts can read more of its rows than it allows)",
                site=site,
            )
