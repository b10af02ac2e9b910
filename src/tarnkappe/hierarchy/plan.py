"""How a hierarchy may be asked for: itself, the name of its file, or a builder with its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarnkappe.hierarchy import BUILDERS, Hierarchy, read_hierarchy
from tarnkappe.hierarchy.builder import Builder
from tarnkappe.table import Column

HierarchyPlan = str | Mapping[str, Any] | Hierarchy | Builder


def planned_hierarchy(plan: HierarchyPlan, column: Column) -> Hierarchy:
    """The hierarchy of an encoded column, read or built now."""
    if isinstance(plan, Hierarchy):
        return plan
    if isinstance(plan, str):
        return read_hierarchy(plan)
    if isinstance(plan, Builder):
        return plan.build_column(column)
    options = dict(plan)
    return BUILDERS.create(options.pop("builder", "auto"), options).build_column(column)
