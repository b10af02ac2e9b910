"""Average risk: the mean probability of being re-identified is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from tarnkappe.privacy.exact import decimal, sql_ratio
from tarnkappe.privacy.model import Direction, Monotonicity
from tarnkappe.privacy.requiring import require
from tarnkappe.privacy.table_model import TableModel
from tarnkappe.schema import ExactPositiveShare, param
from tarnkappe.table import Tuples
from tarnkappe.table.grouping import Counts


class AverageRisk(TableModel):
    """The mean re-identification risk of all released rows is at most the threshold.

    A row in a class of n rows is re-identified with probability 1/n, so the mean over all rows is the
    number of classes divided by the number of rows. Single rows may be at a much higher risk.

    Why suppressing the smallest classes is best: what must not exceed 0 is classes - threshold x rows, and
    a class of n rows, if suppressed, lowers it by 1 - threshold x n. If some class is suppressed and a
    smaller one is not, exchanging them lowers it more and costs fewer rows. And once the mean risk is low
    enough it stays so: taking the smallest classes away only raises the mean size of the others.

    Why it is monotone with suppression too: of the rows kept at some levels, take at higher levels all
    classes that contain one. There are not more of these classes than before, and not fewer rows in them.
    """

    name = "average-risk"
    cites = ("elemam2008",)
    direction = Direction.AT_MOST

    threshold: Annotated[
        ExactPositiveShare, param("the largest average risk of being found", kind="share", start=0.05)
    ]

    @classmethod
    def examples(cls) -> tuple[AverageRisk, ...]:
        return (cls(0.5), cls("1/3"))

    @property
    def promise(self) -> str:
        return (
            "On average over all rows of the release, somebody is re-identified "
            f"with a probability of at most {decimal(self.threshold)}."
        )

    @property
    def bound(self) -> float:
        return float(decimal(self.threshold))

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True, True, "Generalization only merges classes: the same rows lie in fewer classes."
        )

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        require(
            tuples.num_rows * decimal(self.threshold) >= 1,
            "privacy.even-if-all-rows",
            "{model}: even if all {num_rows} rows look the same, the risk is higher: choose a larger "
            "threshold",
            model=self,
            num_rows=tuples.num_rows,
        )

    def measure_sizes(self, sizes: Counts, num_rows: int) -> float:
        return len(sizes) / int(sizes.sum())

    def sizes_hold(self, sizes: Counts, num_rows: int) -> bool:
        return len(sizes) <= decimal(self.threshold) * int(sizes.sum())

    def size_weights(self, sizes: Counts) -> list[int]:
        share = decimal(self.threshold)
        return [share.denominator - share.numerator * size for size in sizes.tolist()]

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.threshold)
        return f"""
            SELECT NULL AS class, count(*) / sum(size) AS value,
                count(*) * {denominator} <= sum(size) * {numerator} AS holds
            FROM classes HAVING count(*) > 0"""
