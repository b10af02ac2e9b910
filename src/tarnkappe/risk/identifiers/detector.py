"""What a detector is: the contract that every member of this folder fulfils.

A detector knows one kind of identifier and looks at one column at a time: at its cells first, then at its
header. A header alone proves nothing, and a header that says something else disproves nothing: it only
decides between kinds that look the same, such as telephone and fax numbers. The common tests in
`tests/risk/test_identifiers.py` run over `DETECTORS`.
"""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum, StrEnum

from tarnkappe.risk.identifiers.view import DECIMAL, ColumnView
from tarnkappe.table import Role

MOSTLY = 0.6
"""A column holds what this share of its cells, or of its different values, looks like."""


class Certainty(StrEnum):
    """How well founded the proposed role of a column is."""

    SURE = "sure"
    """The values prove it."""
    LIKELY = "likely"
    """Header and values agree."""
    GUESS = "guess"
    """Nothing explains the column: somebody should look at it."""


class IdentifierKind(IntEnum):
    """The 18 identifiers of the safe harbor rule of HIPAA (45 CFR 164.514(b)(2)), by their place in it."""

    NAME = 1
    PLACE = 2
    DATE = 3
    PHONE = 4
    FAX = 5
    EMAIL = 6
    SOCIAL_SECURITY = 7
    MEDICAL_RECORD = 8
    HEALTH_PLAN = 9
    ACCOUNT = 10
    LICENCE = 11
    VEHICLE = 12
    DEVICE = 13
    URL = 14
    IP_ADDRESS = 15
    BIOMETRIC = 16
    PHOTO = 17
    OTHER = 18

    @property
    def title(self) -> str:
        """The kind in words."""
        return TITLES[self]


TITLES = {
    IdentifierKind.NAME: "names",
    IdentifierKind.PLACE: "places smaller than a state",
    IdentifierKind.DATE: "dates more exact than a year, or ages over 89",
    IdentifierKind.PHONE: "telephone numbers",
    IdentifierKind.FAX: "fax numbers",
    IdentifierKind.EMAIL: "e-mail addresses",
    IdentifierKind.SOCIAL_SECURITY: "social security numbers",
    IdentifierKind.MEDICAL_RECORD: "medical record numbers",
    IdentifierKind.HEALTH_PLAN: "health plan numbers",
    IdentifierKind.ACCOUNT: "account numbers",
    IdentifierKind.LICENCE: "certificate or licence numbers",
    IdentifierKind.VEHICLE: "vehicle identifiers and licence plates",
    IdentifierKind.DEVICE: "device identifiers and serial numbers",
    IdentifierKind.URL: "web addresses",
    IdentifierKind.IP_ADDRESS: "IP addresses",
    IdentifierKind.BIOMETRIC: "biometric identifiers",
    IdentifierKind.PHOTO: "photographs",
    IdentifierKind.OTHER: "other unique numbers or codes",
}


@dataclasses.dataclass(frozen=True)
class IdentifierFinding:
    """Identifiers in a column.

    Attributes:
        column: the column.
        detector: the name of the detector that found them.
        kinds: the kinds that they may be of; several where these look the same.
        cells: how many cells hold one.
        reason: why, in a sentence for a lay reader. It quotes no cell.
        role: what the column should therefore be.
        whole: whether the cells are such identifiers, and do not just contain some.
        by_variety: whether nothing speaks for it but that numbers hardly repeat.
    """

    column: str
    detector: str
    kinds: tuple[IdentifierKind, ...]
    cells: int
    reason: str
    role: Role
    whole: bool = True
    by_variety: bool = False


@dataclasses.dataclass(frozen=True)
class Detector(ABC):
    """Recognizes one kind of identifier.

    Attributes:
        name: its name.
        kinds: what it recognizes.
        what: the same in a few words, in the plural.
        headers: words that a header of such a column has; several words in a row are written with spaces.
        role: what a column of them should be.
    """

    name: str
    kinds: tuple[IdentifierKind, ...]
    what: str
    headers: tuple[str, ...] = ()
    role: Role = Role.IDENTIFIER

    @abstractmethod
    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """What the cells of a column tell."""

    def guess(self, column: ColumnView) -> IdentifierFinding | None:
        """What its header tells, or anything else that is weaker than what cells tell."""
        return None

    def named(self, column: ColumnView) -> bool:
        """Whether the header speaks of such identifiers."""
        return column.says(self.headers)

    def finding(self, column: ColumnView, cells: int, reason: str) -> IdentifierFinding:
        """A column of such identifiers."""
        return IdentifierFinding(column.name, self.name, self.kinds, cells, reason, self.role)

    def inside_text(self, column: ColumnView, cells: int) -> IdentifierFinding | None:
        """Some such identifiers inside the cells of a column: text that holds them must not be released."""
        if not cells:
            return None
        number = "1 cell contains" if cells == 1 else f"{cells:,} cells contain"
        reason = f"{number} {self.what}"
        return IdentifierFinding(
            column.name, self.name, self.kinds, cells, reason, Role.IDENTIFIER, whole=False
        )


@dataclasses.dataclass(frozen=True)
class ShapeDetector(Detector):
    """Recognizes identifiers by the shape of a cell.

    Attributes:
        shape: a pattern that a whole cell has; empty if there is none that tells the kind by itself.
        valid: what else must hold of a cell, such as a check digit.
        inside: a pattern to be found inside longer cells (free text), in which a single one counts.
        plausible: a pattern that is good enough if the header speaks of such identifiers.
        distinct: the least rarefied share of different values, for shapes that categories have too.
        most: the share of the cells, or of the different values, that must have the shape.
        decimals: whether such an identifier may be a decimal number.
    """

    shape: str = ""
    valid: Callable[[str], bool] = lambda _: True
    inside: str = ""
    plausible: str = ""
    distinct: float = 0.0
    most: float = MOSTLY
    decimals: bool = False

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """Whole cells first, then cells that contain one."""
        shape = re.compile(self.shape)
        share = 0.0
        if self.shape:
            share = self._share(column, lambda text: bool(shape.fullmatch(text)) and self.valid(text))
        if self.shape and share >= self.most:
            reason = f"{percent(share)} of the values are {self.what}{self._doubt(column)}"
            return self.finding(column, round(share * column.filled), reason)
        return self.inside_text(column, column.cells_with(self.inside, self.valid)) if self.inside else None

    def guess(self, column: ColumnView) -> IdentifierFinding | None:
        """What the header speaks of, if the cells may be it."""
        if not self.plausible or not self.named(column) or (column.is_amount and not self.decimals):
            return None
        plausible = re.compile(self.plausible)
        share = self._share(column, lambda text: bool(plausible.fullmatch(text)))
        if share < self.most:
            return None
        reason = f"the header speaks of {self.what}, and the values may be"
        return self.finding(column, round(share * column.filled), reason)

    def _share(self, column: ColumnView, holds: Callable[[str], bool]) -> float:
        measured = not self.decimals and column.is_numeric and not column.is_whole_number
        if measured or column.rarefied_share < self.distinct:
            return 0.0
        return column.share_of(
            lambda text: holds(text) and (self.decimals or not DECIMAL.fullmatch(text)), self.most
        )

    def _doubt(self, column: ColumnView) -> str:
        return "" if self.named(column) else ", whatever the header says"


def phrases(text: str) -> tuple[str, ...]:
    """Words or groups of words, separated by commas.

    >>> phrases("mrn, medical record")
    ('mrn', 'medical record')
    """
    return tuple(text.split(", "))


def percent(share: float) -> str:
    """A share in words."""
    return "all" if share == 1 else f"{100 * share:.0f} %"
