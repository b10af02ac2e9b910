"""Generalization hierarchies: importing, building, checking; `BUILDERS` lists all builders."""

from tarnkappe.hierarchy.builder import Builder
from tarnkappe.hierarchy.clusters import Clusters
from tarnkappe.hierarchy.dates import Dates
from tarnkappe.hierarchy.files import format_hierarchy, read_hierarchy, write_hierarchy
from tarnkappe.hierarchy.frequent import Frequent
from tarnkappe.hierarchy.groups import Groups
from tarnkappe.hierarchy.hierarchy import Hierarchy
from tarnkappe.hierarchy.intervals import Intervals
from tarnkappe.hierarchy.masking import Masking
from tarnkappe.hierarchy.ordered import Ordered
from tarnkappe.hierarchy.proposal import Auto, Proposal, propose
from tarnkappe.hierarchy.root import RootOnly
from tarnkappe.schema import Family

BUILDERS: Family[Builder] = Family(
    "hierarchy builder",
    Auto,
    Intervals,
    Clusters,
    Masking,
    Dates,
    Groups,
    Ordered,
    Frequent,
    RootOnly,
)

__all__ = [
    "BUILDERS",
    "Auto",
    "Builder",
    "Clusters",
    "Dates",
    "Frequent",
    "Groups",
    "Hierarchy",
    "Intervals",
    "Masking",
    "Ordered",
    "Proposal",
    "RootOnly",
    "format_hierarchy",
    "propose",
    "read_hierarchy",
    "write_hierarchy",
]
