"""m-privacy: k-anonymity that holds, too, against those who have given some of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.privacy.requiring import require
from tarnkappe.schema import Name, Rows, param
from tarnkappe.table import SUPPRESSED, Classes, Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts, sum_by_group

Insiders = Annotated[int, param("how many of those who gave rows may work together", ge=1, le=1_000, start=1)]

NOT_WITH_SUPPRESSION = (
    "What others have in merged classes adds up: none or enough stays none or enough. But a class that was "
    "suppressed may be merged with one of a single insider, and then what is left is too little."
)


def left_by_insiders(distribution: Distribution, m: int) -> Counts:
    """How many rows of a class are left at least if m of those who gave rows take out theirs.

    What is left must be somebody's: where all would be gone, one fewer works together. So those with most
    rows take them out, and at least one of them stays.
    """
    order = np.lexsort((-distribution.counts, distribution.class_of_entry))
    number = np.diff(distribution.offsets)
    rank = np.arange(len(order)) - np.repeat(distribution.offsets[:-1], number)
    taken = rank < np.repeat(np.minimum(m, number - 1), number)
    gone = sum_by_group(
        distribution.class_of_entry[taken], distribution.counts[order][taken], distribution.num_classes
    )
    return distribution.sizes - gone


def require_known_insiders(model: Model, tuples: Tuples, column: str) -> None:
    """Refuse rows of which it is not said whose they are."""
    require(
        SUPPRESSED not in tuples.columns[column].labels,
        "privacy.insider-suppressed",
        "{model}: '{column}' has suppressed cells, so nobody knows whose these rows are",
        model=model,
        column=column,
    )


class MPrivacy(Model):
    """Whoever gave rows and takes them out finds none of others in a class, or at least k of them.

    Goryczka, Xiong and Fung 2014. `insider` says who gave each row: a hospital, a ward, a physician. Up to m
    of them work together: all that they know of a released class is their own rows in it. For every such
    coalition the rows of the others in each class are none or at least k; nobody's rows taken out, that is
    k-anonymity.

    >>> MPrivacy(5, "site").promise
    "If one value of 'site' takes out its own rows, every class of the release has none or at least 5 left."
    """

    name = "m-privacy"
    cites = ("goryczka2014",)
    direction = Direction.AT_LEAST

    k: Annotated[Rows, param("rows of others that every class has at least", unit="rows", start=5)]
    insider: Annotated[Name, param("the column that says who gave each row", kind="column")]
    m: Insiders = 1

    @classmethod
    def examples(cls) -> tuple[MPrivacy, ...]:
        return (cls(2, "treatment"), cls(2, "income", 2))

    @property
    def promise(self) -> str:
        return (
            f"If {coalition(self.m, self.insider)} its own rows, every class of the release has none or at "
            f"least {self.k} left."
        )

    @property
    def bound(self) -> float:
        return self.k

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(True, False, NOT_WITH_SUPPRESSION)

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        return ((self.insider,),)

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (KAnonymity(self.k),)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        KAnonymity(self.k).check(tuples, quasi_identifiers)
        require_known_insiders(self, tuples, self.insider)

    def measure(self, classes: Classes) -> Measure:
        """The least number of rows that a coalition leaves, if it leaves any."""
        return left_by_insiders(classes.distributions[self.insider,], self.m).astype(np.float64)

    def holds(self, classes: Classes) -> Mask:
        return left_by_insiders(classes.distributions[self.insider,], self.m) >= self.k

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"""
            SELECT class, sum(n) - coalesce(sum(n) FILTER (place <= {self.m} AND place < number), 0) AS value,
                value >= {self.k} AS holds
            FROM (SELECT class, n, count(*) OVER (PARTITION BY class) AS number,
                      row_number() OVER (PARTITION BY class ORDER BY n DESC) AS place FROM counts)
            GROUP BY class"""


def coalition(m: int, column: str) -> str:
    """Who takes out rows, in words.

    >>> coalition(1, "site"), coalition(2, "site")
    ("one value of 'site' takes out", "a coalition of at most 2 values of 'site' takes out")
    """
    return (
        f"one value of '{column}' takes out"
        if m == 1
        else (f"a coalition of at most {m} values of '{column}' takes out")
    )
