"""What every plan node is and can do; the operators themselves are in `nodes`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from tarnkappe.errors import ColumnError


class Plan(ABC):
    """A relation-valued expression."""

    @property
    @abstractmethod
    def children(self) -> tuple[Plan, ...]:
        """The plans whose results this node works on: none, one or two (left, right)."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns of the result, without repetition, in a stable order that carries no meaning."""

    @abstractmethod
    def with_children(self, *children: Plan) -> Self:
        """The same operator with the same parameters on other children."""

    @cached_property
    def schema(self) -> frozenset[str]:
        """The columns as a set: R."""
        return frozenset(self.columns)

    def check(self) -> None:
        """Raise ColumnError where an operator of this tree names what its child does not have."""
        for child in self.children:
            child.check()

    def walk(self) -> Iterator[Plan]:
        """This node and all below it, parents before children, left before right."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Unary(Plan):
    """An operator on one child; unless it says otherwise, its result has the child's columns."""

    child: Plan

    @property
    def children(self) -> tuple[Plan, ...]:
        return (self.child,)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.child.columns

    def with_children(self, *children: Plan) -> Self:
        expect_children(children, 1)
        return replace(self, child=children[0])

    def require(self, names: Iterable[str], what: str) -> None:
        """Raise ColumnError if the child lacks one of the columns."""
        missing = sorted(set(names) - self.child.schema)
        if missing:
            raise ColumnError(
                "algebra.names-but",
                "{what} names {missing}, but there are only {columns}.",
                what=what,
                missing=listed(missing),
                columns=listed(self.child.columns),
            )


@dataclass(frozen=True)
class Binary(Plan):
    """An operator on two children."""

    left: Plan
    right: Plan

    @property
    def children(self) -> tuple[Plan, ...]:
        return self.left, self.right

    def with_children(self, *children: Plan) -> Self:
        expect_children(children, 2)
        return replace(self, left=children[0], right=children[1])


def canonical(columns: Iterable[str], what: str) -> tuple[str, ...]:
    """The columns of a parameter in the one order by which plans compare."""
    columns = tuple(columns)
    refuse_repetition(columns, what)
    return tuple(sorted(columns))


def refuse_repetition(columns: Iterable[str], what: str) -> None:
    """Raise ColumnError if a column stands twice."""
    repeated = [column for column, times in Counter(columns).items() if times > 1]
    if repeated:
        raise ColumnError(
            "algebra.stands-more-once",
            "{repeated} stands more than once in {what}.",
            repeated=listed(repeated),
            what=what,
        )


def expect_children(children: tuple[Plan, ...], number: int) -> None:
    """Raise ValueError if a rewrite gives an operator a wrong number of children."""
    if len(children) != number:
        raise ValueError(f"this operator has {number} children, not {len(children)}")


def listed(columns: Iterable[str]) -> str:
    """Names as a message shows them."""
    return ", ".join(f"'{column}'" for column in sorted(columns))
