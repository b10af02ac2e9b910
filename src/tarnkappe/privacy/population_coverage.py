"""Population coverage: nobody in the population is shown to be absent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.privacy.k_map import missing_population, population_of
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.classes import Mask


class PopulationCoverage(Model):
    """Every class of the population has at least one row in the table.

    A person whose class has none is known to be absent. There is nothing in such a class that could be
    suppressed, so a state that has one is beyond repair. This is what delta-presence with any minimum
    above 0 demands at least.
    """

    name = "population-coverage"
    cites = ("nergiz2007",)
    direction = Direction.AT_LEAST
    looks_beyond_release = True

    @classmethod
    def examples(cls) -> tuple[PopulationCoverage, ...]:
        return (cls(),)

    @property
    def promise(self) -> str:
        return "Of nobody in the population it can be told that he or she is not in the table."

    @property
    def bound(self) -> float:
        return 1

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True, True, "If every class has a row of the table, so has every class merged from them."
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (self,)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        if tuples.population is None:
            raise ParameterError.because(missing_population(self))

    def measure(self, classes: Classes) -> Measure:
        return classes.sizes.astype(np.float64)

    def holds(self, classes: Classes) -> Mask:
        return classes.sizes > 0

    def irreparable(self, classes: Classes) -> bool:
        return bool(np.any((population_of(self, classes) > 0) & (classes.sizes == 0)))

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"""
            WITH absent AS ({SQL_ABSENT})
            SELECT class, size AS value, true AS holds FROM classes
            UNION ALL SELECT class, NULL, excused FROM absent"""


SQL_ABSENT = """
    SELECT class, row_number() OVER () <= input_size.n - (SELECT count(*) FROM release) AS excused
    FROM population ANTI JOIN classes USING (class) CROSS JOIN input_size"""
"""The classes of the population that are absent from the release.

An absent class may be a suppressed one, which had at least one row. So of the absent classes at most as
many as there are suppressed rows can be excused, and that is as far as a release can be verified without
the rows that it does not show.
"""
