"""Tables: reading, writing, column roles, dictionary encoding and equivalence classes."""

from tarnkappe.table.classes import Classes, ClassState, Distribution, Tuples
from tarnkappe.table.encoding import Column, Levels, encode
from tarnkappe.table.read import read
from tarnkappe.table.table import MISSING, STATED, SUPPRESSED, Role, Table
from tarnkappe.table.write import write

__all__ = [
    "MISSING",
    "STATED",
    "SUPPRESSED",
    "ClassState",
    "Classes",
    "Column",
    "Distribution",
    "Levels",
    "Role",
    "Table",
    "Tuples",
    "encode",
    "read",
    "write",
]
