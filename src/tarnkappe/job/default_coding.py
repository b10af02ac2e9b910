"""Which way of coding a job gets that names none: classes of their own words, or one level in a column.

*Local recoding* (`regions`) writes every class as finely as the promises allow, so equal values may be
written differently in different rows. *Global recoding* (a search of the lattice) writes one level in a
column. The former loses far less and keeps every column readable; the latter is right where codes must be
the same in all rows, in several tables or over the years, and in a few cases it is the only way. Those are
decided here, each with a sentence that is shown to whoever asked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable

from tarnkappe.loss import Loss
from tarnkappe.privacy import DifferentialPrivacy, Model

DEFAULT_LOSS = "loss"
"""What is minimized if nothing is said: erasing a column costs the same whatever the column. Entropy charges
bits, so that a column with few values, such as sex, is the first to go."""
LOCAL = "regions"
"""The method for local recoding."""
GLOBAL = "auto"
"""The search for one level in a column."""
UNIFORM_SUPPRESSION = 0.05
"""The share of rows that may be left out with one level in a column, if nothing is said."""
OVERLAPPING = "equal values may be written differently in different rows; for one level use --uniform"


@dataclasses.dataclass(frozen=True)
class DefaultCoding:
    """How a table is coded if nobody says how.

    Attributes:
        algorithm: the name of a search or of a method.
        suppression_limit: the share of rows that may be suppressed unless the job says another.
        reason: why it is one level in a column, in a sentence; empty with local recoding.
    """

    algorithm: str
    suppression_limit: float
    reason: str = ""

    @property
    def uniform(self) -> bool:
        """Whether a column has one level in all rows."""
        return self.algorithm == GLOBAL


def default_coding(
    models: Iterable[Model] = (),
    loss: Loss | None = None,
    *,
    uniform: bool = False,
    levels: Collection[str] = (),
    treatments: Collection[str] = (),
    settings: Collection[str] = (),
    engine: str = "memory",
    federated: bool = False,
    continues: bool = False,
    refined_population: bool = False,
) -> DefaultCoding:
    """The coding of a job that names no algorithm.

    Args:
        models: what is promised.
        loss: what is minimized, if the job says it.
        uniform: whether one level in a column was asked for.
        levels: the columns whose level is set or limited.
        treatments: what else is asked for that only the search of levels does, in the words of a job.
        settings: parameters that only searches have.
        engine: where the rows are counted.
        federated: whether several sites publish together.
        continues: whether the release must keep its promises together with earlier ones.
        refined_population: whether rows are to be exchanged between classes while a population is placed.

    >>> default_coding().algorithm, default_coding(levels=["age"]).reason
    ('regions', 'one level in a column: the level of age is set')
    """
    promised = [part for model in models for part in model.parts]
    private = [part.name for part in promised if isinstance(part, DifferentialPrivacy)]
    reasons = {
        "it was asked for": uniform,
        f"the level of {', '.join(levels)} is set": bool(levels),
        f"{loss and loss.name} cannot measure cells at several levels": loss and not loss.measures_cells,
        f"{', '.join(private)} allows no choice that looks at the data": bool(private),
        f"{', '.join(treatments)} is done to levels": bool(treatments),
        f"{', '.join(settings)} is a setting of searches": bool(settings),
        f"the rows stay in {engine}, which can only be told levels": engine != "memory",
        "sites can only agree upon levels": federated,
        "codes must stay comparable with earlier releases": continues,
        "of a member of the population nobody could tell the class after rows were exchanged": (
            refined_population
        ),
    }
    for reason, holds in reasons.items():
        if holds:
            return DefaultCoding(GLOBAL, UNIFORM_SUPPRESSION, f"one level in a column: {reason}")
    return DefaultCoding(LOCAL, 0.0)
