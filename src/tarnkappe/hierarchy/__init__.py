"""Generalization hierarchies: importing, building, checking; `BUILDERS` lists all builders."""

from tarnkappe.hierarchy.builder import Builder
from tarnkappe.hierarchy.clusters import Clusters
from tarnkappe.hierarchy.code_systems import CodeSystem
from tarnkappe.hierarchy.dates import DatesBuilder
from tarnkappe.hierarchy.files import format_hierarchy, read_hierarchy, write_hierarchy
from tarnkappe.hierarchy.frequent import Frequent
from tarnkappe.hierarchy.groups import GroupsBuilder
from tarnkappe.hierarchy.hierarchy import Hierarchy
from tarnkappe.hierarchy.intervals import Intervals
from tarnkappe.hierarchy.masking import Masking
from tarnkappe.hierarchy.ordered import Ordered
from tarnkappe.hierarchy.proposal import AutoBuilder, HierarchyProposal, propose, propose_builder
from tarnkappe.hierarchy.ranges import Ranges
from tarnkappe.hierarchy.root import RootOnly
from tarnkappe.schema import Family

BUILDERS: Family[Builder] = Family(
    "hierarchy builder",
    AutoBuilder,
    Intervals,
    Clusters,
    Masking,
    DatesBuilder,
    GroupsBuilder,
    Ordered,
    Frequent,
    Ranges,
    CodeSystem,
    RootOnly,
)

__all__ = [
    "BUILDERS",
    "AutoBuilder",
    "Builder",
    "Clusters",
    "CodeSystem",
    "DatesBuilder",
    "Frequent",
    "GroupsBuilder",
    "Hierarchy",
    "HierarchyProposal",
    "Intervals",
    "Masking",
    "Ordered",
    "Ranges",
    "RootOnly",
    "format_hierarchy",
    "propose",
    "propose_builder",
    "read_hierarchy",
    "write_hierarchy",
]
