"""Rules by name, in a fixed order, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tarnkappe.algebra.rules.rule import RewriteRule
from tarnkappe.errors import ParameterError
from tarnkappe.schema import near


class RuleFamily:
    """A list of rules that can be asked by name.

    >>> from tarnkappe.algebra.rules import RULES
    >>> len(RULES), RULES["D12"].statement
    (45, 'Noise[P](r1∪r2) ⇔ Noise[P](r1)∪Noise[P](r2)')
    """

    def __init__(self, *rules: RewriteRule) -> None:
        self._rules = {rule.name: rule for rule in rules}
        if len(self._rules) != len(rules):
            raise ValueError("two rules share a name")

    def __iter__(self) -> Iterator[RewriteRule]:
        return iter(self._rules.values())

    def __len__(self) -> int:
        return len(self._rules)

    def __contains__(self, name: object) -> bool:
        return name in self._rules

    def __getitem__(self, name: str) -> RewriteRule:
        """The rule with this name; an unknown name is refused with the nearest known ones."""
        if name not in self._rules:
            meant = near(name, self._rules, 3)
            hint = f"did you mean {' or '.join(meant)}?" if meant else f"known are {', '.join(self._rules)}"
            raise ParameterError(
                "algebra.unknown-rule", "unknown rule '{name}': {hint}", name=name, hint=hint
            )
        return self._rules[name]

    def as_dicts(self) -> list[dict[str, Any]]:
        """The catalogue for machines."""
        return [rule.as_dict() for rule in self]
