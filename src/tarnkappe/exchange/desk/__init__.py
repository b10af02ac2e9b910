"""The desk: what becomes of requests, who decides, and what patients can learn of it."""

from tarnkappe.exchange.desk.delivery import SignedAnswer
from tarnkappe.exchange.desk.desk import RequestWorkflow
from tarnkappe.exchange.desk.people import DisclosureRecord, PatientRegister
from tarnkappe.exchange.desk.reidentification import Ask, ReidentificationState
from tarnkappe.exchange.desk.states import RequestState

__all__ = [
    "Ask",
    "DisclosureRecord",
    "PatientRegister",
    "ReidentificationState",
    "RequestState",
    "RequestWorkflow",
    "SignedAnswer",
]
