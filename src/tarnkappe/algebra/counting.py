"""Numbers of rows that are counted when a rule asks for them: facts about the data as they are now.

A generalization may be moved onto a selection only if the selection is known to keep k rows. Nobody declares
that; an engine counts it in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from tarnkappe.algebra.facts import Facts
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import Anonymization, Grouping, Plan, Projection, Relation

Count = Callable[[Plan], int]


@dataclass(frozen=True)
class CountedFacts(Facts):
    """Other facts, and beside them numbers of rows that are counted on demand, each once.

    Attributes:
        facts: what is known without counting.
        count: runs a plan and counts its rows.
    """

    facts: Facts
    count: Count
    counted: dict[Plan, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def bucket(self) -> int | None:  # type: ignore[override]
        return self.facts.bucket

    @property
    def stable_buckets(self) -> bool:  # type: ignore[override]
        return self.facts.stable_buckets

    def is_static(self, column: str) -> bool:
        return self.facts.is_static(column)

    def same_hierarchy(self, old: str, new: str) -> bool:
        return self.facts.same_hierarchy(old, new)

    def same_noise(self, old: str, new: str) -> bool:
        return self.facts.same_noise(old, new)

    def fewest_rows(self, plan: Plan) -> int:
        return self.facts.fewest_rows(plan) or self._counted(plan) or 0

    def row_count(self, plan: Plan) -> int | None:
        known = self.facts.row_count(plan)
        return self._counted(plan) if known is None else known

    def is_unique(self, plan: Plan, columns: Collection[str]) -> bool:
        return self.facts.is_unique(plan, columns)

    def is_not_null(self, plan: Plan, columns: Collection[str]) -> bool:
        return self.facts.is_not_null(plan, columns)

    def has_partners(self, left: Plan, right: Plan, columns: Collection[str]) -> bool:
        return self.facts.has_partners(left, right, columns)

    def same_order(self, left: Plan, right: Plan, columns: Collection[str]) -> bool:
        return self.facts.same_order(left, right, columns)

    def _counted(self, plan: Plan) -> int | None:
        """The number of rows, if it does not depend on an anonymization."""
        if any(isinstance(node, Anonymization | ModelGeneralization | Grouping) for node in plan.walk()):
            return None
        rows = _without_projections(plan)
        if rows not in self.counted:
            self.counted[rows] = self.count(rows)
        return self.counted[rows]


def _without_projections(plan: Plan) -> Plan:
    """A plan with as many rows, so that what differs by projections alone is counted once."""
    if isinstance(plan, Projection) and not plan.distinct:
        return _without_projections(plan.child)
    if isinstance(plan, Relation) or len(plan.children) != 1:
        return plan
    return plan.with_children(_without_projections(plan.children[0]))
