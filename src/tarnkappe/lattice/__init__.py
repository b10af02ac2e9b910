"""The generalization lattice and its searches: one file each; `SEARCHES` lists them all."""

from tarnkappe.lattice.exhaustive import Exhaustive
from tarnkappe.lattice.lattice import Lattice, Node
from tarnkappe.lattice.problem import Evaluation, Problem
from tarnkappe.lattice.search import Search, Solution
from tarnkappe.registry import Registry

SEARCHES: Registry[Search] = Registry(
    "search",
    Exhaustive,
)

__all__ = ["SEARCHES", "Evaluation", "Exhaustive", "Lattice", "Node", "Problem", "Search", "Solution"]
