"""Risk: which guarantees a table has, and which attacks succeed on it."""

from tarnkappe.risk.attacks import (
    ATTACKS,
    Answer,
    Attack,
    AttackResult,
    Background,
    Function,
    Listing,
    Rule,
    Target,
    VictimClass,
    attack_all,
)
from tarnkappe.risk.check import check
from tarnkappe.risk.continuation import Continuation, continues
from tarnkappe.risk.identifiers import IdentifierScan, Kind, find_identifiers
from tarnkappe.risk.measures import MEASURES, RiskMeasure
from tarnkappe.risk.register import Link, find_quasi_identifiers, link
from tarnkappe.risk.repairs import REPAIRS, Proposal, Repair, propose
from tarnkappe.risk.replay import attack
from tarnkappe.risk.report import Measured, Presence, Report, SensitiveColumn, Verdict, WorstClass
from tarnkappe.risk.republication import Republication, republish
from tarnkappe.risk.sizes import ClassSizes, SizeBin, class_sizes

__all__ = [
    "ATTACKS",
    "MEASURES",
    "REPAIRS",
    "Answer",
    "Attack",
    "AttackResult",
    "Background",
    "ClassSizes",
    "Continuation",
    "Function",
    "IdentifierScan",
    "Kind",
    "Link",
    "Listing",
    "Measured",
    "Presence",
    "Proposal",
    "Repair",
    "Report",
    "Republication",
    "RiskMeasure",
    "Rule",
    "SensitiveColumn",
    "SizeBin",
    "Target",
    "Verdict",
    "VictimClass",
    "WorstClass",
    "attack",
    "attack_all",
    "check",
    "class_sizes",
    "continues",
    "find_identifiers",
    "find_quasi_identifiers",
    "link",
    "propose",
    "republish",
]
