"""What of a plan can be worked on at the same time: the partitioned sides of the distributed techniques.

Of the seven techniques, D12, S8 and G15 (unions) and D13 and S9 (joins of vertical parts) run their parts in
parallel. G16 and G17 only anonymize early, on the smaller relation: one part has all the work.
"""

from __future__ import annotations

from collections.abc import Iterator

from tarnkappe.algebra.nodes import (
    Anonymization,
    Generalization,
    Join,
    Plan,
    Projection,
    Randomization,
    Rename,
    Selection,
    SlicingNode,
    Union,
)
from tarnkappe.algebra.optimizer.log import ParallelPart
from tarnkappe.algebra.optimizer.places import Path, at, places

UNITED: dict[type[Plan], str] = {Randomization: "D12", SlicingNode: "S8", Generalization: "G15"}
JOINED: dict[type[Plan], str] = {Randomization: "D13", SlicingNode: "S9"}


def partitions(plan: Plan) -> tuple[ParallelPart, ...]:
    """The unions and joins of a plan whose parts are anonymized by themselves."""
    return tuple(_found(plan))


def _found(plan: Plan) -> Iterator[ParallelPart]:
    inner = {(*path, index) for path, node in places(plan) if isinstance(node, Union) for index in (0, 1)}
    for path, node in places(plan):
        if isinstance(node, Union) and path not in inner:
            yield from _partition(plan, path, _parts(node, path), UNITED)
        elif isinstance(node, Join):
            yield from _partition(plan, path, [(*path, 0), (*path, 1)], JOINED)


def _partition(
    plan: Plan, path: Path, parts: list[Path], techniques: dict[type[Plan], str]
) -> Iterator[ParallelPart]:
    everywhere = set.intersection(*({type(each) for each in _upper(at(plan, part))} for part in parts))
    named = tuple(name for operator, name in techniques.items() if operator in everywhere)
    if named:
        yield ParallelPart(path, tuple(parts), named)


def _parts(node: Plan, path: Path) -> list[Path]:
    if not isinstance(node, Union):
        return [path]
    return [part for index, child in enumerate(node.children) for part in _parts(child, (*path, index))]


def _upper(plan: Plan) -> Iterator[Plan]:
    """The anonymizations of a part that no union or join stands above."""
    while isinstance(plan, Anonymization | Projection | Selection | Rename):
        if isinstance(plan, Anonymization):
            yield plan
        plan = plan.child
