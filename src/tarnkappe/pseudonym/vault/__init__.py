"""The vault: who is behind pseudonyms, readable by two people together and by nobody alone."""

from tarnkappe.pseudonym.vault.dual_control import (
    Approver,
    ReidentificationRequest,
    Requester,
    request,
    requests,
)
from tarnkappe.pseudonym.vault.registrar import Registrar
from tarnkappe.pseudonym.vault.rotation import rotate
from tarnkappe.pseudonym.vault.tables import ReidentificationReason, VaultRole
from tarnkappe.pseudonym.vault.vault import Vault, VaultMember, existing_store

__all__ = [
    "Approver",
    "Registrar",
    "ReidentificationReason",
    "ReidentificationRequest",
    "Requester",
    "Vault",
    "VaultMember",
    "VaultRole",
    "existing_store",
    "request",
    "requests",
    "rotate",
]
