"""Pseudonyms: one-way, reversible, or kept in a vault that two people open together."""

from tarnkappe.pseudonym.identity import Identity, identities, identity
from tarnkappe.pseudonym.one_way import OneWay
from tarnkappe.pseudonym.reversible import Reversible
from tarnkappe.pseudonym.sealing import KeyPair
from tarnkappe.pseudonym.tables import pseudonymize, pseudonymize_linked, reidentify
from tarnkappe.pseudonym.vault import (
    Approver,
    Registrar,
    ReidentificationReason,
    Requester,
    Vault,
    VaultMember,
    VaultRole,
)

__all__ = [
    "Approver",
    "Identity",
    "KeyPair",
    "OneWay",
    "Registrar",
    "ReidentificationReason",
    "Requester",
    "Reversible",
    "Vault",
    "VaultMember",
    "VaultRole",
    "identities",
    "identity",
    "pseudonymize",
    "pseudonymize_linked",
    "reidentify",
]
