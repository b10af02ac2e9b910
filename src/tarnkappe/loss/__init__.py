"""Information losses: one file each; `LOSSES` lists them all."""

from tarnkappe.loss.entropy import Entropy
from tarnkappe.loss.height import Height
from tarnkappe.loss.measure import Aggregate, ColumnLoss, Loss
from tarnkappe.registry import Registry

LOSSES: Registry[Loss] = Registry(
    "loss",
    Height,
    Entropy,
)

__all__ = ["LOSSES", "Aggregate", "ColumnLoss", "Entropy", "Height", "Loss"]
