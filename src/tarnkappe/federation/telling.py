"""What a party tells others and its own log of what went wrong."""

from __future__ import annotations

from tarnkappe.errors import (
    AccessError,
    ColumnError,
    HierarchyError,
    InputError,
    NoSolutionError,
    OutputError,
    ParameterError,
    ProtocolError,
    Reason,
    TarnkappeError,
)
from tarnkappe.federation.contract import Contract, Partitioning

LONGEST_RUN = 86_400.0


SPOKEN = (ProtocolError, AccessError, NoSolutionError)
"""Errors whose texts are made of the contract and of names of parties alone: others may read them."""


REASONS: dict[type[Exception], Reason] = {
    HierarchyError: Reason(
        "federation.hierarchy-lacks-value-not-fit", "a hierarchy lacks a value, or does not fit the contract"
    ),
    ColumnError: Reason(
        "federation.column-contract-missing-not-fit",
        "a column of the contract is missing, does not fit the contract, or identifies people",
    ),
    ParameterError: Reason(
        "federation.value-setting-not-fit", "a value or a setting does not fit the contract"
    ),
    InputError: Reason("federation.files-cannot-read", "its files cannot be read"),
    OutputError: Reason("federation.release-cannot-written", "its release cannot be written"),
}


def told_to_others(error: Exception, party: str) -> str:
    """What others are told of an error at a party: never a text that could quote a cell."""
    if isinstance(error, SPOKEN):
        return error.reason if isinstance(error, TarnkappeError) else str(error)
    for kind, reason in REASONS.items():
        if isinstance(error, kind):
            return Reason(
                "federation.cannot-take-part-own",
                "'{party}' cannot take part: {reason}. Its own log says more; the run ends",
                party=party,
                reason=reason,
            )
    return Reason(
        "federation.failed-run-ends",
        "'{party}' failed with a {name}: the run ends",
        party=party,
        name=type(error).__name__,
    )


def told_at_home(error: Exception) -> str:
    """What the own log says of an error: texts of our own errors, of others only what they are."""
    return str(error) if isinstance(error, TarnkappeError) else type(error).__name__


def is_counted(contract: Contract) -> bool:
    """Whether the rows that the parties have sent add up to those that are released or suppressed."""
    return contract.distribution is Partitioning.HORIZONTAL and contract.member is None
