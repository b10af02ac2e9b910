"""The 18 identifiers of HIPAA's safe harbor rule: a file for each family, `DETECTORS` lists them all."""

from tarnkappe.risk.identifiers.alarms import Alarm, find_alarms
from tarnkappe.risk.identifiers.detector import Detector, IdentifierFinding, IdentifierKind
from tarnkappe.risk.identifiers.safe_harbor import safe_age, safe_birth_year, safe_postcode
from tarnkappe.risk.identifiers.scan import (
    DETECTOR_NAMES,
    DETECTORS,
    ColumnScan,
    IdentifierScan,
    find_identifiers,
)

__all__ = [
    "DETECTORS",
    "DETECTOR_NAMES",
    "Alarm",
    "ColumnScan",
    "Detector",
    "IdentifierFinding",
    "IdentifierKind",
    "IdentifierScan",
    "find_alarms",
    "find_identifiers",
    "safe_age",
    "safe_birth_year",
    "safe_postcode",
]
