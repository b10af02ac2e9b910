"""Privacy models: one file each; `MODELS` lists them all."""

from tarnkappe.privacy.alpha_k_anonymity import AlphaKAnonymity
from tarnkappe.privacy.average_risk import AverageRisk
from tarnkappe.privacy.basic_beta_likeness import BasicBetaLikeness
from tarnkappe.privacy.confidence_bounding import ConfidenceBounding
from tarnkappe.privacy.delta_disclosure import DeltaDisclosure
from tarnkappe.privacy.delta_presence import DeltaPresence
from tarnkappe.privacy.differential_privacy import DifferentialPrivacy
from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.enhanced_beta_likeness import EnhancedBetaLikeness
from tarnkappe.privacy.entropy_diversity import EntropyDiversity
from tarnkappe.privacy.epsilon_m_anonymity import EpsilonMAnonymity
from tarnkappe.privacy.equal_closeness import EqualCloseness
from tarnkappe.privacy.evaluate import monotone, needed_distributions, protect, satisfied
from tarnkappe.privacy.hierarchical_closeness import HierarchicalCloseness
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.k_e_anonymity import KEAnonymity
from tarnkappe.privacy.k_map import KMap
from tarnkappe.privacy.kullback_leibler_closeness import KullbackLeiblerCloseness
from tarnkappe.privacy.lkc_privacy import LKCPrivacy
from tarnkappe.privacy.m_privacy import MPrivacy
from tarnkappe.privacy.m_private_diversity import MPrivateDiversity
from tarnkappe.privacy.model import Direction, Model, ModelScope, Monotonicity, SensitiveModel
from tarnkappe.privacy.multi_relational_k_anonymity import MultiRelationalKAnonymity
from tarnkappe.privacy.n_t_closeness import NTCloseness
from tarnkappe.privacy.negative_disclosure_recursive_diversity import NegativeDisclosureRecursiveDiversity
from tarnkappe.privacy.no_attack import JournalistNoAttack, ProsecutorNoAttack
from tarnkappe.privacy.ordered_closeness import OrderedCloseness
from tarnkappe.privacy.p_sensitive_k_anonymity import PSensitiveKAnonymity
from tarnkappe.privacy.personalized_anonymity import PersonalizedAnonymity
from tarnkappe.privacy.population_coverage import PopulationCoverage
from tarnkappe.privacy.population_uniqueness import PopulationUniqueness
from tarnkappe.privacy.positive_disclosure_recursive_diversity import PositiveDisclosureRecursiveDiversity
from tarnkappe.privacy.profitability import JournalistProfitability, ProsecutorProfitability
from tarnkappe.privacy.records_at_risk import RecordsAtRisk
from tarnkappe.privacy.recursive_diversity import RecursiveDiversity
from tarnkappe.privacy.sample_uniqueness import SampleUniqueness
from tarnkappe.privacy.squared_error_diversity import SquaredErrorDiversity
from tarnkappe.privacy.subset_anonymity import SubsetAnonymity
from tarnkappe.privacy.subset_confidence import SubsetConfidence
from tarnkappe.privacy.value_closeness import ValueCloseness
from tarnkappe.privacy.value_range import ValueRange
from tarnkappe.privacy.variational_closeness import VariationalCloseness
from tarnkappe.privacy.x_y_anonymity import XYAnonymity
from tarnkappe.privacy.x_y_linkability import XYLinkability
from tarnkappe.privacy.x_y_privacy import XYPrivacy
from tarnkappe.schema import Family

MODELS: Family[Model] = Family(
    "privacy model",
    KAnonymity,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    PositiveDisclosureRecursiveDiversity,
    NegativeDisclosureRecursiveDiversity,
    EqualCloseness,
    OrderedCloseness,
    HierarchicalCloseness,
    VariationalCloseness,
    KullbackLeiblerCloseness,
    DeltaDisclosure,
    NTCloseness,
    BasicBetaLikeness,
    EnhancedBetaLikeness,
    DeltaPresence,
    PopulationCoverage,
    KMap,
    PSensitiveKAnonymity,
    AlphaKAnonymity,
    ConfidenceBounding,
    XYAnonymity,
    XYLinkability,
    XYPrivacy,
    MultiRelationalKAnonymity,
    MPrivacy,
    MPrivateDiversity,
    PersonalizedAnonymity,
    ValueCloseness,
    SquaredErrorDiversity,
    ValueRange,
    KEAnonymity,
    EpsilonMAnonymity,
    SubsetAnonymity,
    SubsetConfidence,
    LKCPrivacy,
    AverageRisk,
    RecordsAtRisk,
    SampleUniqueness,
    PopulationUniqueness,
    ProsecutorProfitability,
    JournalistProfitability,
    ProsecutorNoAttack,
    JournalistNoAttack,
    DifferentialPrivacy,
)

__all__ = [
    "MODELS",
    "AlphaKAnonymity",
    "AverageRisk",
    "BasicBetaLikeness",
    "ConfidenceBounding",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "Direction",
    "DistinctDiversity",
    "EnhancedBetaLikeness",
    "EntropyDiversity",
    "EpsilonMAnonymity",
    "EqualCloseness",
    "HierarchicalCloseness",
    "JournalistNoAttack",
    "JournalistProfitability",
    "KAnonymity",
    "KEAnonymity",
    "KMap",
    "KullbackLeiblerCloseness",
    "LKCPrivacy",
    "MPrivacy",
    "MPrivateDiversity",
    "Model",
    "ModelScope",
    "Monotonicity",
    "MultiRelationalKAnonymity",
    "NTCloseness",
    "NegativeDisclosureRecursiveDiversity",
    "OrderedCloseness",
    "PSensitiveKAnonymity",
    "PersonalizedAnonymity",
    "PopulationCoverage",
    "PopulationUniqueness",
    "PositiveDisclosureRecursiveDiversity",
    "ProsecutorNoAttack",
    "ProsecutorProfitability",
    "RecordsAtRisk",
    "RecursiveDiversity",
    "SampleUniqueness",
    "SensitiveModel",
    "SquaredErrorDiversity",
    "SubsetAnonymity",
    "SubsetConfidence",
    "ValueCloseness",
    "ValueRange",
    "VariationalCloseness",
    "XYAnonymity",
    "XYLinkability",
    "XYPrivacy",
    "monotone",
    "needed_distributions",
    "protect",
    "satisfied",
]
