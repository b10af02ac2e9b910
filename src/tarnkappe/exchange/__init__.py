"""Exchange: may this package leave the house? Requests, the check, decisions."""

from tarnkappe.exchange.catalogue import Attribute, Catalogue
from tarnkappe.exchange.checking import Recommendation, Surroundings, check
from tarnkappe.exchange.findings import Finding, Verdict
from tarnkappe.exchange.institution import Institution
from tarnkappe.exchange.network import Member, Network
from tarnkappe.exchange.policy import Policy, Thresholds
from tarnkappe.exchange.request import Anchor, Purpose, Request, Wanted
from tarnkappe.exchange.statistics import Statistics

__all__ = [
    "Anchor",
    "Attribute",
    "Catalogue",
    "Finding",
    "Institution",
    "Member",
    "Network",
    "Policy",
    "Purpose",
    "Recommendation",
    "Request",
    "Statistics",
    "Surroundings",
    "Thresholds",
    "Verdict",
    "Wanted",
    "check",
]
