"""Classify every combination of levels of a job."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from tarnkappe.job import Job, explore_job
from tarnkappe.lattice import LatticeView
from tarnkappe.report.figures import lattice_figures
from tarnkappe.service.work.documents import RestJob
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome
from tarnkappe.table import write

TABLE = "lattice.parquet"
MOST_LISTED = 100_000
"""So many nodes are told one by one; of larger lattices there is the table."""


class LatticeJob(JobKind):
    """Does each combination of levels keep the promises, what does it lose, what suppress?"""

    name = "lattice"
    document = RestJob

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        Job.from_dict(document)

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        start = time.perf_counter()
        view = explore_job(Job.from_dict(document), work.progress).lattice
        write(view.to_arrow(), work.folder / TABLE)
        told = lattice_figures(view, time.perf_counter() - start, None, None) | {"listed": _listed(view)}
        return JobOutcome(told, repr(view), files={"lattice": TABLE})


def _listed(view: LatticeView) -> dict[str, Any] | None:
    """Every node by the columns of the lattice, for a page that draws them."""
    if len(view) > MOST_LISTED:
        return None
    best = view.best
    found = [] if best is None else np.flatnonzero((view.levels == np.array(best.node)).all(axis=1)).tolist()
    return {
        "columns": list(view.problem.quasi_identifiers),
        "heights": list(view.problem.lattice.top),
        "nodes": view.levels.tolist(),
        "satisfied": view.satisfied.tolist(),
        "loss": [None if np.isnan(loss) else loss for loss in view.losses.tolist()],
        "suppressed": view.suppressed.tolist(),
        "classes": view.classes.tolist(),
        "best": found[0] if found else None,
    }
