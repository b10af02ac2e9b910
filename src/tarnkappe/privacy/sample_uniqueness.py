"""Sample uniqueness: few rows of the release are unique."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.exact import decimal, sql_ratio
from tarnkappe.privacy.model import Direction, Monotonicity
from tarnkappe.privacy.table_model import TableModel
from tarnkappe.schema import ExactShare, param
from tarnkappe.table.grouping import Counts


class SampleUniqueness(TableModel):
    """The share of the released rows that nobody else looks like is at most the threshold.

    Why suppressing the smallest classes is best: only unique rows count against the model, and each of them
    suppressed lowers their share by the same. Once the share is low enough it stays so: suppressing
    more unique rows lowers it, and without any it is 0.

    Why it is monotone with suppression too: of the rows kept at some levels, take at higher levels all
    classes that contain one. A unique row among them was unique before, and there are not fewer rows.
    """

    name = "sample-uniqueness"
    cites = ("dankar2012",)
    direction = Direction.AT_MOST

    threshold: Annotated[
        ExactShare, param("the largest share of rows that are unique", kind="share", start=0.0)
    ]

    @classmethod
    def examples(cls) -> tuple[SampleUniqueness, ...]:
        return (cls(0), cls(0.2))

    @property
    def promise(self) -> str:
        return f"At most a share of {decimal(self.threshold)} of the released rows are unique in the release."

    @property
    def bound(self) -> float:
        return float(decimal(self.threshold))

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True, True, "Generalization only merges classes: a row that is not unique never becomes so."
        )

    def measure_sizes(self, sizes: Counts, num_rows: int) -> float:
        return float(np.count_nonzero(sizes == 1) / sizes.sum())

    def sizes_hold(self, sizes: Counts, num_rows: int) -> bool:
        return int(np.count_nonzero(sizes == 1)) <= decimal(self.threshold) * int(sizes.sum())

    def size_weights(self, sizes: Counts) -> list[int]:
        share = decimal(self.threshold)
        return [share.denominator * (size == 1) - share.numerator * size for size in sizes.tolist()]

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.threshold)
        return f"""
            SELECT NULL AS class, count(*) FILTER (size = 1) / sum(size) AS value,
                count(*) FILTER (size = 1) * {denominator} <= sum(size) * {numerator} AS holds
            FROM classes HAVING count(*) > 0"""
