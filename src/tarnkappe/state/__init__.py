"""State: the store, the append-only audit log, keys, privacy budgets, and what has been released."""

from tarnkappe.state.audit import AuditEntry, AuditLog
from tarnkappe.state.budgets import Budget, Budgets
from tarnkappe.state.key import Key
from tarnkappe.state.releases import ReleaseRecord, ReleaseStore
from tarnkappe.state.store import Store

__all__ = ["AuditEntry", "AuditLog", "Budget", "Budgets", "Key", "ReleaseRecord", "ReleaseStore", "Store"]
