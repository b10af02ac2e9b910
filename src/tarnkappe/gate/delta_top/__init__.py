"""The matching table: distributions as swaps, extended answer by answer, in polynomial time."""

from tarnkappe.gate.delta_top.strategy import CloneMatching, MaxAnonymity, MaxEdges, SimpleMatching

__all__ = ["CloneMatching", "MaxAnonymity", "MaxEdges", "SimpleMatching"]
