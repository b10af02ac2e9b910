"""Pseudonyms: one-way, reversible, or kept in a vault that two people open together."""

from tarnkappe.pseudonym.identity import Identity, identities, identity
from tarnkappe.pseudonym.one_way import OneWay
from tarnkappe.pseudonym.reversible import Reversible
from tarnkappe.pseudonym.sealing import KeyPair
from tarnkappe.pseudonym.tables import pseudonymize, pseudonymize_linked, reidentify
from tarnkappe.pseudonym.vault import Approver, Member, Reason, Registrar, Requester, Role, Vault

__all__ = [
    "Approver",
    "Identity",
    "KeyPair",
    "Member",
    "OneWay",
    "Reason",
    "Registrar",
    "Requester",
    "Reversible",
    "Role",
    "Vault",
    "identities",
    "identity",
    "pseudonymize",
    "pseudonymize_linked",
    "reidentify",
]
