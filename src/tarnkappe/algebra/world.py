"""A world: all that a plan needs to be evaluated exactly - data, hierarchies, noise and the buckets."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from tarnkappe.algebra.distribution import Cell, Rows
from tarnkappe.algebra.noise import NoiseDistribution
from tarnkappe.errors import ColumnError, HierarchyError

if TYPE_CHECKING:  # it loads every builder
    from tarnkappe.hierarchy import Hierarchy


@dataclasses.dataclass(frozen=True, eq=False)
class World:
    """Small relations and what belongs to their columns.

    Attributes:
        relations: for each base relation its rows, cells in the order of the relation's columns. The order
            of rows matters to slicing alone.
        hierarchies: for each column that may be generalized its hierarchy.
        noise: for each column that may be randomized its distribution.
        bucket: the least number of rows in a bucket of slicing.
        stable_buckets: whether slicing keeps rows in their buckets for a later slicing. Otherwise it
            hands them on in a random order, and a later slicing cuts other buckets.
    """

    relations: Mapping[str, Rows]
    hierarchies: Mapping[str, Hierarchy] = dataclasses.field(default_factory=dict)
    noise: Mapping[str, NoiseDistribution] = dataclasses.field(default_factory=dict)
    bucket: int = 2
    stable_buckets: bool = True

    def rows(self, name: str) -> Rows:
        """The rows of a base relation."""
        if name not in self.relations:
            raise ColumnError(
                "algebra.no-rows-relation", "there are no rows for the relation '{name}'", name=name
            )
        return self.relations[name]

    def ladder(self, column: str) -> Ladder:
        """How the labels of a column rise."""
        if column not in self.hierarchies:
            raise HierarchyError(
                "algebra.column-no-hierarchy-cannot-generalized",
                "the column '{column}' has no hierarchy, so it cannot be generalized",
                column=column,
            )
        return _ladder(self.hierarchies[column])

    def noise_of(self, column: str) -> NoiseDistribution:
        """What the noised cells of a column are drawn from."""
        if column not in self.noise:
            raise ColumnError(
                "algebra.column-no-noise-distribution",
                "the column '{column}' has no noise distribution, so it cannot be randomized",
                column=column,
            )
        return self.noise[column]


class Ladder:
    """A hierarchy read from any rung: which level a label stands on, and what it rises to.

    Generalization goes on from where a column is, so labels must tell their level. A label that stands on
    several levels is read on the lowest: there it covers the fewest values, and all of them share its
    label further up.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.height = hierarchy.height
        self._paths: dict[Cell, tuple[int, tuple[str, ...]]] = {}
        for level in range(hierarchy.height + 1):
            for value in hierarchy.values:
                path = tuple(hierarchy.label(value, above) for above in range(level, hierarchy.height + 1))
                label = value if level == 0 else path[0]
                lowest, known = self._paths.setdefault(label, (level, path))
                if known[level - lowest :] != path:
                    raise HierarchyError(
                        "algebra.label-hierarchy-stands-two",
                        "a label of the hierarchy stands on two levels for different values, so a "
                        "generalized column would not tell its level: rename one of them",
                    )

    def level(self, label: Cell) -> int:
        """The level that a label stands on."""
        return self._path(label)[0]

    def lift(self, label: Cell, level: int) -> Cell:
        """What a label is shown as on a level that is not below its own."""
        own, path = self._path(label)
        return label if level == own else path[level - own]

    @cached_property
    def labels(self) -> frozenset[Cell]:
        """Every value and every label."""
        return frozenset(self._paths)

    def _path(self, label: Cell) -> tuple[int, tuple[str, ...]]:
        if label not in self._paths:
            raise HierarchyError(
                "algebra.hierarchy-no-line-value", "the hierarchy has no line for a value of its column"
            )
        return self._paths[label]


@lru_cache(maxsize=256)
def _ladder(hierarchy: Hierarchy) -> Ladder:
    return Ladder(hierarchy)
