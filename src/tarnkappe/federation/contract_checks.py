"""What a contract must hold to be kept: parties, columns, ciphers and models that go together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.federation.ciphers import GROUPS
from tarnkappe.federation.ciphers.paillier import LEAST_BITS, RECOMMENDED_BITS
from tarnkappe.federation.protocols import Partitioning, Protocol, Reveal
from tarnkappe.federation.regions import refuse_bad_regions, refuse_bad_ring

if TYPE_CHECKING:
    from tarnkappe.federation.contract import Contract

LEAST_RING = 3
COMPUTING = 3
MOST_COALITIONS = 100
"""Each coalition of insiders is a test of its own."""
DIVERSITIES = ("distinct-diversity", "entropy-diversity", "recursive-diversity")


def check_models(contract: Contract) -> None:
    """Refuse a contract whose models cannot be kept."""
    if not contract.models:
        raise ParameterError(
            "federation.contract-promises-nothing-name",
            "the contract promises nothing: name at least one model",
        )
    for part in (part for model in contract.models for part in model.parts):
        least = [part.k] if hasattr(part, "k") else []
        least += [part.l] if part.name in DIVERSITIES and hasattr(part, "l") else []
        if any(number <= 1 for number in least):
            raise ParameterError(
                "federation.protects-nobody-take-least-2",
                "{part} protects nobody: take at least 2",
                part=part,
            )
    if not 0 <= contract.suppression_limit <= 1:
        raise ParameterError(
            "federation.suppression-limit-0-1",
            "the suppression limit is from 0 to 1, not {suppression_limit}",
            suppression_limit=contract.suppression_limit,
        )
    for name in {column.name for column in contract.columns} & set(contract.person):
        raise ColumnError(
            "federation.tells-row-about-cannot-part",
            "'{name}' tells who a row is about: it cannot be part of a release",
            name=name,
        )


def check_ciphers(contract: Contract) -> None:
    """Refuse a contract whose ciphers cannot be kept."""
    weak = GROUPS[contract.group].comparison_only or (
        contract.protocol.is_masked and contract.counter_bits < LEAST_BITS
    )
    if weak and not contract.weak_ciphers:
        raise ParameterError(
            "federation.group-counters-bits-below-current",
            "the group '{group}' or counters of {counter_bits} bits are below current recommendations "
            "(ristretto255, {recommended_bits} bits): take others, or say weak_ciphers",
            group=contract.group,
            counter_bits=contract.counter_bits,
            recommended_bits=RECOMMENDED_BITS,
        )


def check_parties(contract: Contract) -> None:
    """Refuse a contract whose parties cannot be kept."""
    if len(set(contract.everybody)) < len(contract.everybody):
        raise ParameterError(
            "federation.two-parties-same-name",
            "two parties have the same name: every party needs its own",
        )
    if len(contract.parties) < 2:
        raise ParameterError(
            "federation.party-alone-needs-no-federation",
            "one party alone needs no federation: use `tarn anonymize`",
        )
    if contract.private_keys and contract.protocol in (Protocol.RING, Protocol.MASKED_RING):
        raise ParameterError(
            "federation.where-everybody-encrypts-everything",
            "where everybody encrypts everything, all keys are private: leave it out",
        )
    if contract.is_oblivious:
        _check_computing(contract)
    elif contract.compute or contract.reveal is not Reveal.RESULT or contract.insiders:
        raise ParameterError(
            "federation.only-oblivious-run-compute",
            "only an oblivious run has 'compute', 'reveal' and 'insiders': leave them out",
        )
    elif contract.protocol is Protocol.RING:
        _check_ring(contract)
    elif contract.helper is None:
        raise ParameterError(
            "federation.protocol-needs-helper-without-data",
            "the protocol '{protocol}' needs a helper without data who sides with none of them",
            protocol=contract.protocol,
        )
    elif contract.without_data:
        raise ParameterError(
            "federation.party-without-data-use",
            "a party without data is of use in a ring only: leave it out",
        )


def _check_computing(contract: Contract) -> None:
    if len(set(contract.compute)) != COMPUTING or not set(contract.compute) <= set(contract.everybody):
        raise ParameterError(
            "federation.oblivious-run-needs-three",
            "an oblivious run needs three parties that compute: three parties with data, or two of them"
            " and a helper",
        )
    if contract.helper is not None and contract.helper not in contract.compute:
        raise ParameterError(
            "federation.helper-not-compute-leave",
            "the helper '{helper}' does not compute: leave it out",
            helper=contract.helper,
        )
    if contract.distribution is not Partitioning.HORIZONTAL:
        raise ParameterError(
            "federation.protocol-oblivious-takes-horizontal",
            "the protocol 'oblivious' takes horizontal data only, not {distribution} ones: choose another",
            distribution=contract.distribution,
        )
    _check_insiders(contract)
    for name in ("without_data", "member", "private_keys"):
        if getattr(contract, name):
            raise ParameterError(
                "federation.oblivious-run-no-leave",
                "an oblivious run has no '{name}': leave it out",
                name=name,
            )


def _check_insiders(contract: Contract) -> None:
    sites = len(contract.parties)
    if not 0 <= contract.insiders < sites:
        raise ParameterError(
            "federation.insiders-leave-somebody",
            "of {sites} sites at most {most} can be insiders, not {insiders}: somebody must be left",
            sites=sites,
            most=sites - 1,
            insiders=contract.insiders,
        )
    if sum(math.comb(sites, size) for size in range(1, contract.insiders + 1)) > MOST_COALITIONS:
        raise ParameterError(
            "federation.too-many-coalitions",
            "{insiders} insiders of {sites} sites make more than {most} coalitions: name fewer insiders",
            insiders=contract.insiders,
            sites=sites,
            most=MOST_COALITIONS,
        )


def _check_ring(contract: Contract) -> None:
    if contract.helper is not None:
        raise ParameterError(
            "federation.ring-no-helper-leave",
            "a ring has no helper: leave it out, or choose the protocol 'star'",
        )
    holders = [name for name in contract.parties if name not in contract.without_data]
    if len(contract.parties) < LEAST_RING or (len(holders) < LEAST_RING and contract.master in holders):
        raise ParameterError(
            "federation.ring-parties-data-protects",
            "a ring of {holders} parties with data protects nobody: '{master}', which anonymizes, would"
            " get its own rows back in full encryption with no rows of others among them, and could "
            "read everybody's values that equal its own. Choose the protocol 'star', or put a party "
            "without data first",
            holders=len(holders),
            master=contract.master,
        )


def check_columns(contract: Contract) -> None:
    """Refuse a contract whose columns cannot be kept."""
    names = [column.name for column in contract.columns]
    if len(set(names)) < len(names):
        raise ColumnError(
            "federation.two-columns-contract-same", "two columns of the contract have the same name"
        )
    if not contract.quasi_identifiers:
        raise ColumnError(
            "federation.no-column-quasi-identifier",
            "no column is a quasi-identifier: say which columns an attacker may know",
        )
    vertical = contract.distribution is Partitioning.VERTICAL
    if contract.distribution is not Partitioning.HORIZONTAL and contract.key is None:
        raise ColumnError(
            "federation.vertically-distributed-data-need",
            "vertically distributed data need a key: the column by which people are joined",
        )
    if contract.distribution is Partitioning.HYBRID:
        _check_hybrid(contract)
    elif contract.regions:
        raise ParameterError(
            "federation.only-hybrid-distribution-regions",
            "only a hybrid distribution has regions: leave them out",
        )
    if contract.without_data and contract.distribution is not Partitioning.HORIZONTAL:
        raise ParameterError(
            "federation.party-without-data-no-people",
            "a party without data has no people to join: it is for horizontal data only",
        )
    if contract.fill_absent and contract.protocol is not Protocol.STAR:
        raise ParameterError(
            "federation.absent-people-can-filled",
            "absent people can be filled in by the helper of a star only: link them",
        )
    if contract.shared_tests and not contract.protocol.is_masked:
        raise ParameterError(
            "federation.only-masked-run-tests",
            "only a masked run has tests to share: leave shared_tests out",
        )
    if contract.check_master and contract.protocol is not Protocol.RING:
        raise ParameterError(
            "federation.only-ring-master-check",
            "only a ring has a master to check: leave check_master out",
        )
    if contract.link and (contract.fill_absent or not (vertical or contract.regions)):
        raise ParameterError(
            "federation.people-linked-vertical-data",
            "people are linked in vertical data or regions only, and instead of being filled in",
        )
    for column in contract.columns:
        if vertical and column.owner not in contract.parties:
            raise ColumnError(
                "federation.column-needs-owner-among",
                "the column '{column}' needs an owner among {parties}",
                column=column.name,
                parties=", ".join(contract.parties),
            )
        if not vertical and column.owner is not None:
            raise ColumnError(
                "federation.owner-but-all-parties",
                "'{column}' has an owner, but all parties have all columns",
                column=column.name,
            )


def _check_hybrid(contract: Contract) -> None:
    if contract.private_keys:
        raise ParameterError(
            "federation.hybrid-distribution-several-parties",
            "in a hybrid distribution several parties have a column, so its key cannot be private",
        )
    for column in contract.columns:
        if not column.owners or not set(column.owners) <= set(contract.parties):
            raise ColumnError(
                "federation.column-needs-owners-among",
                "the column '{column}' needs owners among {parties}",
                column=column.name,
                parties=", ".join(contract.parties),
            )
    if contract.regions:
        refuse_bad_regions(contract.regions, contract.parties, {c.name: c.owners for c in contract.columns})
        if contract.protocol is Protocol.RING:
            refuse_bad_ring(contract.regions, contract.parties, LEAST_RING)
    elif contract.protocol is not Protocol.STAR:
        raise ParameterError(
            "federation.hybrid-distribution-without-regions",
            "a hybrid distribution without regions needs the protocol 'star': only a helper that sees "
            "all shares at once can find out who has which people. Say which parties have the same ones"
            " (regions), or choose the star",
        )
