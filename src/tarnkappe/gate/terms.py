"""The terms under which answers are given: a store is held to those of its first answers."""

from __future__ import annotations

from typing import Any

from tarnkappe.errors import InputError
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import RefusedQuery
from tarnkappe.state.key import Key
from tarnkappe.table import read
from tarnkappe.table.encoding import as_text

WOULD_BREAK = "this cannot be answered; whether it can does not depend on anybody's sensitive values"
WOULD_BREAK_NAIVELY = "this cannot be answered: somebody would be left with too few possible values"


def known_people(policy: GatePolicy, key: Key) -> frozenset[str]:
    """The marks of the people whose values the policy declares as known."""
    if policy.known is None:
        return frozenset()
    table = read(policy.known)
    if policy.key not in table.column_names:
        raise InputError(
            "gate.no-column", "{known}: there is no column '{key}'", known=policy.known, key=policy.key
        )
    people = as_text(table.data.column(policy.key).combine_chunks()).drop_null().to_pylist()
    return frozenset(key.mark("person", [person]).hex() for person in people)


def terms_of(policy: GatePolicy, key: Key, known: frozenset[str]) -> dict[str, Any]:
    """What answers were given under: with other settings they would not add up."""
    return {
        "known": sorted(known),
        "table": policy.table,
        "key column": policy.key,
        "k": {column.name: column.k for column in policy.sensitive},
        "values": {column.name: column.values for column in policy.sensitive},
        "values from": {column.name: [column.values_from, column.holders] for column in policy.sensitive},
        "alike": {column.name: sorted(map(sorted, column.alike)) for column in policy.sensitive},
        "collusion": policy.collusion,
        "groups": {name: sorted(users) for name, users in policy.groups.items()},
        "on_violation": policy.on_violation,
        "leaks": sorted(policy.open_leaks),
        "surplus": {name: getattr(policy.surplus, name) for name in ("share", "least", "spread")},
        "strategy": "veil" if policy.strategy == "veil" else "pool",
        "draw": {name: getattr(policy.surplus, name) for name in ("root", "draw")},
        "key": key.fingerprint,
    }


def outside_limits(policy: GatePolicy, people: int) -> RefusedQuery | None:
    """The size of a result follows from the quasi-identifiers alone, so it is no secret."""
    least, most = policy.min_rows, policy.max_rows
    if people < least and least > 1:
        return RefusedQuery(f"fewer than {least} people: ask for more")
    if most is not None and people > most:
        return RefusedQuery(f"more than {most} people: ask for fewer")
    return None
