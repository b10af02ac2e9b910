"""Any other unique number, characteristic or code: what differs from row to row and is no measurement."""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from tarnkappe.risk.identifiers.detector import Detector, Finding, Kind
from tarnkappe.risk.identifiers.view import ColumnView

LEAST_ROWS = 10
DIFFERENT = 0.95
LONG = 6
_CODE = re.compile(r"[^\s,;]*[0-9][^\s,;]*|(?=.*[0-9])[A-Z0-9]+(?:[ -][A-Z0-9]+){1,5}")
_HASH = re.compile(
    r"[0-9a-fA-F]{16,128}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[A-Za-z0-9_-]{20,64}"
)
_MEASURED = re.compile(r"[-+]?[0-9.,]+(?:e[-+]?[0-9]+)?\s*[^\d\s]{0,6}", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class UniqueCodes(Detector):
    """Codes that nearly every row has one of its own.

    Whole numbers count as codes if they run through the rows one by one, or if all have the same number of
    digits, six or more: measurements have a varying number of digits. Numbers with decimals are measured.
    """

    def look(self, column: ColumnView) -> Finding | None:
        """Nothing: that cells are unique tells less than any other header or cell."""

    def guess(self, column: ColumnView) -> Finding | None:
        """Whether the values are codes, and nearly all different."""
        if column.filled < LEAST_ROWS or column.distinct_share < DIFFERENT:
            return self._hashes(column)
        codes = self._whole_numbers(column) if column.numbers is not None else self._texts(column)
        if not codes:
            return None
        return self.finding(
            column, column.filled, f"nearly every row has a {codes} of its own, which names one person"
        )

    def _hashes(self, column: ColumnView) -> Finding | None:
        """A hash or a random identifier stands for a person even if several rows have the same."""
        if column.filled < LEAST_ROWS or column.numbers is not None or column.distinct < 2:
            return None
        if column.share_of(lambda text: bool(_HASH.fullmatch(text) and re.search(r"\d", text))) < DIFFERENT:
            return None
        return self.finding(column, column.filled, "the values are hashes or random identifiers of persons")

    def _whole_numbers(self, column: ColumnView) -> str:
        numbers = column.numbers
        if numbers is None or not column.is_whole or len(numbers) == 0:
            return ""
        if numbers.max() - numbers.min() < 1.05 * len(numbers):
            return "running number"
        lengths = np.array([len(text.lstrip("-")) for text in column.sample])
        if (lengths >= LONG).all() and (lengths == lengths[0]).all():
            return "number"
        return "number" if self.named(column) else ""

    def _texts(self, column: ColumnView) -> str:
        def is_code(text: str) -> bool:
            measured = _MEASURED.fullmatch(text) and not text.isdigit()
            return bool(_CODE.fullmatch(text)) and not measured and len(text) >= 4

        return "code" if column.share_of(is_code) >= DIFFERENT else ""


UNIQUE_CODES = (
    UniqueCodes(
        "unique-code",
        (Kind.OTHER,),
        "unique numbers or codes",
        (
            "id",
            "identifier",
            "number",
            "no",
            "nr",
            "nummer",
            "code",
            "key",
            "uuid",
            "guid",
            "pseudonym",
            "kennung",
        ),
    ),
)
