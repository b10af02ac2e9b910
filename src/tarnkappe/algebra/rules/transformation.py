"""Named transformations: one rule, one way, wherever in a plan it applies."""

from __future__ import annotations

from dataclasses import dataclass

from tarnkappe.algebra.facts import DeclaredFacts, Facts
from tarnkappe.algebra.nodes import Plan
from tarnkappe.algebra.rules.rule import RewriteRule, Way

NOTHING_KNOWN = DeclaredFacts()


@dataclass(frozen=True)
class Transformation:
    """A rule in one way, under a name of its own: a deliberate act that nothing undoes by accident."""

    name: str
    rule: RewriteRule
    way: Way

    def __call__(self, plan: Plan, facts: Facts = NOTHING_KNOWN) -> Plan:
        """The plan after the transformation was made at every place, until no place is left.

        A place that a condition forbids stays as it is. The rules of DP01-DP05 move an operator one way
        along the tree or remove it, so this ends.
        """
        changed = plan.with_children(*(self(child, facts) for child in plan.children))
        found = self.rule.apply(changed, self.way, facts)
        if not found or found[0].plan is None:
            return changed
        return self(found[0].plan, facts)
