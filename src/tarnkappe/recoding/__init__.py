"""Publishing methods beside one node for all rows: one file each, in `METHODS` and `BUCKETIZATIONS`."""

from tarnkappe.recoding.anatomy import Anatomy
from tarnkappe.recoding.datafly import Datafly
from tarnkappe.recoding.exact_suppression import ExactSuppression
from tarnkappe.recoding.k_optimize import KOptimize
from tarnkappe.recoding.local import LocalRecoding, Pass, describe_passes, local_search, local_state
from tarnkappe.recoding.method import Bucketization, Buckets, Method, Recoding
from tarnkappe.recoding.microaggregation import Aggregates, Aggregation
from tarnkappe.recoding.mingen import MinGen
from tarnkappe.recoding.mondrian import Mondrian
from tarnkappe.recoding.mu_argus import MuArgus
from tarnkappe.recoding.recode import CellTreatment, Recoded, Suppression, recode, recoded
from tarnkappe.recoding.regions import Regions
from tarnkappe.recoding.slicing import Slicing
from tarnkappe.recoding.stochastic import Stochastic
from tarnkappe.recoding.subtrees import Subtrees
from tarnkappe.recoding.value_suppression import ValueSuppression
from tarnkappe.schema import Family

METHODS: Family[Method] = Family(
    "method",
    Regions,
    Mondrian,
    Subtrees,
    ValueSuppression,
    ExactSuppression,
    Datafly,
    MuArgus,
    KOptimize,
    Stochastic,
    MinGen,
)

BUCKETIZATIONS: Family[Bucketization] = Family("bucketization", Anatomy, Slicing)

__all__ = [
    "BUCKETIZATIONS",
    "METHODS",
    "Aggregates",
    "Aggregation",
    "Anatomy",
    "Bucketization",
    "Buckets",
    "CellTreatment",
    "Datafly",
    "ExactSuppression",
    "KOptimize",
    "LocalRecoding",
    "Method",
    "MinGen",
    "Mondrian",
    "MuArgus",
    "Pass",
    "Recoded",
    "Recoding",
    "Regions",
    "Slicing",
    "Stochastic",
    "Subtrees",
    "Suppression",
    "ValueSuppression",
    "describe_passes",
    "local_search",
    "local_state",
    "recode",
    "recoded",
]
