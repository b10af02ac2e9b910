"""t-closeness with the variational distance between distributions."""

from __future__ import annotations

from tarnkappe.privacy.equal_closeness import EqualCloseness


class VariationalCloseness(EqualCloseness):
    """t-closeness with the variational distance, half the sum of |p - q| over all values.

    It is the earth mover's distance with equal distances under its older name: to turn one distribution
    into the other, every surplus must be moved somewhere, and anywhere costs the same.
    """

    name = "variational-closeness"
    cites = ("li2007",)

    @classmethod
    def examples(cls) -> tuple[VariationalCloseness, ...]:
        return (cls("disease", 0.4),)
