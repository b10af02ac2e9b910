"""Where a lowered plan runs: what the operators ask of an engine during one query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import pyarrow as pa

from tarnkappe.algebra.lowering.rows import LoweredRows

REFUSED = "tarnkappe refuses: "
"""How the message of an engine begins that passes on one of ours."""


class EngineSnapshot(ABC):
    """One query's view of an engine: the same snapshot from its first statement to its last.

    Everything that is uploaded or kept is gone when the query ends.
    """

    like_escape: ClassVar[str] = ""
    """The character that the engine's LIKE takes as an escape."""

    has_codes: ClassVar[bool] = False
    """Whether an uploaded dictionary stays one: then labels leave the engine as codes."""

    @abstractmethod
    def relation(self, name: str, *, numbered: bool) -> LoweredRows:
        """A base relation, if asked for with ids: its rows counted from 0 in the order they are stored."""

    @abstractmethod
    def fetch(self, expression: Any, what: str = "querying") -> pa.Table:
        """The rows of an expression, in memory; `what` is told to who watches the progress."""

    @abstractmethod
    def upload(self, rows: pa.Table) -> Any:
        """A small table as a relation of the engine."""

    @abstractmethod
    def keep(self, expression: Any) -> Any:
        """An expression computed once, as a relation of the engine."""

    @abstractmethod
    def secret(self, secret: str) -> Any:
        """A secret text in a statement, in such a way that the engine does not write it into its log."""

    @abstractmethod
    def hashed(self, text: Any) -> Any:
        """The SHA-256 of a text, as something that compares as the number does."""

    @abstractmethod
    def digits(self, digits: str) -> Any:
        """64 hexadecimal digits, as something that compares with a hash."""

    @abstractmethod
    def as_hash(self, digits: Any) -> Any:
        """A column of such digits, likewise."""

    @abstractmethod
    def prefix(self, drawn: Any, digits: int) -> Any:
        """The first hexadecimal digits of a hash, as text."""

    @abstractmethod
    def refusal(self, message: str, kind: Any) -> Any:
        """An expression of a type that makes the query fail where it is evaluated, with a message of ours."""

    @abstractmethod
    def quantile(self, cell: Any, at: float) -> Any:
        """The aggregate at a share of the way from the least to the greatest value, interpolated."""

    @abstractmethod
    def about_distinct(self, cell: Any) -> Any:
        """The aggregate that estimates how many different values there are."""
