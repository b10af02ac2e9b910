"""The 18 identifiers of HIPAA's safe harbor rule: a file for each family, `DETECTORS` lists them all."""

from tarnkappe.risk.identifiers.alarms import Alarm, find_alarms
from tarnkappe.risk.identifiers.detector import Certainty, Detector, Finding, Kind
from tarnkappe.risk.identifiers.safe_harbor import safe_age, safe_birth_year, safe_postcode
from tarnkappe.risk.identifiers.scan import (
    DETECTOR_NAMES,
    DETECTORS,
    ColumnScan,
    IdentifierScan,
    find_identifiers,
    propose_roles,
)

__all__ = [
    "DETECTORS",
    "DETECTOR_NAMES",
    "Alarm",
    "Certainty",
    "ColumnScan",
    "Detector",
    "Finding",
    "IdentifierScan",
    "Kind",
    "find_alarms",
    "find_identifiers",
    "propose_roles",
    "safe_age",
    "safe_birth_year",
    "safe_postcode",
]
