"""Tarnkappe: use personal tabular data without exposing the person.

>>> import tarnkappe
>>> patients = tarnkappe.examples.hospital(rows=500, seed=1).table
>>> patients.sensitive
('diagnosis',)
"""

from tarnkappe import privacy as models
from tarnkappe.errors import TarnkappeError
from tarnkappe.hierarchy import Hierarchy, read_hierarchy, write_hierarchy
from tarnkappe.job import Job, Result, anonymize, run, write_report
from tarnkappe.risk import check
from tarnkappe.table import Role, Table, examples, read, write

__all__ = [
    "Hierarchy",
    "Job",
    "Result",
    "Role",
    "Table",
    "TarnkappeError",
    "anonymize",
    "check",
    "examples",
    "models",
    "read",
    "read_hierarchy",
    "run",
    "write",
    "write_hierarchy",
    "write_report",
]
