"""The generalization lattice and its searches: one file each; `SEARCHES` lists them all."""

from tarnkappe.lattice.auto import AutoSearch
from tarnkappe.lattice.best_first import BestFirst
from tarnkappe.lattice.breadth_first import BreadthFirst
from tarnkappe.lattice.depth_first import DepthFirst
from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.lattice.exhaustive import Exhaustive
from tarnkappe.lattice.explore import LatticeView, choose, explore
from tarnkappe.lattice.flash import Flash
from tarnkappe.lattice.flash_depth_first import FlashDepthFirst
from tarnkappe.lattice.flash_parallel import FlashParallel
from tarnkappe.lattice.flash_two_phase import FlashTwoPhase
from tarnkappe.lattice.genetic import Genetic
from tarnkappe.lattice.incognito import Incognito
from tarnkappe.lattice.lattice import Lattice, Node
from tarnkappe.lattice.ola import OLA
from tarnkappe.lattice.problem import Evaluation, SearchProblem
from tarnkappe.lattice.samarati import Samarati
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.solution import Counters, Solution
from tarnkappe.schema import Family

SEARCHES: Family[Search] = Family(
    "search",
    AutoSearch,
    Flash,
    FlashTwoPhase,
    FlashDepthFirst,
    FlashParallel,
    OLA,
    Incognito,
    Samarati,
    BestFirst,
    Genetic,
    DepthFirst,
    BreadthFirst,
    Exhaustive,
)

__all__ = [
    "OLA",
    "SEARCHES",
    "AutoSearch",
    "BestFirst",
    "BreadthFirst",
    "Counters",
    "DepthFirst",
    "Evaluation",
    "EvaluationSettings",
    "Exhaustive",
    "Flash",
    "FlashDepthFirst",
    "FlashParallel",
    "FlashTwoPhase",
    "Genetic",
    "Incognito",
    "Lattice",
    "LatticeView",
    "Node",
    "Samarati",
    "Search",
    "SearchProblem",
    "Solution",
    "choose",
    "explore",
]
