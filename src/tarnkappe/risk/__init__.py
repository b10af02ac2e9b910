"""Risk: which guarantees a table has, and which attacks succeed on it."""

from tarnkappe.risk.attacks import (
    ATTACKS,
    Attack,
    AttackResult,
    Background,
    ExclusionRule,
    Function,
    Listing,
    PublishedAggregate,
    Target,
    VictimClass,
    attack_all,
)
from tarnkappe.risk.check import check
from tarnkappe.risk.continuation import Continuation, continues
from tarnkappe.risk.identifiers import IdentifierKind, IdentifierScan, find_identifiers
from tarnkappe.risk.measures import MEASURES, RiskMeasure
from tarnkappe.risk.register import RegisterLink, find_quasi_identifiers, link
from tarnkappe.risk.repairs import REPAIRS, Repair, RepairProposal, propose
from tarnkappe.risk.replay import attack
from tarnkappe.risk.report import (
    MeasuredGuarantee,
    ModelVerdict,
    Presence,
    Report,
    SensitiveColumn,
    WorstClass,
)
from tarnkappe.risk.republication import Republication, republish
from tarnkappe.risk.sizes import ClassSizes, SizeBin, class_sizes

__all__ = [
    "ATTACKS",
    "MEASURES",
    "REPAIRS",
    "Attack",
    "AttackResult",
    "Background",
    "ClassSizes",
    "Continuation",
    "ExclusionRule",
    "Function",
    "IdentifierKind",
    "IdentifierScan",
    "Listing",
    "MeasuredGuarantee",
    "ModelVerdict",
    "Presence",
    "PublishedAggregate",
    "RegisterLink",
    "Repair",
    "RepairProposal",
    "Report",
    "Republication",
    "RiskMeasure",
    "SensitiveColumn",
    "SizeBin",
    "Target",
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
