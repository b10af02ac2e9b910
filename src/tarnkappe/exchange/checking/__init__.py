"""The checking component: steps S0 to S10 from a request to a recommendation."""

from tarnkappe.exchange.checking.case import Case, Surroundings
from tarnkappe.exchange.checking.component import STEPS, Recommendation, check

__all__ = ["STEPS", "Case", "Recommendation", "Surroundings", "check"]
