"""State: the store, signed statements, the audit log, keys, privacy budgets, and what has been released."""

from tarnkappe.state.audit import AuditEntry, AuditLog
from tarnkappe.state.audit_guard import guard
from tarnkappe.state.budgets import Budget, Budgets
from tarnkappe.state.canonical import canonical_json
from tarnkappe.state.component import Component
from tarnkappe.state.heads import Head, HeadFile
from tarnkappe.state.key import Key
from tarnkappe.state.releases import ReleaseRecord, ReleaseStore
from tarnkappe.state.statement import Seals, Signer, Statement, is_public_key, require_signature
from tarnkappe.state.store import Store

__all__ = [
    "AuditEntry",
    "AuditLog",
    "Budget",
    "Budgets",
    "Component",
    "Head",
    "HeadFile",
    "Key",
    "ReleaseRecord",
    "ReleaseStore",
    "Seals",
    "Signer",
    "Statement",
    "Store",
    "canonical_json",
    "guard",
    "is_public_key",
    "require_signature",
]
