"""Pictures, sounds and measurements of a body, as data or as names of files."""

from __future__ import annotations

import dataclasses

from tarnkappe.risk.identifiers.detector import IdentifierFinding, IdentifierKind, ShapeDetector, phrases
from tarnkappe.risk.identifiers.view import ColumnView

_BASE64 = "[A-Za-z0-9+/=_-]"


@dataclasses.dataclass(frozen=True)
class Pictures(ShapeDetector):
    """Photographs; a column of raw bytes may hold one, so it is never silently passed."""

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """Raw bytes first: nothing else looks at them."""
        if column.is_binary:
            return self.finding(
                column, column.rows, "the column holds raw bytes, which may be pictures or recordings"
            )
        return super().look(column)


_PICTURE_FILE = r"(?i:\S*\.(?:jpe?g|png|gif|bmp|tiff?|heic|webp|dcm))"
_PICTURE_DATA = rf"data:image/.*|(?:/9j/|iVBORw0KGgo|R0lGOD|Qk0|SUkqA|TU0AK){_BASE64}{{4,}}"
_RECORDING_FILE = r"(?i:\S*\.(?:wsq|wav|mp3|m4a|flac|ogg|an2|eft|fmr|fir))"
_RECORDING_DATA = rf"data:audio/.*|(?:Rk1S|RklS|SUlS|RkFD|UklGR){_BASE64}{{4,}}"
"""The first letters of fingerprint, iris, face and sound records, as text in base 64."""
_TEMPLATE = r"(?i:(?:fp|fmd|fmr|iris|voice|bio)[_:-])[A-Za-z0-9+/=]{8,}"
_GENES = "[ACGT]{20,}"

MEDIA = (
    Pictures(
        "photograph",
        (IdentifierKind.PHOTO,),
        "photographs",
        phrases("photo, photograph, picture, image, portrait, face, foto, bild, selfie"),
        shape=f"{_PICTURE_DATA}|{_PICTURE_FILE}",
        inside=r"(?i)data:image/|\b\S+\.(?:jpe?g|png|gif|bmp|tiff|heic|dcm)\b",
        plausible=r"\S{5,}",
    ),
    ShapeDetector(
        "biometric",
        (IdentifierKind.BIOMETRIC,),
        "biometric identifiers",
        phrases(
            "biometric, fingerprint, finger, iris, retina, voice, voiceprint, fingerabdruck, dna, genome"
        ),
        shape=f"{_RECORDING_DATA}|{_RECORDING_FILE}|{_TEMPLATE}|{_GENES}",
        inside=r"(?i)data:audio/|\b\S+\.(?:wsq|wav|m4a|eft)\b",
        plausible=r"\S{8,}",
    ),
)
