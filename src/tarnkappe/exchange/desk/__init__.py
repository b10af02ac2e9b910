"""The desk: what becomes of requests, who decides, and what patients can learn of it."""

from tarnkappe.exchange.desk.desk import Answer, Desk
from tarnkappe.exchange.desk.people import Disclosure, PatientRegister
from tarnkappe.exchange.desk.states import State

__all__ = ["Answer", "Desk", "Disclosure", "PatientRegister", "State"]
