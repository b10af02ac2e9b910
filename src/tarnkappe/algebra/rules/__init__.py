"""The catalogue of rewrite rules: one function each, a file for each pair of families, one list of all.

`RULES` has the 45 published rules of the anonymization operators, `BETWEEN` our fourteen verdicts on two
different anonymizations, `CLASSICAL` the twelve rules of relational algebra beside them, `RENAMING` eight of
our own that pass groupings and renamings, and `TRANSFORMATIONS` the five named transformations DP01-DP05.
"""

from tarnkappe.algebra.rules import (
    between,
    classical,
    generalization_alone,
    generalization_binary,
    generalization_unary,
    randomization,
    randomization_binary,
    renaming,
    slicing,
)
from tarnkappe.algebra.rules.catalogue import RuleFamily
from tarnkappe.algebra.rules.rule import LR, RL, SWAP, Effect, Rewrite, RewriteRule, Way
from tarnkappe.algebra.rules.transformation import Transformation

RULES = RuleFamily(
    *generalization_alone.RULES,
    *generalization_unary.RULES,
    *generalization_binary.RULES,
    *slicing.RULES,
    *randomization.RULES,
    *randomization_binary.RULES,
)
BETWEEN = RuleFamily(*between.RULES)
CLASSICAL = RuleFamily(*classical.RULES)
RENAMING = RuleFamily(*renaming.RULES)
ALL_RULES = RuleFamily(*RULES, *BETWEEN, *CLASSICAL, *RENAMING)

TRANSFORMATIONS = {
    transformation.name: transformation
    for transformation in (
        Transformation("DP01", RULES["D12"], LR),
        Transformation("DP02", RULES["D12"], RL),
        Transformation("DP03", RULES["D8"], LR),
        Transformation("DP04", RULES["D9"], RL),
        Transformation("DP05", RULES["D10"], RL),
    )
}

__all__ = [
    "ALL_RULES",
    "BETWEEN",
    "CLASSICAL",
    "LR",
    "RENAMING",
    "RL",
    "RULES",
    "SWAP",
    "TRANSFORMATIONS",
    "Effect",
    "Rewrite",
    "RewriteRule",
    "RuleFamily",
    "Transformation",
    "Way",
]
