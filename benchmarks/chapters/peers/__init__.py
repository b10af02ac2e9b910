"""Other tools on the same data under the same promise: time, memory, loss, and whether they are right."""

from benchmarks.chapter import Chapter
from benchmarks.chapters.peers import (
    k_anonymity,
    measures,
    parts,
    promises,
)

CHAPTER = Chapter(
    "peers",
    "Other tools",
    "Each in an environment of its own, made when it is first needed (`TARN_PEERS` says where). The same rows, "
    "the same hierarchies, the same promise; whether a result is right is decided by our check of the written "
    "values, which had no part in making any of them.",
    (
        k_anonymity.EXPERIMENT,
        promises.EXPERIMENT,
        measures.EXPERIMENT,
        parts.EXPERIMENT,
    ),
)
