"""The vault: who is behind pseudonyms, readable by two people together and by nobody alone."""

from tarnkappe.pseudonym.vault.four_eyes import Approver, Request, Requester, request, requests
from tarnkappe.pseudonym.vault.registrar import Registrar
from tarnkappe.pseudonym.vault.rotation import rotate
from tarnkappe.pseudonym.vault.tables import Reason, Role
from tarnkappe.pseudonym.vault.vault import Member, Vault, existing_store

__all__ = [
    "Approver",
    "Member",
    "Reason",
    "Registrar",
    "Request",
    "Requester",
    "Role",
    "Vault",
    "existing_store",
    "request",
    "requests",
    "rotate",
]
