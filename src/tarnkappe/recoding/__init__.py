"""Publishing methods beside one node for all rows: one file each."""

from tarnkappe.recoding.local import LocalRecoding, Pass, describe_passes, local_search, local_state
from tarnkappe.recoding.microaggregation import Aggregates, Aggregation
from tarnkappe.recoding.recode import Recoded, Suppression, Treatment, recode

__all__ = [
    "Aggregates",
    "Aggregation",
    "LocalRecoding",
    "Pass",
    "Recoded",
    "Suppression",
    "Treatment",
    "describe_passes",
    "local_search",
    "local_state",
    "recode",
]
