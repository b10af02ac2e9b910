"""The generalization lattice and its searches: one file each; `SEARCHES` lists them all."""

from tarnkappe.lattice.auto import Auto
from tarnkappe.lattice.breadth_first import BreadthFirst
from tarnkappe.lattice.depth_first import DepthFirst
from tarnkappe.lattice.exhaustive import Exhaustive
from tarnkappe.lattice.flash import Flash
from tarnkappe.lattice.flash_two_phase import FlashTwoPhase
from tarnkappe.lattice.lattice import Lattice, Node
from tarnkappe.lattice.problem import Evaluation, Problem
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.solution import Counters, Solution
from tarnkappe.registry import Registry

SEARCHES: Registry[Search] = Registry(
    "search",
    Auto,
    Flash,
    FlashTwoPhase,
    DepthFirst,
    BreadthFirst,
    Exhaustive,
)

__all__ = [
    "SEARCHES",
    "Auto",
    "BreadthFirst",
    "Counters",
    "DepthFirst",
    "Evaluation",
    "Exhaustive",
    "Flash",
    "FlashTwoPhase",
    "Lattice",
    "Node",
    "Problem",
    "Search",
    "Solution",
]
