"""Exchange: may this package leave the house? Requests, the check, decisions."""

from tarnkappe.exchange.catalogue import Attribute, AttributeCatalogue
from tarnkappe.exchange.checking import Recommendation, Surroundings, check
from tarnkappe.exchange.findings import CheckVerdict, Finding
from tarnkappe.exchange.institution import Institution
from tarnkappe.exchange.network import Network, NetworkMember
from tarnkappe.exchange.policy import SitePolicy, Thresholds
from tarnkappe.exchange.request import Anchor, DataRequest, Purpose, Wanted
from tarnkappe.exchange.statistics import Statistics

__all__ = [
    "Anchor",
    "Attribute",
    "AttributeCatalogue",
    "CheckVerdict",
    "DataRequest",
    "Finding",
    "Institution",
    "Network",
    "NetworkMember",
    "Purpose",
    "Recommendation",
    "SitePolicy",
    "Statistics",
    "Surroundings",
    "Thresholds",
    "Wanted",
    "check",
]
