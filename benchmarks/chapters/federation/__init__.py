"""Several sites, one release: time and traffic of the protocols, what the cost model says, and the baselines."""

from benchmarks.chapter import Chapter
from benchmarks.chapters.federation import (
    baselines,
    cost_model,
    large,
    optimizations,
    protocols,
    related,
)

CHAPTER = Chapter(
    "federation",
    "Several sites, one release",
    "Protocols A (ring), B (star) and C (masked star) give the release of a central search without anybody seeing "
    "the rows of others. All parties run in one process, one after the other; a time is that of the busiest party "
    "and of the helper, without a network.",
    (
        protocols.EXPERIMENT,
        cost_model.EXPERIMENT,
        optimizations.EXPERIMENT,
        baselines.EXPERIMENT,
        related.EXPERIMENT,
        large.EXPERIMENT,
    ),
)
