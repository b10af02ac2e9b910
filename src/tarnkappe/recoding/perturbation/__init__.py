"""Perturbations: columns are changed at random or blurred before anything is promised; one file each."""

from tarnkappe.recoding.perturbation.mdav import MicroAggregation
from tarnkappe.recoding.perturbation.measured import PerturbationFigures, measured
from tarnkappe.recoding.perturbation.noise import AdditiveNoise
from tarnkappe.recoding.perturbation.perturbation import Perturbation, Perturbed, perturb
from tarnkappe.recoding.perturbation.post_randomization import PostRandomization
from tarnkappe.recoding.perturbation.rank_swapping import RankSwapping
from tarnkappe.schema import Family

PERTURBATIONS: Family[Perturbation] = Family(
    "perturbation",
    AdditiveNoise,
    RankSwapping,
    MicroAggregation,
    PostRandomization,
)

__all__ = [
    "PERTURBATIONS",
    "AdditiveNoise",
    "MicroAggregation",
    "Perturbation",
    "PerturbationFigures",
    "Perturbed",
    "PostRandomization",
    "RankSwapping",
    "measured",
    "perturb",
]
