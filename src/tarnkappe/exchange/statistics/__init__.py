"""The global statistics: figures of the population, their imports, and what is asked of them."""

from tarnkappe.exchange.statistics.imports import import_file
from tarnkappe.exchange.statistics.queries import QUERIES, Asked, PopulationProfile, ask
from tarnkappe.exchange.statistics.store import (
    EVERYBODY,
    PopulationDistribution,
    PopulationFigure,
    Statistics,
)

__all__ = [
    "EVERYBODY",
    "QUERIES",
    "Asked",
    "PopulationDistribution",
    "PopulationFigure",
    "PopulationProfile",
    "Statistics",
    "ask",
    "import_file",
]
