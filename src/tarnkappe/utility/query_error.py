"""How wrong the answers are that a release gives to a workload."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tarnkappe.utility.domain import Weights
from tarnkappe.utility.view import ReleaseReader
from tarnkappe.utility.workload import WorkloadQuery

SANITY = 0.001
"""Answers below this share of what all rows together give count as if they were as large: a query that nobody
meets has no relative error, and one that two people meet would weigh more than all others."""


@dataclasses.dataclass(frozen=True)
class WorkloadErrors:
    """The relative errors of a workload.

    Attributes:
        queries: how many queries were asked.
        median: half of them were answered with a smaller relative error.
        worst_tenth: nine of ten were.
    """

    queries: int
    median: float
    worst_tenth: float

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, eq=False)
class AnsweredWorkload:
    """Queries with their true answers, to be asked of several releases.

    Attributes:
        queries: the queries.
        truths: their answers on the original.
        scales: what the error of each is divided by.
    """

    queries: Sequence[WorkloadQuery]
    truths: Weights
    scales: Weights

    @classmethod
    def of(cls, original: ReleaseReader, queries: Sequence[WorkloadQuery]) -> AnsweredWorkload:
        """Ask the original."""
        totals = {
            s: abs(original.answer(WorkloadQuery({}, s))) for s in dict.fromkeys(q.summed for q in queries)
        }
        truths = np.array([original.answer(query) for query in queries])
        least = np.array([SANITY * totals[query.summed] for query in queries])
        return cls(queries, truths, np.maximum(np.abs(truths), least))

    def error(self, release: ReleaseReader) -> WorkloadErrors:
        """Ask a release."""
        return error_of(self.errors(release))

    def errors(self, release: ReleaseReader) -> Weights:
        """The relative error of each query.

        It is |answer - truth| / max(|truth|, `SANITY` of what all rows give).
        """
        answers = np.array([release.answer(query) for query in self.queries])
        off = np.abs(answers - self.truths)
        return np.divide(off, self.scales, out=np.zeros_like(off), where=self.scales > 0)


def error_of(errors: Weights) -> WorkloadErrors:
    """The median and the ninth decile of relative errors."""
    return WorkloadErrors(len(errors), float(np.median(errors)), float(np.quantile(errors, 0.9)))
