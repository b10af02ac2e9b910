"""The global statistics: figures of the population, their imports, and what is asked of them."""

from tarnkappe.exchange.statistics.imports import import_file
from tarnkappe.exchange.statistics.queries import QUERIES, Asked, Profile, ask
from tarnkappe.exchange.statistics.store import EVERYBODY, Distribution, Fact, Statistics

__all__ = [
    "EVERYBODY",
    "QUERIES",
    "Asked",
    "Distribution",
    "Fact",
    "Profile",
    "Statistics",
    "ask",
    "import_file",
]
