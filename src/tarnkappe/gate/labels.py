"""The public list of a sensitive column: what its stored values are called in answers.

Nothing that an answer shows, and nothing by which it is decided, goes beyond the list: a value that the list
lacks is `(other)`, whether the table had it from the beginning or has it since yesterday. So the list is the
same in every table that is possible, and nobody learns from it, or from its growing, that a value has a
holder.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate.domain import LabelDomain
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.policy_columns import OTHER, Sensitive
from tarnkappe.gate.signature_check import unlike
from tarnkappe.table.table import MISSING

NUMBERS = {
    "smallint": int,
    "integer": int,
    "bigint": int,
    "double precision": float,
    "numeric": Decimal,
}
"""The types of numbers, and how the text of one is read."""


class Labels:
    """The labels of a column.

    >>> labels = Labels(Sensitive("disease", k=2, values=("flu", "cold")))
    >>> labels.all, labels.of("flu"), labels.of("gout"), labels.of(None)
    (['(other)', 'cold', 'flu'], 'flu', '(other)', '(other)')
    >>> Labels(Sensitive("pay", k=2, values=("10", "20.5")), numbers=True).of("20.50")
    '20.5'
    """

    def __init__(self, column: Sensitive, *, numbers: bool = False) -> None:
        assert column.values is not None, "a policy without a list is refused before"
        self.all = sorted([*column.values, OTHER])
        different = unlike(column, self.all, frozenset(range(len(self.all))))
        if different < column.k:
            raise GuaranteeError(
                "gate.different-values-nobody-can-keep",
                "'{column}' has {different} different {different:value|values}: nobody can keep {k} of them",
                column=column.name,
                different=different,
                k=column.k,
            )
        merged = {OTHER, MISSING} & set(self.all)  # a missing value, and the text that it is shown as
        floors = dict.fromkeys(column.values, column.holders or 0) if column.values_from == "table" else {}
        self.domain = LabelDomain(tuple(self.all), frozenset(merged), floors)
        self._texts = frozenset(self.all)
        known = {_number(value): value for value in column.values} if numbers else {}
        self._numbers = {number: value for number, value in known.items() if number is not None}

    def of(self, stored: str | None) -> str:
        """How a stored value is shown: by its own name if the list has it."""
        text = MISSING if stored is None else stored
        if text in self._texts:
            return text
        number = _number(text) if self._numbers else None
        return OTHER if number is None else self._numbers.get(number, OTHER)


def shown_as_numbers(policy: GatePolicy, column: Sensitive, kind: str) -> bool:
    """Whether the values of a column are shown as numbers: those of the table and of the list are."""
    if policy.form == "anatomy" or kind not in NUMBERS:
        return False
    listed = [value for value in column.values or () if value != MISSING]
    return all(_number(value) is not None and _fits(kind, value) for value in listed)


def _fits(kind: str, value: str) -> bool:
    try:
        NUMBERS[kind](value)
    except (ValueError, ArithmeticError):
        return False
    return True


def _number(text: str) -> Decimal | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
