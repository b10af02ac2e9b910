"""Lowering: plans become statements of an engine, through Ibis, and run there from end to end.

This loads Ibis, so import it when a query is to run; an engine's own library is loaded by `connect`.
"""

from tarnkappe.algebra.lowering.backend import Backend
from tarnkappe.algebra.lowering.connecting import connect

__all__ = ["Backend", "connect"]
