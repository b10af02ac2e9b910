"""A table of two towns, published with differential privacy and in ways that look like it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

import tarnkappe
from tarnkappe.table import Table
from tests.attackers.attacker import Stage
from tests.attackers.publish.one_row_more import PrivateProgram, Released

MANY = 120
"""Rows of the other town."""


def _publish(rows: int, promise: dict[str, Any], **settings: Any) -> tarnkappe.Result:
    """So many rows of the town that matters, and many of another."""
    table = Table(pa.table({"town": ["Ulm"] * rows + ["Bonn"] * MANY}))
    return tarnkappe.anonymize(
        table.with_roles(quasi_identifiers=["town"]),
        privacy=[promise],
        hierarchies={"town": {"builder": "root"}},
        loss="precision",
        **settings,
    )


def _rows(result: tarnkappe.Result) -> Released:
    return tuple((str(row["town"]),) for row in result.release.data.to_pylist())


def _private(epsilon: float, delta: float, search_budget: float = 0.0) -> dict[str, Any]:
    return {
        "model": "differential-privacy",
        "epsilon": epsilon,
        "delta": delta,
        "search_budget": search_budget,
        "search_steps": 2,
    }


def private(promise: dict[str, Any], rows: int) -> Callable[[bool], Released]:
    """As promised: with fixed levels, or with levels that are chosen privately."""
    fixed = {} if promise["search_budget"] else {"levels": {"town": 0}}

    def publish(with_row: bool) -> Released:
        return _rows(_publish(rows - (not with_row), promise, suppression_limit=1, **fixed))

    return publish


def nothing_drawn(k: int) -> Callable[[bool], Released]:
    """The same levels and the same k, of all rows."""

    def publish(with_row: bool) -> Released:
        promise = {"model": "k-anonymity", "k": k}
        return _rows(_publish(k - (not with_row), promise, suppression_limit=1, levels={"town": 0}))

    return publish


def searched_first(k: int, promise: dict[str, Any]) -> Callable[[bool], Released]:
    """Rows are drawn, for levels that a search found best for all of them."""

    def publish(with_row: bool) -> Released:
        rows = k - (not with_row)
        best = _publish(rows, {"model": "k-anonymity", "k": k}, suppression_limit=0)
        assert best.levels is not None
        return _rows(_publish(rows, promise, suppression_limit=1, levels=dict(best.levels)))

    return publish


def stage(
    name: str,
    publish: Callable[[bool], Released],
    promise: dict[str, Any],
    runs: int = 40,
    *,
    unprotected: bool = False,
) -> Stage:
    """A program that is asked again and again."""

    @contextmanager
    def build(_: Path) -> Iterator[PrivateProgram]:
        yield PrivateProgram(promise["epsilon"], promise["delta"], publish, runs)

    def started(folder: Path) -> AbstractContextManager[PrivateProgram]:
        return build(folder)

    return Stage(name, started, unprotected=unprotected, slow=runs > 100)


FIXED, CHOSEN = _private(0.5, 0.05), _private(0.5, 0.05, 0.25)
FIXED_1, CHOSEN_2 = _private(1.0, 0.1), _private(2.0, 0.02, 1.0)
"""Rows are chosen so that a class is shown about as often as not: there one row matters most."""
PRIVATE = (
    stage("fixed levels", private(FIXED, 25), FIXED),
    stage("levels chosen privately", private(CHOSEN, 40), CHOSEN),
    *(
        stage(
            f"{word} levels, epsilon {promise['epsilon']:g}, {rows} rows",
            private(promise, rows),
            promise,
            1000,
        )
        for word, promise, sizes in (("fixed", FIXED_1, (10, 14)), ("chosen", CHOSEN_2, (20, 26)))
        for rows in sizes
    ),
    stage("nothing drawn", nothing_drawn(12), FIXED, unprotected=True),
    stage("levels searched before rows are drawn", searched_first(12, FIXED), FIXED, unprotected=True),
)
