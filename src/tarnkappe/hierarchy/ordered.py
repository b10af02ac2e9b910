"""Ordered values: neighbours become groups, and neighbouring groups become larger groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import pyarrow as pa
from msgspec import Meta

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy.builder import (
    MOST_LEVELS,
    MOST_MEMBERS,
    Builder,
    Domain,
    Labels,
    distinct_names,
    per_level,
)
from tarnkappe.hierarchy.numbers import parse_numbers
from tarnkappe.schema import MANY_ROWS, Listed, Name, Problem, param, rule, shown

Size = Annotated[int, Meta(ge=2, le=MANY_ROWS)]


class Ordered(Builder):
    """Groups of consecutive values, then groups of consecutive groups, by a given or the natural order.

    Numbers are ordered by size, dates by time, texts by letters with the numbers in them read as
    numbers (`9th` before `10th`). A group is named by its first and last value.

    >>> import pyarrow as pa
    >>> grades = Ordered(size=[2, 2], order=["mild", "moderate", "severe", "critical", "fatal"])
    >>> for row in grades.build(pa.array(["mild", "fatal"])).rows(): print(*row, sep=";")
    critical;severe to critical;mild to critical;*
    fatal;fatal;fatal;*
    mild;mild to moderate;mild to critical;*
    moderate;mild to moderate;mild to critical;*
    severe;severe to critical;mild to critical;*
    """

    name = "ordered"

    size: Annotated[
        Size | Annotated[Listed[Size], Meta(min_length=1, max_length=MOST_LEVELS)],
        param(
            "how many values make a group of level 1, then how many groups make one of the next level",
            unit="values",
            start=(2, 4),
        ),
    ]
    order: Annotated[
        Annotated[Listed[Name], Meta(max_length=MOST_MEMBERS)] | None,
        param("all values in their order; without it, their natural order", kind="values"),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """Every value has one place."""
        repeated = next((value for value, times in Counter(self.order or ()).items() if times > 1), None)
        if repeated is not None:
            yield rule("ordered.twice", "the value {value} is listed twice", "order", value=shown(repeated))

    @classmethod
    def examples(cls) -> tuple[Ordered, ...]:
        """Instances for the common tests."""
        return (cls(size=2), cls(size=(3, 2, 2)))

    @property
    def height(self) -> int:
        """One level for each size, and the root."""
        return len(self._sizes) + 1

    @property
    def looks_at_data(self) -> bool:
        """A given order has all values; the natural one has those that occur."""
        return self.order is None

    @property
    def listed(self) -> tuple[str, ...]:
        """The values of the given order."""
        return tuple(self.order or ())

    def generalize(self, domain: Domain) -> list[Labels]:
        """The group of each value on each level."""
        order = _natural_order(domain) if self.order is None else self._given_order(domain)
        group = {index: position for position, index in enumerate(order)}
        levels = []
        for size in self._sizes:
            group = {index: number // size for index, number in group.items()}
            members: dict[int, list[str]] = {}
            for index in order:
                members.setdefault(group[index], []).append(domain.texts[index])
            names = distinct_names(
                texts[0] if len(texts) == 1 else f"{texts[0]} to {texts[-1]}" for texts in members.values()
            )
            levels.append([names[group[index]] for index in range(len(domain))])
        return levels

    def _given_order(self, domain: Domain) -> list[int]:
        rank = {value: position for position, value in enumerate(self.listed)}
        for text in domain.texts:
            if text not in rank:
                raise HierarchyError(
                    "hierarchy.ordered-lacks-value-add",
                    "ordered lacks the value '{text}' of {owner}: add it to the order",
                    text=text,
                    owner=domain.owner,
                )
        return sorted(range(len(domain)), key=lambda i: rank[domain.texts[i]])

    @property
    def _sizes(self) -> tuple[int, ...]:
        return per_level(self.size)


def _natural_order(domain: Domain) -> list[int]:
    positions = range(len(domain))
    if not pa.types.is_string(domain.values.type):
        return list(positions)
    numbers = parse_numbers(domain.texts)
    if numbers is not None:
        return sorted(positions, key=lambda i: (numbers[i], domain.texts[i]))
    return sorted(positions, key=lambda i: (_natural_key(domain.texts[i]), domain.texts[i]))


def _natural_key(text: str) -> list[tuple[bool, int, str]]:
    """Numbers and the texts between them; numbers sort by size and before any text."""
    parts = re.findall(r"0*([0-9]+)|([^0-9]+)", text)
    return [(bool(other), len(digits), digits or other) for digits, other in parts]
