"""The catalogue of rewrite rules: one function each, a file for each pair of families, one list of all.

`RULES` has the 45 rules of the anonymization operators, `CLASSICAL` the twelve of relational algebra
beside them, and `TRANSFORMATIONS` the five named transformations DP01-DP05.
"""

from tarnkappe.algebra.rules import (
    classical,
    generalization_alone,
    generalization_binary,
    generalization_unary,
    randomization,
    randomization_binary,
    slicing,
)
from tarnkappe.algebra.rules.catalogue import Catalogue
from tarnkappe.algebra.rules.rule import LR, RL, SWAP, Effect, Rewrite, Rule, Way
from tarnkappe.algebra.rules.transformation import Transformation

RULES = Catalogue(
    *generalization_alone.RULES,
    *generalization_unary.RULES,
    *generalization_binary.RULES,
    *slicing.RULES,
    *randomization.RULES,
    *randomization_binary.RULES,
)
CLASSICAL = Catalogue(*classical.RULES)
ALL_RULES = Catalogue(*RULES, *CLASSICAL)

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
    "CLASSICAL",
    "LR",
    "RL",
    "RULES",
    "SWAP",
    "TRANSFORMATIONS",
    "Catalogue",
    "Effect",
    "Rewrite",
    "Rule",
    "Transformation",
    "Way",
]
