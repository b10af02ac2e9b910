"""Small tables published by `regions`, for somebody who runs the same program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

import tarnkappe
from tarnkappe.errors import NoSolutionError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding import Regions
from tarnkappe.table import Table
from tests.attackers.attacker import Stage
from tests.attackers.publish.other_worlds import People, ReleaseByAProgram, World, Written

SCALE = Hierarchy.from_rows([["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"], ["4", "high", "*"]])
MEANT = {"*": {1, 2, 3, 4}, "low": {1, 2}, "high": {3, 4}, "1": {1}, "2": {2}, "3": {3}, "4": {4}}
SHARE = {"model": "confidence-bounding", "column": "illness", "templates": {"HIV": 0.5}}
TWO = {"model": "k-anonymity", "k": 2}
SIX = ((1, 1, 2, 2, 2, 2), ("HIV", "HIV", "flu", "flu", "flu", "flu"))
"""Cut at 2, the first two would be known to have HIV; not cut, they are, since nothing else forbids it."""
EIGHT = ((1, 1, 2, 2, 3, 3, 4, 4), ("HIV", "flu", "flu", "flu", "HIV", "flu", "flu", "flu"))


def published(
    method: Regions, promises: list[dict[str, Any]], people: People, world: World
) -> tuple[Written, ...] | None:
    """The release, or None if there is none."""
    table = Table(pa.table({"x": people, "illness": world})).with_roles(
        quasi_identifiers=["x"], sensitive=["illness"]
    )
    try:
        result = tarnkappe.anonymize(
            table, privacy=promises, hierarchies={"x": SCALE}, loss="loss", algorithm=method
        )
    except NoSolutionError:
        return None
    return tuple((str(row["x"]), row["illness"]) for row in result.release.data.to_pylist())


def world_stage(
    name: str,
    method: Regions,
    promises: list[dict[str, Any]],
    table: tuple[People, World],
    *,
    unprotected: bool = False,
) -> Stage:
    """A table published by a method."""

    @contextmanager
    def build(_: Path) -> Iterator[ReleaseByAProgram]:
        people, world = table
        release = published(method, promises, people, world)
        assert release is not None, "a stage needs a release"
        yield ReleaseByAProgram(
            people,
            release,
            lambda others, guessed: published(method, promises, others, guessed),
            lambda word, value: value in MEANT[word],
        )

    def started(folder: Path) -> AbstractContextManager[ReleaseByAProgram]:
        return build(folder)

    return Stage(name, started, unprotected=unprotected)


WORLDS = (
    world_stage("regions, k alone", Regions(), [TWO], SIX),
    world_stage("regions, blind", Regions(blind=True), [TWO, SHARE], EIGHT),
    world_stage("regions, not blind", Regions(), [TWO, SHARE], SIX, unprotected=True),
)
