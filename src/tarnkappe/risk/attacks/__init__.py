"""Attacks on a release: one file each; `ATTACKS` lists them all."""

from collections.abc import Sequence

from tarnkappe.risk.attacks.anatomy_membership import AnatomyMembership
from tarnkappe.risk.attacks.anatomy_order import AnatomyOrder
from tarnkappe.risk.attacks.attack import Attack, AttackResult, VictimClass
from tarnkappe.risk.attacks.background import (
    NOTHING,
    AttackNeed,
    Background,
    ExclusionRule,
    Function,
    Listing,
    PublishedAggregate,
    columns_from_people,
)
from tarnkappe.risk.attacks.background_knowledge import BackgroundKnowledge
from tarnkappe.risk.attacks.complementary_release import ComplementaryRelease
from tarnkappe.risk.attacks.differencing import Differencing
from tarnkappe.risk.attacks.homogeneity import Homogeneity
from tarnkappe.risk.attacks.knowledge_rules import KnowledgeRules
from tarnkappe.risk.attacks.linking import Linking
from tarnkappe.risk.attacks.membership import MembershipAttack
from tarnkappe.risk.attacks.minimality import Minimality
from tarnkappe.risk.attacks.probabilistic_inference import ProbabilisticInference
from tarnkappe.risk.attacks.quasi_identifier_join import QuasiIdentifierJoin
from tarnkappe.risk.attacks.reconstruction import Reconstruction
from tarnkappe.risk.attacks.register_linking import RegisterLinking
from tarnkappe.risk.attacks.row_order import RowOrder
from tarnkappe.risk.attacks.sensitive_join import SensitiveJoin
from tarnkappe.risk.attacks.similarity import Similarity
from tarnkappe.risk.attacks.skewness import Skewness
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.attacks.temporal import Temporal
from tarnkappe.schema import Family
from tarnkappe.table import ClassState

ATTACKS: Family[Attack] = Family(
    "attack",
    Linking,
    Homogeneity,
    BackgroundKnowledge,
    ProbabilisticInference,
    Skewness,
    Similarity,
    RegisterLinking,
    KnowledgeRules,
    MembershipAttack,
    ComplementaryRelease,
    QuasiIdentifierJoin,
    SensitiveJoin,
    RowOrder,
    Temporal,
    Minimality,
    AnatomyMembership,
    AnatomyOrder,
    Differencing,
    Reconstruction,
)


def attack_all(
    state: ClassState, attacks: Sequence[Attack] | None = None, background: Background = NOTHING
) -> list[AttackResult]:
    """Attack a release in every way that can be tried on it.

    Args:
        state: the classes and which of them are released. The sensitive columns are those whose
            distributions the classes hold; where such a column has levels, these are the categories of
            the similarity attack.
        attacks: the attacks to run; if not given, all known ones with their usual parameters.
        background: what the attacker has beside the release.
    """
    target = Target(state, background)
    if attacks is None:
        attacks = [attack for kind in ATTACKS for attack in kind.against(target)]
    return [attack.run(target) for attack in attacks]


__all__ = [
    "ATTACKS",
    "NOTHING",
    "AnatomyMembership",
    "AnatomyOrder",
    "Attack",
    "AttackNeed",
    "AttackResult",
    "Background",
    "BackgroundKnowledge",
    "ComplementaryRelease",
    "Differencing",
    "ExclusionRule",
    "Function",
    "Homogeneity",
    "KnowledgeRules",
    "Linking",
    "Listing",
    "MembershipAttack",
    "Minimality",
    "ProbabilisticInference",
    "PublishedAggregate",
    "QuasiIdentifierJoin",
    "Reconstruction",
    "RegisterLinking",
    "RowOrder",
    "SensitiveJoin",
    "Similarity",
    "Skewness",
    "Target",
    "Temporal",
    "VictimClass",
    "attack_all",
    "columns_from_people",
]
