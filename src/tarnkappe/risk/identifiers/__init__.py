"""The 18 identifiers of HIPAA's safe harbor rule: a file for each family, `DETECTORS` lists them all."""

from tarnkappe.risk.identifiers.alarms import Alarm, alarms_of, find_alarms
from tarnkappe.risk.identifiers.detector import Certainty, Detector, IdentifierFinding, IdentifierKind
from tarnkappe.risk.identifiers.pairs import go_together
from tarnkappe.risk.identifiers.safe_harbor import safe_age, safe_birth_year, safe_postcode
from tarnkappe.risk.identifiers.scan import (
    DETECTOR_NAMES,
    DETECTORS,
    ColumnScan,
    IdentifierScan,
    find_identifiers,
    propose_roles,
    scan_views,
    view_of,
    with_proposed_roles,
)
from tarnkappe.risk.identifiers.view import ColumnView

__all__ = [
    "DETECTORS",
    "DETECTOR_NAMES",
    "Alarm",
    "Certainty",
    "ColumnScan",
    "ColumnView",
    "Detector",
    "IdentifierFinding",
    "IdentifierKind",
    "IdentifierScan",
    "alarms_of",
    "find_alarms",
    "find_identifiers",
    "go_together",
    "propose_roles",
    "safe_age",
    "safe_birth_year",
    "safe_postcode",
    "scan_views",
    "view_of",
    "with_proposed_roles",
]
