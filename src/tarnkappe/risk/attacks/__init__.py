"""Attacks on a release: one file each; `ATTACKS` lists them all."""

from collections.abc import Sequence

from tarnkappe.registry import Registry
from tarnkappe.risk.attacks.attack import Attack, AttackResult, Target, VictimClass
from tarnkappe.risk.attacks.background_knowledge import BackgroundKnowledge
from tarnkappe.risk.attacks.homogeneity import Homogeneity
from tarnkappe.risk.attacks.linking import Linking
from tarnkappe.risk.attacks.probabilistic_inference import ProbabilisticInference
from tarnkappe.risk.attacks.similarity import Similarity
from tarnkappe.risk.attacks.skewness import Skewness
from tarnkappe.table import State

ATTACKS: Registry[Attack] = Registry(
    "attack",
    Linking,
    Homogeneity,
    BackgroundKnowledge,
    ProbabilisticInference,
    Skewness,
    Similarity,
)


def attack_all(state: State, attacks: Sequence[Attack] | None = None) -> list[AttackResult]:
    """Attack a release in every way that can be tried on it.

    Args:
        state: the classes and which of them are released. The sensitive columns are those whose
            distributions the classes hold; where such a column has levels, these are the categories of
            the similarity attack.
        attacks: the attacks to run; if not given, all known ones with their usual parameters.
    """
    target = Target(state)
    if attacks is None:
        attacks = [attack for kind in ATTACKS for attack in kind.against(target)]
    return [attack.run(target) for attack in attacks]


__all__ = [
    "ATTACKS",
    "Attack",
    "AttackResult",
    "BackgroundKnowledge",
    "Homogeneity",
    "Linking",
    "ProbabilisticInference",
    "Similarity",
    "Skewness",
    "Target",
    "VictimClass",
    "attack_all",
]
