"""Free queries whose answers never add up to a disclosure: attacker's knowledge, strategies, gate."""

from tarnkappe.gate.exact import Exact
from tarnkappe.gate.gate import Answer, Block, Entry, Gate, Refusal
from tarnkappe.gate.ilp import Ilp
from tarnkappe.gate.knowledge import Knowledge
from tarnkappe.gate.population import Population
from tarnkappe.gate.strategy import Part, Proposal, Strategy
from tarnkappe.gate.witness_pool import WitnessPool
from tarnkappe.registry import Registry

STRATEGIES: Registry[Strategy] = Registry(
    "strategy",
    WitnessPool,
    Exact,
    Ilp,
)

__all__ = [
    "STRATEGIES",
    "Answer",
    "Block",
    "Entry",
    "Exact",
    "Gate",
    "Ilp",
    "Knowledge",
    "Part",
    "Population",
    "Proposal",
    "Refusal",
    "Strategy",
    "WitnessPool",
]
