"""Plan nodes that no rewrite rule knows: a bound on the rows of a person, and SQL above the protection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from tarnkappe.algebra.plan import Plan, Unary, expect_children, refuse_repetition
from tarnkappe.errors import ParameterError


@dataclass(frozen=True)
class RowBound(Unary):
    """At most so many rows of each person, drawn at random; rows of nobody are left out.

    Which of her rows stay depends on nobody else: one person more or less changes at most so many rows.
    """

    rows: int
    person: str | None = None
    """The column that tells people apart; set when a plan runs, not when written."""

    def __post_init__(self) -> None:
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
            raise ParameterError(
                "algebra.bound-rows-must-whole", "A bound of rows must be a whole number of at least 1."
            )


@dataclass(frozen=True)
class PostProcessing(Plan):
    """Any SQL over results that are protected already, or that nothing has to protect; only at the top.

    The statement is that of DuckDB and reads its inputs by name. It is a function of their rows alone, so it
    can tell nothing that they do not: every promise is verified on them. No rule knows this operator,
    and nothing moves through it.

    Attributes:
        inputs: what the statement reads.
        names: how it calls each of them.
        statement: in DuckDB's SQL.
    """

    inputs: tuple[Plan, ...]
    names: tuple[str, ...]
    statement: str

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.names):
            raise ParameterError(
                "algebra.every-input-post-processing", "Every input of post-processing has a name."
            )
        refuse_repetition(self.names, "the inputs of post-processing")

    @property
    def columns(self) -> tuple[str, ...]:
        """None are known before it runs: the engine tells them."""
        return ()

    @property
    def children(self) -> tuple[Plan, ...]:
        return self.inputs

    def with_children(self, *children: Plan) -> Self:
        expect_children(children, len(self.inputs))
        return replace(self, inputs=children)
