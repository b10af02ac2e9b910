"""Writes `src/tarnkappe/native/signatures.txt`: `python -m tests.native.signatures` runs what people run and
notes the types with which kernels are called.

What is not noted is not wrong: it is compiled on first use.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

PARTS = ("table", "hierarchy", "privacy", "loss", "lattice", "recoding", "risk", "utility")
"""The parts whose kernels are prebuilt: those that commands on one table need."""

HEAD = "# Kernels that are prebuilt and the types of their arguments; python -m tests.native.signatures writes it.\n"


def main() -> None:
    from tarnkappe.native.signatures import FILE

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        noted = folder / "noted.txt"
        os.environ["TARN_NATIVE_RECORD"] = str(noted)
        for each in work(folder):
            each()
        lines = {line for line in noted.read_text(encoding="utf-8").splitlines() if is_wanted(line)}
    FILE.write_text(HEAD + "".join(f"{line}\n" for line in sorted(merged(lines))), encoding="utf-8")


def is_wanted(line: str) -> bool:
    return line.split(".")[1] in PARTS


def merged(lines: set[str]) -> set[str]:
    """Without lines of which another says the same and writes to nothing: it takes both kinds of arrays."""
    return {line for line in lines if not any(other.replace("!", "") == line for other in lines - {line})}


def work(folder: Path) -> Iterator[Callable[[], object]]:
    import tarnkappe
    from tarnkappe.errors import TarnkappeError
    from tarnkappe.hierarchy import Hierarchy
    from tarnkappe.lattice import auto
    from tarnkappe.loss import LOSSES
    from tarnkappe.schema import replace
    from tarnkappe.table import Role
    from tarnkappe.table.examples import hospital

    def command(*words: str) -> Callable[[], object]:
        tarn = "from tarnkappe.cli import main; main()"
        return lambda: subprocess.run([sys.executable, "-c", tarn, *words], cwd=folder, check=True)

    yield command("demo", "--out", "demo")
    release = ["demo/release.csv", "--qi", "age", "--qi", "sex", "--sensitive", "diagnosis"]
    yield command("check", *release)
    auto.WORTH_COMPILING = 0  # type: ignore[misc]
    example = hospital(rows=400, seed=2)
    away = dict.fromkeys(("birth_date", "admission_date"), Role.IDENTIFIER)
    table = example.table.with_roles(dict(example.table.roles) | away)
    hierarchies = {
        name: Hierarchy.from_rows(rows) for name, rows in example.hierarchies.items() if name not in away
    }
    k = {"model": "k-anonymity", "k": 3}

    def release_with(*models: dict[str, object], **settings: object) -> Callable[[], object]:
        def run() -> None:
            with suppress(TarnkappeError):
                tarnkappe.anonymize(
                    table,
                    privacy=list(models),
                    hierarchies=hierarchies,
                    accept={},
                    **{"suppression_limit": 0.05, **settings},  # type: ignore[arg-type]
                )

        return run

    for loss in LOSSES:
        for limit in (0.0, 0.05, 1.0):
            yield release_with(k, loss=loss.name, suppression_limit=limit)
    diagnosis = {"column": "diagnosis"}
    models: list[dict[str, object]] = [
        {"model": "distinct-diversity", "l": 2, **diagnosis},
        {"model": "entropy-diversity", "l": 1.5, **diagnosis},
        {"model": "recursive-diversity", "c": 3.0, "l": 2, **diagnosis},
        {"model": "equal-closeness", "t": 0.4, **diagnosis},
        {"model": "ordered-closeness", "t": 0.4, **diagnosis},
        {"model": "hierarchical-closeness", "t": 0.4, **diagnosis},
        {"model": "p-sensitive-k-anonymity", "p": 2, "k": 3, **diagnosis},
        {"model": "alpha-k-anonymity", "alpha": 0.5, "k": 3, **diagnosis},
        {"model": "average-risk", "threshold": 0.2},
    ]
    for model in models:
        for method in ("auto", "regions", "mondrian"):
            yield release_with(model, k, algorithm=method, loss="loss")
    for limit in (0.0, 0.05):
        for loss_name in ("entropy", "loss"):
            yield release_with(k, algorithm="regions", loss=loss_name, suppression_limit=limit)
            yield release_with(k, algorithm="mondrian", loss=loss_name, suppression_limit=limit)
    for search in ("exhaustive", "best-first", "flash", "ola"):
        yield release_with(k, algorithm=search)
    yield release_with(k, local_recoding=True)
    piecewise = auto.AutoSearch(
        effort=replace(auto.AutoSearch().effort, many_classes=20)
    )  # as tables of many tuples are
    for model in (k, models[0]):
        yield release_with(model, k, algorithm=piecewise)


if __name__ == "__main__":
    main()
