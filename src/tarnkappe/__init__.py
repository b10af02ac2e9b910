"""Tarnkappe: use personal tabular data without exposing the person.

>>> import tarnkappe
>>> patients = tarnkappe.examples.hospital(rows=500, seed=1).table
>>> patients.sensitive
('diagnosis',)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tarnkappe import privacy as models
    from tarnkappe.algebra.lazy import relation, sql
    from tarnkappe.errors import TarnkappeError
    from tarnkappe.hierarchy import Hierarchy, read_hierarchy, write_hierarchy
    from tarnkappe.job import (
        Comparison,
        Exploration,
        Job,
        ReleaseProposal,
        Result,
        alternatives,
        anonymize,
        compare,
        explore,
        measure_utility,
        propose,
        run,
    )
    from tarnkappe.report import write_report
    from tarnkappe.risk import attack, check
    from tarnkappe.table import Role, Table, examples, read, write

    __version__: str

__all__ = [
    "Comparison",
    "Exploration",
    "Hierarchy",
    "Job",
    "ReleaseProposal",
    "Result",
    "Role",
    "Table",
    "TarnkappeError",
    "alternatives",
    "anonymize",
    "attack",
    "check",
    "compare",
    "examples",
    "explore",
    "measure_utility",
    "models",
    "propose",
    "read",
    "read_hierarchy",
    "relation",
    "run",
    "sql",
    "write",
    "write_hierarchy",
    "write_report",
]

_HOMES = {
    "algebra.lazy": ("relation", "sql"),
    "errors": ("TarnkappeError",),
    "hierarchy": ("Hierarchy", "read_hierarchy", "write_hierarchy"),
    "job": (
        "Comparison",
        "Exploration",
        "Job",
        "ReleaseProposal",
        "Result",
        "alternatives",
        "anonymize",
        "compare",
        "explore",
        "propose",
        "measure_utility",
        "run",
    ),
    "report": ("write_report",),
    "risk": ("attack", "check"),
    "table": ("Role", "Table", "read", "write"),
}
_MODULES = {"examples": "table.examples", "models": "privacy"}


def __getattr__(name: str) -> Any:
    """Load a part of the house when it is first asked for: the command line starts before all is loaded."""
    if name == "__version__":
        return import_module("importlib.metadata").version("tarnkappe")
    if name in _MODULES:
        return import_module(f"tarnkappe.{_MODULES[name]}")
    for part, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"tarnkappe.{part}"), name)
    raise AttributeError(f"module 'tarnkappe' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
