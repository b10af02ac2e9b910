"""Information losses: one file each; `LOSSES` lists them all."""

from tarnkappe.loss.aecs import AverageClassSize
from tarnkappe.loss.aecs_released import AverageReleasedClassSize
from tarnkappe.loss.aggregate import AggregateFunction, Weighting
from tarnkappe.loss.ambiguity import Ambiguity
from tarnkappe.loss.classification import Classification
from tarnkappe.loss.discernibility import Discernibility
from tarnkappe.loss.discernibility_star import DiscernibilityStar
from tarnkappe.loss.discernibility_star_released import DiscernibilityStarReleased
from tarnkappe.loss.entropy import Entropy
from tarnkappe.loss.entropy_based import EntropyBased
from tarnkappe.loss.entropy_suppression_aware import EntropySuppressionAware
from tarnkappe.loss.entropy_uniform import EntropyUniform
from tarnkappe.loss.height import Height
from tarnkappe.loss.interval_loss import IntervalLoss
from tarnkappe.loss.kl_divergence import KLDivergence
from tarnkappe.loss.leaf_loss import LeafLoss
from tarnkappe.loss.leaves import Leaves
from tarnkappe.loss.loss_geometric_mean import LossGeometricMean
from tarnkappe.loss.measure import ColumnLoss, Loss
from tarnkappe.loss.normalized_class_size import NormalizedClassSize
from tarnkappe.loss.normalized_entropy import NormalizedEntropy
from tarnkappe.loss.precision import Precision
from tarnkappe.loss.precision_cells import PrecisionCells
from tarnkappe.loss.precision_star import PrecisionStar
from tarnkappe.loss.publisher_payout import PayoutAttacker, PublisherPayout
from tarnkappe.loss.static import StaticLoss
from tarnkappe.schema import Family

LOSSES: Family[Loss] = Family(
    "loss",
    Height,
    Precision,
    PrecisionCells,
    PrecisionStar,
    LeafLoss,
    LossGeometricMean,
    IntervalLoss,
    AverageClassSize,
    AverageReleasedClassSize,
    NormalizedClassSize,
    Discernibility,
    DiscernibilityStar,
    DiscernibilityStarReleased,
    Entropy,
    EntropySuppressionAware,
    EntropyUniform,
    NormalizedEntropy,
    Classification,
    Ambiguity,
    KLDivergence,
    EntropyBased,
    PublisherPayout,
    StaticLoss,
)

__all__ = [
    "LOSSES",
    "AggregateFunction",
    "Ambiguity",
    "AverageClassSize",
    "AverageReleasedClassSize",
    "Classification",
    "ColumnLoss",
    "Discernibility",
    "DiscernibilityStar",
    "DiscernibilityStarReleased",
    "Entropy",
    "EntropyBased",
    "EntropySuppressionAware",
    "EntropyUniform",
    "Height",
    "IntervalLoss",
    "KLDivergence",
    "LeafLoss",
    "Leaves",
    "Loss",
    "LossGeometricMean",
    "NormalizedClassSize",
    "NormalizedEntropy",
    "PayoutAttacker",
    "Precision",
    "PrecisionCells",
    "PrecisionStar",
    "PublisherPayout",
    "StaticLoss",
    "Weighting",
]
