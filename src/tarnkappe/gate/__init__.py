"""Free queries that leave everybody in an answer k possible values: knowledge, strategies, gate."""

from tarnkappe.gate.answer import Answer, Block, HistoryEntry, Refusal
from tarnkappe.gate.delta_top import CloneMatching, MaxAnonymity, MaxEdges, SimpleMatching
from tarnkappe.gate.domain import LabelDomain
from tarnkappe.gate.exact import Exact
from tarnkappe.gate.gate import Gate
from tarnkappe.gate.ilp import Ilp
from tarnkappe.gate.knowledge import Knowledge
from tarnkappe.gate.m_invariance import MInvariance
from tarnkappe.gate.population import Population
from tarnkappe.gate.public_pool import PublicPool
from tarnkappe.gate.sa_unique import SaUnique, SaUniqueA, SaUniqueB, SaUniqueC, UniqueThenClone
from tarnkappe.gate.strategy import AnswerProposal, ResultPart, Strategy
from tarnkappe.gate.witness_pool import WitnessPool
from tarnkappe.schema import Family

STRATEGIES: Family[Strategy] = Family(
    "strategy",
    WitnessPool,
    Exact,
    Ilp,
    CloneMatching,
    SimpleMatching,
    MaxAnonymity,
    MaxEdges,
    SaUnique,
    SaUniqueA,
    SaUniqueB,
    SaUniqueC,
    UniqueThenClone,
    MInvariance,
)

__all__ = [
    "STRATEGIES",
    "Answer",
    "AnswerProposal",
    "Block",
    "CloneMatching",
    "Exact",
    "Gate",
    "HistoryEntry",
    "Ilp",
    "Knowledge",
    "LabelDomain",
    "MInvariance",
    "MaxAnonymity",
    "MaxEdges",
    "Population",
    "PublicPool",
    "Refusal",
    "ResultPart",
    "SaUnique",
    "SaUniqueA",
    "SaUniqueB",
    "SaUniqueC",
    "SimpleMatching",
    "Strategy",
    "UniqueThenClone",
    "WitnessPool",
]
