"""The desk: what becomes of requests, who decides, and what patients can learn of it."""

from tarnkappe.exchange.desk.delivery import Answer
from tarnkappe.exchange.desk.desk import Desk
from tarnkappe.exchange.desk.people import Disclosure, PatientRegister
from tarnkappe.exchange.desk.reidentification import Ask, Progress
from tarnkappe.exchange.desk.states import State

__all__ = ["Answer", "Ask", "Desk", "Disclosure", "PatientRegister", "Progress", "State"]
