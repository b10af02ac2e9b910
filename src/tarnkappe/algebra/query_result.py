"""The answer to a query, and all that is to be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tarnkappe.algebra.explanation import Explanation
from tarnkappe.algebra.lowering.released import decoded
from tarnkappe.algebra.verification import VerifiedPromise

if TYPE_CHECKING:
    from tarnkappe.privacy.verify import Verification
    from tarnkappe.state.budgets import Budget

BATCH = 2**16


@dataclass(frozen=True)
class QueryResult:
    """The answer to a query, and all that is to be said of it.

    Attributes:
        coded: the rows; texts of few different values are Arrow dictionaries, as they came from the engine.
        explanation: how the query was rewritten, what it promises, what there is to warn of.
        verified: the promises, each with what was measured in the rows.
        degree: how many rows the smallest class of the generalized columns has; None if there are none.
        spent: the privacy budget of each table that has paid, as it is now.
        seconds: how long each stage took.
        models: what generalizations under models were verified to keep, where they ran.
    """

    coded: pa.Table
    explanation: Explanation
    verified: tuple[VerifiedPromise, ...]
    degree: int | None
    spent: Mapping[str, Budget]
    seconds: Mapping[str, float]
    models: tuple[Verification, ...] = ()

    @cached_property
    def table(self) -> pa.Table:
        """The rows, with all texts as they are."""
        return decoded(self.coded)

    def batches(self, rows: int = BATCH) -> pa.RecordBatchReader:
        """The rows piece by piece, for who writes or sends them on; texts of few values are dictionaries."""
        return self.coded.to_reader(max_chunksize=rows)

    def as_dict(self) -> dict[str, Any]:
        """All but the rows, for machines."""
        return {
            "rows": self.coded.num_rows,
            "columns": self.coded.column_names,
            **self.explanation.as_dict(),
            "verified": [kept.as_dict() for kept in self.verified],
            "models": [
                {"model": each.model.name, "promise": each.model.promise, "measured": each.value}
                for each in self.models
            ],
            "degree": self.degree,
            "budgets": {
                table: {"user": budget.user, "spent": float(budget.spent), "left": float(budget.left)}
                for table, budget in self.spent.items()
            },
            "seconds": {stage: round(seconds, 6) for stage, seconds in self.seconds.items()},
        }
