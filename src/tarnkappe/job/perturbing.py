"""When the columns of a job may be perturbed, or suppressed in part."""

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


def require_suppressible(job: Job) -> None:
    """Refuse a job that suppresses sensitive cells where something else counts on seeing them.

    Raises:
        JobError: with what to leave out.
    """
    if job.further_sensitive is None:
        return
    if job.input.engine != "memory" or job.output.table is not None:
        raise JobError(
            "job.further-needs-memory",
            "[further_sensitive] needs the rows in memory: leave out the engine, or the section",
        )
    if job.output.certificate is not None:
        raise JobError(
            "job.further-has-no-certificate",
            "[further_sensitive] suppresses sensitive cells, which a certificate does not tell: leave it out",
        )
    if job.history is not None:
        raise JobError(
            "job.further-has-no-history",
            "[history] counts what all values leave possible: leave out [further_sensitive], or the history",
        )
