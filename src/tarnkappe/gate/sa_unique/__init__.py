"""Answers in parts without equal values: a table with one edge for each tuple and value."""

from tarnkappe.gate.sa_unique.strategy import SaUnique, SaUniqueA, SaUniqueB, SaUniqueC, UniqueThenClone

__all__ = ["SaUnique", "SaUniqueA", "SaUniqueB", "SaUniqueC", "UniqueThenClone"]
