"""Replay one attack on a released table."""

from __future__ import annotations

from typing import Any

from tarnkappe.risk.attacks import ATTACKS, NOTHING, AttackResult, Background, Target
from tarnkappe.risk.attacks.attack import EXAMPLES
from tarnkappe.table import Table


def attack(
    name: str,
    table: Table | None,
    background: Background = NOTHING,
    *,
    shown: int | None = EXAMPLES,
    **parameters: Any,
) -> AttackResult:
    """Attack a release and tell who falls victim, what is learned and how surely.

    Args:
        name: the attack.
        table: the release; its roles tell the columns. None for attacks on answers alone.
        background: what the attacker has beside it.
        shown: how many groups of victims are told, None for all.
        parameters: the parameters of the attack, such as `column` or `k`.

    >>> import pyarrow as pa
    >>> ill = ["flu", "flu", "cold", "flu"]
    >>> ward = Table(pa.table({"age": ["30-39", "30-39", "40-49", "40-49"], "illness": ill}))
    >>> ward = ward.with_roles(quasi_identifiers=["age"], sensitive=["illness"])
    >>> town = Table(pa.table({"name": ["Ann", "Bob"], "age": ["34", "41"]})).with_roles(identifiers=["name"])
    >>> found = attack("homogeneity", ward, Background(people=town), column="illness")
    >>> [(victim.who, victim.learned, victim.certainty) for victim in found.examples]
    [(('Ann',), 'flu', 1.0)]
    """
    chosen = ATTACKS.create(name, parameters)
    target = Target(None, background) if table is None else Target.of(table, background)
    return chosen.run(target, shown=shown)
