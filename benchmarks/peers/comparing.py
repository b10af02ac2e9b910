"""The same table to us and to another tool, and what each makes of it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

import tarnkappe
from benchmarks.alone import alone
from benchmarks.chapter import Figures
from benchmarks.peers import environment
from benchmarks.peers.environment import PeerError
from benchmarks.peers.judging import ROW, judge, lost_bits, read_release
from benchmarks.problems import COLUMNS, SENSITIVE, adult
from tarnkappe.hierarchy import write_hierarchy
from tarnkappe.privacy import Model
from tarnkappe.table import Table, write

K = 5
KNOWN = tuple(name for name in COLUMNS if name != SENSITIVE)
FEW = ("sex", "age", "race", "marital-status")
"""Few enough quasi-identifiers that diversity and closeness are possible at all."""
NUMBERS = ("age",)


def original_rows(rows: int | None) -> pa.Table:
    """Adult as text, each row with its number."""
    data = adult().table.data.select(list(COLUMNS)).slice(0, rows)
    texts = {name: data.column(name).cast(pa.string()) for name in data.column_names}
    return pa.table({ROW: pa.array([str(i) for i in range(data.num_rows)]), **texts})


def _job(folder: Path, original: pa.Table, names: tuple[str, ...], **more: Any) -> dict[str, Any]:
    write(Table(original.select([ROW, *names, SENSITIVE])), folder / "table.csv", delimiter=";")
    for name in names:
        write_hierarchy(adult().hierarchies[name], folder / f"{name}.hierarchy")
    return {
        "table": str(folder / "table.csv"),
        "release": str(folder / "release.csv"),
        "hierarchies": {name: str(folder / f"{name}.hierarchy") for name in names},
        "quasi_identifiers": list(names),
        "sensitive": SENSITIVE,
        "numbers": list(NUMBERS),
        **more,
    }


def peer_of(
    peer: environment.Peer, original: pa.Table, names: tuple[str, ...], models: list[Model], **more: Any
) -> dict[str, Any]:
    """What a peer makes of the table, judged by us; or why there is nothing to judge."""
    with tempfile.TemporaryDirectory(prefix="tarnkappe-peer-") as name:
        job = _job(Path(name), original, names, **more)
        try:
            told = peer.run(**job)
        except PeerError as error:
            return {"tool": peer.name, "failed": str(error)}
        line = {"tool": f"{peer.name} {told['version']}", **told}
        if not told["rows"]:
            return line | {"failed": "it says that there is no such release"}
        release = read_release(Path(job["release"]))
    line |= judge(release, names, SENSITIVE, models)
    if ROW in release.column_names:
        line["lost_bits"] = lost_bits(original, release, names)
    return line


def ours_of(
    original: pa.Table, names: tuple[str, ...], models: list[Model], limit: float, algorithm: str = "auto"
) -> dict[str, Any]:
    table = Table(original).with_roles(quasi_identifiers=list(names), sensitive=[SENSITIVE])
    hierarchies = {name: adult().hierarchies[name] for name in names}

    def work() -> pa.Table:
        result = tarnkappe.anonymize(
            table,
            privacy=models,
            hierarchies=hierarchies,
            loss="entropy-suppression-aware",
            suppression_limit=limit,
            algorithm=algorithm,
        )
        return result.release.data

    try:
        done = alone(work, repeats=3)
    except RuntimeError as failure:
        return {"tool": "tarnkappe", "failed": str(failure).strip().splitlines()[-1]}
    release = done.outcome
    line = {"tool": f"tarnkappe, {algorithm}", "seconds": done.seconds, "megabytes": done.megabytes}
    line |= judge(release, names, SENSITIVE, models)
    if ROW in release.column_names:
        line["lost_bits"] = lost_bits(original, release, names)
    return line


def failures(figures: Figures) -> tuple[str, ...]:
    return tuple(f"{x['tool']}: {x['failed']}." for x in figures["lines"] if "failed" in x)
