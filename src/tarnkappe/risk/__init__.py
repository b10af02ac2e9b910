"""Risk: which guarantees a table has, and which attacks succeed on it."""

from tarnkappe.risk.attacks import ATTACKS, Attack, AttackResult, Target, VictimClass, attack_all
from tarnkappe.risk.check import check
from tarnkappe.risk.register import Link, find_quasi_identifiers, link
from tarnkappe.risk.report import Measured, Presence, Report, SensitiveColumn, Verdict, WorstClass
from tarnkappe.risk.sizes import ClassSizes, SizeBin, class_sizes

__all__ = [
    "ATTACKS",
    "Attack",
    "AttackResult",
    "ClassSizes",
    "Link",
    "Measured",
    "Presence",
    "Report",
    "SensitiveColumn",
    "SizeBin",
    "Target",
    "Verdict",
    "VictimClass",
    "WorstClass",
    "attack_all",
    "check",
    "class_sizes",
    "find_quasi_identifiers",
    "link",
]
