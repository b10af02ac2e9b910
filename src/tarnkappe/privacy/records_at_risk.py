"""Records at risk: few rows are easier to re-identify than a stated risk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.exact import decimal, shown, sql_ratio
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Direction, Model, Monotonicity
from tarnkappe.privacy.table_model import TableModel
from tarnkappe.schema import ExactPositiveShare, ExactShare, param
from tarnkappe.table import Tuples
from tarnkappe.table.grouping import Counts


class RecordsAtRisk(TableModel):
    """At most a share of the released rows is re-identified with a probability above `highest_risk`.

    A row in a class of n rows is found with probability 1/n. Those in classes with 1/n > `highest_risk` are
    at risk (El Emam and Dankar 2008). With a share of 0 this is k-anonymity, with 1/k the highest risk.

    Suppressing the smallest classes first: each suppressed class of rows at risk lowers the share, and
    without any it is 0. It need not be the fewest rows: where three rows at risk must go, a class of three
    would do, and classes of two are suppressed before it.

    Why it survives merging without suppression: a row that is not at risk never becomes so. With
    suppression a row at risk that is kept may be merged with one that was suppressed; then two are at risk.
    """

    name = "records-at-risk"
    cites = ("elemam2008",)
    direction = Direction.AT_MOST

    highest_risk: Annotated[
        ExactPositiveShare,
        param("the probability of being found above which a row is at risk", kind="share", start=0.2),
    ]
    share: Annotated[
        ExactShare, param("the largest share of released rows that are at risk", kind="share", start=0.05)
    ]

    @classmethod
    def examples(cls) -> tuple[RecordsAtRisk, ...]:
        return (cls("1/3", 0.3), cls(0.5, 0))

    @property
    def promise(self) -> str:
        return (
            f"At most a share of {shown(self.share)} of the released rows can be re-identified with a "
            f"probability above {shown(self.highest_risk)}."
        )

    @property
    def bound(self) -> float:
        return float(decimal(self.share))

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            decimal(self.share) == 0,
            "Generalization only merges classes, and a row that is not at risk never becomes so; but a row "
            "at risk may be merged with a suppressed one, and then both are at risk.",
        )

    @property
    def safe_size(self) -> int:
        """The rows of the smallest class whose rows are not at risk."""
        return math.ceil(1 / decimal(self.highest_risk))

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (KAnonymity(self.safe_size),) if decimal(self.share) == 0 and self.safe_size > 1 else ()

    def surely_enough(self, ascending: Counts) -> int:
        return int(np.searchsorted(ascending, self.safe_size))

    def measure_sizes(self, sizes: Counts, num_rows: int) -> float:
        return float(sizes[sizes < self.safe_size].sum() / sizes.sum())

    def sizes_hold(self, sizes: Counts, num_rows: int) -> bool:
        at_risk = int(sizes[sizes < self.safe_size].sum())
        return at_risk <= decimal(self.share) * int(sizes.sum())

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        (risk, risk_of), (share, share_of) = sql_ratio(self.highest_risk), sql_ratio(self.share)
        return f"""
            WITH rows_at_risk AS (
                SELECT coalesce(sum(size) FILTER (size * {risk} < {risk_of}), 0) AS n, sum(size) AS rows
                FROM classes HAVING count(*) > 0)
            SELECT NULL AS class, n / rows AS value, n * {share_of} <= rows * {share} AS holds
            FROM rows_at_risk"""
