"""Tables: reading, writing, column roles, dictionary encoding and equivalence classes."""

from tarnkappe.table.classes import Classes, Distribution, State, Tuples
from tarnkappe.table.encoding import Column, Levels, encode
from tarnkappe.table.table import MISSING, SUPPRESSED, Role, Table

__all__ = [
    "MISSING",
    "SUPPRESSED",
    "Classes",
    "Column",
    "Distribution",
    "Levels",
    "Role",
    "State",
    "Table",
    "Tuples",
    "encode",
]
