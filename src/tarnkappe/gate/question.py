"""What an analyst may ask, after it was read and vetted, and what he gets."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tarnkappe.gate.estimate import PublicDraw


@dataclasses.dataclass(frozen=True)
class GateQuery:
    """A selection and a projection of the protected table.

    Attributes:
        columns: what to show, in this order: quasi-identifiers and sensitive columns, never the key.
        where: which people, as vetted SQL over quasi-identifiers alone: names quoted, one ? for each value,
            nothing that only one database understands. None for everybody.
        parameters: the values, in the order of their signs.
    """

    columns: tuple[str, ...]
    where: str | None = None
    parameters: tuple[Any, ...] = ()


@dataclasses.dataclass(frozen=True)
class AnswerRows:
    """An answer as it may be shown.

    Attributes:
        columns: the names of the columns, as asked for (the form `anatomy` adds one for the group).
        types: the type of each, by its PostgreSQL name: "bigint", "double precision", "text", ...
        rows: the cells, in an order that links nobody.
        notice: what the client is told beside the rows.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    notice: str = ""


@dataclasses.dataclass(frozen=True)
class CountedAnswer:
    """An answer as it is estimated from: nothing in it goes beyond the rows of the answer and the policy.

    Attributes:
        people: how many people are in it.
        shown: how often each label is in it, by sensitive column.
        draws: what is public about how its values were drawn, by sensitive column.
    """

    people: int
    shown: Mapping[str, Mapping[str, int]]
    draws: Mapping[str, PublicDraw]


@dataclasses.dataclass(frozen=True)
class RefusedQuery:
    """No answer. The reason depends on nothing that is secret."""

    reason: str
