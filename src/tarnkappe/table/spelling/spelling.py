"""The spelling of a column: what its texts stand for, and how missing values are written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

from tarnkappe.table.spelling.dates import DateFormat
from tarnkappe.table.spelling.moments import DateOrder, Moment
from tarnkappe.table.spelling.numbers import COMMA, NumberFormat


class SpellingKind(StrEnum):
    """What the texts of a column stand for."""

    TEXT = "text"
    NUMBER = "number"
    CODE = "code"
    """Digits that are no quantity: leading zeros, a plus sign, or too many of them."""
    DATE = "date"
    BOOLEAN = "boolean"


@dataclasses.dataclass(frozen=True)
class Spelling:
    """How one column is written.

    Attributes:
        kind: what its texts stand for.
        number: with numbers that are not written plainly, how they are.
        date: with dates that are not written in ISO form, how they are.
        missing: the words that stand for missing values here, besides the empty field.
        mark: the one by which missing values are written back.
        unread: the share of filled cells that are not of this kind and stay texts of their own.
        label: what a statistics package says about the column: a second header.
        order: the labels of its values, in the order of the codes that the package keeps for them.
    """

    kind: SpellingKind = SpellingKind.TEXT
    number: NumberFormat | None = None
    date: DateFormat | None = None
    missing: tuple[str, ...] = ()
    mark: str = ""
    unread: float = 0.0
    label: str = ""
    order: tuple[str, ...] = ()

    def number_of(self, text: str) -> Decimal | None:
        """The number that a text of this column stands for, or None if it is none."""
        return None if self.number is None else self.number.parse(text)

    def moment_of(self, text: str) -> Moment | None:
        """The moment that a text of this column stands for, or None if it is none."""
        return None if self.date is None else self.date.parse(text)

    @property
    def description(self) -> str:
        """In a few words, for people.

        >>> Spelling(SpellingKind.NUMBER, NumberFormat(",", "%")).description
        'numbers with a decimal comma, in %'
        """
        if self.kind is SpellingKind.NUMBER:
            said = "numbers"
            if self.number is not None:
                said += " with a decimal comma" if self.number.decimal == COMMA else ""
                said += f", in {self.number.unit}" if self.number.unit else ""
        elif self.kind is SpellingKind.DATE:
            said = "dates" if self.date is None else f"dates like {' or '.join(self._date_examples())}"
            if self.date is not None and self.date.open:
                said += ", day and month not told apart"
        else:
            said = {SpellingKind.TEXT: "text", SpellingKind.CODE: "codes", SpellingKind.BOOLEAN: "yes or no"}[
                self.kind
            ]
        return said + (f", missing as {' or '.join(self.missing)}" if self.missing else "")

    def _date_examples(self) -> list[str]:
        assert self.date is not None
        if self.date.pattern:
            return [self.date.pattern]
        day_first = {"a": "31", "b": "12"}
        month_first = {"a": "12", "b": "31"}
        parts = {"Y": "1980", "y": "80", "m": "12", "d": "31", "B": "Dec", "t": "23:59:00"}
        examples = []
        for shape, order in self.date.orders:
            known = parts | (month_first if order is DateOrder.MONTH_FIRST else day_first)
            examples.append(
                "Excel's numbers" if shape == "serial" else "".join(known.get(c, c) for c in shape)
            )
        return examples

    def to_dict(self) -> dict[str, Any]:
        """The spelling as JSON or TOML would hold it."""
        content: dict[str, Any] = {"kind": str(self.kind)}
        if self.number is not None:
            content["number"] = {"decimal": self.number.decimal, "unit": self.number.unit}
        if self.date is not None:
            content["date"] = {
                "orders": {shape: str(order) for shape, order in self.date.orders},
                "latest_year": self.date.latest_year,
                **({"pattern": self.date.pattern} if self.date.pattern else {}),
            }
        if self.missing:
            content["missing"] = list(self.missing)
        if self.unread:
            content["unread"] = self.unread
        if self.label:
            content["label"] = self.label
        if self.order:
            content["order"] = list(self.order)
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Spelling:
        """The spelling that `to_dict` wrote."""
        number, date, marks = content.get("number"), content.get("date"), tuple(content.get("missing", ()))
        return cls(
            SpellingKind(content["kind"]),
            None if number is None else NumberFormat(number["decimal"], number["unit"]),
            None
            if date is None
            else DateFormat(
                tuple((shape, DateOrder(order)) for shape, order in date["orders"].items()),
                date["latest_year"],
                date.get("pattern", ""),
            ),
            marks,
            marks[0] if marks else "",
            content.get("unread", 0.0),
            content.get("label", ""),
            tuple(content.get("order", ())),
        )
