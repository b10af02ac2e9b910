"""One command on files that nobody has described: is there a verified release, and what is left of it?

The files are those of the labelled corpus of public files (`roles.py` says where they lie). Without it,
tables of people who do not exist stand in.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow.compute as pc

import tarnkappe
from tarnkappe.errors import TarnkappeError
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Table
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.roles import corpus_folder


@dataclasses.dataclass(frozen=True)
class Release:
    """What one file became.

    Attributes:
        name: the file.
        rows: of the table.
        quasi_identifiers: how many there are.
        single: how many of them have one label in the whole release, though they had several values.
        failed: why there is no verified release; empty if there is one.
        seconds: of the processor, from reading to the verified release.
    """

    name: str
    rows: int = 0
    quasi_identifiers: int = 0
    single: int = 0
    failed: str = ""
    seconds: float = 0.0


def sources(most: int | None = None) -> Iterator[tuple[str, Any]]:
    """The files of the corpus, or tables of people who do not exist."""
    folder = corpus_folder()
    if folder is None:
        for seed in range(most or 3):
            yield f"hospital {seed}", tarnkappe.examples.hospital(rows=500, seed=seed).table.data
        return
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files[:most]:
        yield path.relative_to(folder).as_posix(), path


def release(name: str, source: Any, rows: int, *, diverse: bool) -> Release:
    """What the one command makes of a source: of at most so many of its rows, drawn with a fixed seed.

    Without `diverse`, k = 5 alone is promised, so that the figure is that of k-anonymity.
    """
    start = time.process_time()
    try:
        table = tarnkappe.read(source, bad_lines="skip" if str(source).endswith(".csv") else None)
        if table.num_rows > rows:
            drawn = np.sort(np.random.default_rng(0).choice(table.num_rows, rows, replace=False))
            table = Table(table.data.take(drawn), reading=table.reading)
        proposal = tarnkappe.propose(table)
        if not diverse:
            kept = tuple(model for model in proposal.privacy if model.name != "distinct-diversity")
            proposal = dataclasses.replace(proposal, privacy=kept)
        result = proposal.anonymize(seed=1)
        if not all(found.holds for found in result.verified):
            return Release(name, table.num_rows, failed="not verified")
        report = tarnkappe.check(result.release, models=[KAnonymity(5)])
        assert report.k >= 5, name
    except TarnkappeError as error:
        return Release(
            name, failed=str(error).replace(str(source), name)[:200], seconds=time.process_time() - start
        )
    known = result.input.quasi_identifiers
    single = [
        column
        for column in known
        if _different(result.release, column) == 1 < _different(result.input, column)
    ]
    return Release(
        name, table.num_rows, len(known), len(single), seconds=time.process_time() - start
    )  # fmt: skip


def _different(table: Table, name: str) -> int:
    return len(pc.unique(table.data.column(name)))


def measure(most: int | None, rows: int, *, diverse: bool, progress: Progress | None = None) -> list[Release]:
    """Every source released by itself."""
    found = []
    for name, source in sources(most):
        found.append(release(name, source, rows, diverse=diverse))
        if progress:
            progress("files", len(found), len(found))
    return found


if __name__ == "__main__":
    import sys

    for title, each in sources():
        print(
            dataclasses.astuple(release(title, each, int(sys.argv[1]), diverse=len(sys.argv) > 2)), flush=True
        )
