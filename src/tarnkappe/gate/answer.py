"""What a gate says, and what it keeps of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable


@dataclasses.dataclass(frozen=True)
class Block:
    """A set of people and the multiset of values that they share, in an order that links nobody."""

    people: tuple[Hashable, ...]
    values: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the analyst may see, and for the owner alone: how many of the values are artificial.

    Attributes:
        blocks: the answer; each block is to be shown as one group.
        artificial: how many values belong to nobody. To know this number helps an attacker.
        least: fewer artificial values would not have done, as far as the strategy knows.
    """

    blocks: tuple[Block, ...]
    artificial: int = dataclasses.field(repr=False)
    least: int | None = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True)
class Refusal:
    """The answer would leave too few possible values to somebody. It does not say to whom."""


@dataclasses.dataclass(frozen=True)
class HistoryEntry:
    """What the owner must keep of an answer to go on after a restart: who was new, and the answer.

    Attributes:
        newcomers: who was new, and the value that he had.
        blocks: the answer.
        stored: marks of the newcomers' values as the table has them, by which a change is noticed; empty if
            nobody made them.
    """

    newcomers: tuple[tuple[Hashable, str], ...] = dataclasses.field(repr=False)
    blocks: tuple[Block, ...]
    stored: tuple[str, ...] = dataclasses.field(default=(), repr=False)
