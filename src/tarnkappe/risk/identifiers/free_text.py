"""Free text: what people wrote about people. It is withheld, since nobody can tell what it gives away."""

from __future__ import annotations

import dataclasses

from tarnkappe.risk.identifiers.detector import Detector, IdentifierFinding
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.risk.identifiers.words import HEADER_WORDS

WORDS = 5
CHARACTERS = 35
MANY_WORDS = 6
A_SENTENCE = 12
"""So many words on average are no name of an office or an illness, whatever the header speaks of."""
DIFFERENT = 0.5
NEARLY_ALL = 0.95
NOTES = 5
"""Notes have more different values than this."""
NOTES_DIFFERENT = 0.2
REASON = "free text: nobody can tell what it gives away, so it should not be released"


@dataclasses.dataclass(frozen=True)
class FreeText(Detector):
    """Sentences, most of them different; or several words under a header that speaks of notes.

    Long names of offices, illnesses or trades are no free text where the header speaks of these and they
    repeat.
    """

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """Nothing: what hides inside the sentences says more, and other detectors look for it."""
        return None

    def guess(self, column: ColumnView) -> IdentifierFinding | None:
        """Whether cells are sentences, or notes."""
        if column.is_numeric or not column.distinct:
            return None
        varies = column.rarefied_share
        if self._notes(column) or (varies > DIFFERENT and self._sentences(column)):
            return self.finding(column, column.filled, REASON)
        return None

    def _notes(self, column: ColumnView) -> bool:
        several = column.distinct > NOTES and column.words >= 2
        other = column.about("thing") or (column.about("known") and column.rarefied_share < NEARLY_ALL)
        varied = column.rarefied_share > NOTES_DIFFERENT or column.words >= WORDS
        return column.about("notes") and several and varied and not other

    @staticmethod
    def _sentences(column: ColumnView) -> bool:
        characters = sum(map(len, column.sample)) / max(len(column.sample), 1)
        if column.words < WORDS or (characters < CHARACTERS and column.words < MANY_WORDS):
            return False
        if column.about("thing"):
            return column.words >= A_SENTENCE
        named = column.about("known", "sensitive") and not column.about("notes")
        return not named or column.rarefied_share >= NEARLY_ALL


FREE_TEXT = (FreeText("free-text", (), "free text", HEADER_WORDS["notes"]),)
