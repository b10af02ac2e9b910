"""A plan over several engines is cut into parts: what runs in one place, and what is left above."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from tarnkappe.algebra.lowering.backend import Backend
from tarnkappe.algebra.lowering.keyed import Path
from tarnkappe.algebra.lowering.rows import LoweredRows
from tarnkappe.algebra.nodes import Generalization, Plan, Relation, Union
from tarnkappe.algebra.optimizer.places import replaced

Homes = Callable[[Plan], list[Backend]]
"""The engines that have the relations of a plan."""


@dataclass(eq=False)
class Part:
    """A subplan that runs in one place.

    Attributes:
        plan: what runs.
        path: where it stands in the whole plan.
        home: the engine.
        under: the generalization that its rows are lifted for, if they are.
        rows: what it is lowered to, where it is counted first.
        told: its combinations.
        table: what it hands over.
    """

    plan: Plan
    path: Path
    home: Backend
    under: Generalization | None = None
    rows: LoweredRows | None = None
    told: pa.Table | None = None
    table: pa.Table | None = None


@dataclass(eq=False)
class Cut:
    """A plan that was cut into parts.

    Attributes:
        rest: what is left, with a relation in place of each part.
        parts: by the names of these relations.
        lifted: the generalizations whose parts are lifted in their places.
    """

    rest: Plan
    parts: dict[str, Part] = field(default_factory=dict)
    lifted: list[tuple[Generalization, list[Part]]] = field(default_factory=list)

    def replace(self, path: Path, names: list[str], columns: tuple[str, ...]) -> None:
        """Put the relations of parts, united, where something stands in the plan."""
        united: Plan = Relation(names[0], columns)
        for name in names[1:]:
            united = Union(united, Relation(name, columns))
        self.rest = replaced(self.rest, path, united)


def cut_into_parts(plan: Plan, path: Path, homes: Homes) -> Cut:
    """The greatest subplans that run in one place; those of a generalized union are lifted where they are.

    Args:
        plan: the plan.
        path: where it stands in what is run: random operators draw by it.
        homes: which engines have its relations.
    """
    cut = Cut(plan)
    _cut(plan, path, path, homes, cut)
    return cut


def generalized_columns(plan: Generalization) -> list[str]:
    """The columns that a generalization lifts, in their order."""
    return sorted(set(plan.by) & set(plan.child.columns))


def _cut(plan: Plan, path: Path, root: Path, homes: Homes, cut: Cut) -> None:
    here = homes(plan)
    if len(here) == 1:
        cut.replace(path[len(root) :], _named(Part(plan, path, here[0]), cut), plan.columns)
        return
    if isinstance(plan, Generalization) and plan.k > 1 and generalized_columns(plan):
        leaves = list(_leaves(plan.child, (*path, 0)))
        if all(len(homes(leaf)) == 1 for leaf, _ in leaves):
            parts = [Part(leaf, at, homes(leaf)[0], plan) for leaf, at in leaves]
            cut.lifted.append((plan, parts))
            cut.replace(path[len(root) :], [_named(part, cut)[0] for part in parts], plan.columns)
            return
    for index, child in enumerate(plan.children):
        _cut(child, (*path, index), root, homes, cut)


def _named(part: Part, cut: Cut) -> list[str]:
    name = f"part {len(cut.parts)}"
    cut.parts[name] = part
    return [name]


def _leaves(plan: Plan, path: Path) -> Iterator[tuple[Plan, Path]]:
    """What unions bring together."""
    if isinstance(plan, Union):
        for index, child in enumerate(plan.children):
            yield from _leaves(child, (*path, index))
    else:
        yield plan, path
