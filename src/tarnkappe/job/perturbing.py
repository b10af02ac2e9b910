"""When the columns of a job may be perturbed."""

from __future__ import annotations

from tarnkappe.errors import JobError
from tarnkappe.job.job import Job


def require_perturbable(job: Job) -> None:
    """Refuse a job that perturbs where its promises would be about other values than it publishes.

    Raises:
        JobError: with what to leave out.
    """
    if not job.perturb:
        return
    if job.input.engine != "memory" or job.output.table is not None:
        raise JobError(
            "job.perturb-needs-rows-memory",
            "[[perturb]] needs the rows in memory: leave out the engine, or the perturbation",
        )
    if job.output.certificate is not None:
        raise JobError(
            "job.perturbed-cells-not-input",
            "perturbed cells are not those of the input, so no certificate can prove them true: leave it out",
        )
    if job.history is not None:
        raise JobError(
            "job.history-counts-what-true",
            "[history] counts what true values leave possible: leave out [[perturb]], or the history",
        )
    perturbed = {name for each in job.perturb for name in each.columns}
    if job.population is not None and perturbed & set(job.quasi_identifiers):
        raise JobError(
            "job.population-knows-true-quasi",
            "a population knows true quasi-identifiers, and a perturbed one is not: leave one of the two out",
        )
