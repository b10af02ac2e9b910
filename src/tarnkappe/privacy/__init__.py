"""Privacy models: one file each; `MODELS` lists them all."""

from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.entropy_diversity import EntropyDiversity
from tarnkappe.privacy.evaluate import needed_distributions, protect, satisfied
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Direction, Model, Monotonicity, SensitiveModel
from tarnkappe.registry import Registry

MODELS: Registry[Model] = Registry(
    "privacy model",
    KAnonymity,
    DistinctDiversity,
    EntropyDiversity,
)

__all__ = [
    "MODELS",
    "Direction",
    "DistinctDiversity",
    "EntropyDiversity",
    "KAnonymity",
    "Model",
    "Monotonicity",
    "SensitiveModel",
    "needed_distributions",
    "protect",
    "satisfied",
]
