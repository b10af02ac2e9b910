"""How the columns of a shaped table depend on one another.

An attribute has weights for its values. A link to another attribute multiplies them by an affinity
between the other attribute's label at some level (the context) and each value.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from tarnkappe.table.examples.domains import ExampleDomain
from tarnkappe.table.examples.draw import Weights, zipf
from tarnkappe.table.table import Role

Affinity = Callable[[int, int], Weights]
"""Given the number of contexts and of values: a factor for each value in each context."""


@dataclasses.dataclass(frozen=True)
class ColumnDependence:
    """A dependence on another attribute, whose label at a level is the context."""

    parent: str
    level: int
    affinity: Affinity


@dataclasses.dataclass(frozen=True, eq=False)
class ColumnModel:
    """A column: its domain, the weights of its values and what these depend on."""

    name: str
    domain: ExampleDomain
    weights: Weights
    links: tuple[ColumnDependence, ...] = ()
    sensitive: bool = False

    @property
    def role(self) -> Role:
        """The role of the column unless it is given another."""
        return Role.SENSITIVE if self.sensitive else Role.QUASI_IDENTIFIER

    def conditional_weights(self, shape: TableShape) -> Weights:
        """The weights of the values in every combination of contexts, the last link varying fastest."""
        matrix = self.weights[np.newaxis, :]
        for link in self.links:
            contexts = int(shape[link.parent].domain.label_codes[link.level].max()) + 1
            factors = link.affinity(contexts, self.domain.distinct)
            matrix = (matrix[:, np.newaxis, :] * factors[np.newaxis, :, :]).reshape(-1, self.domain.distinct)
        return matrix


@dataclasses.dataclass(frozen=True, eq=False)
class TableShape:
    """A table to be made: its size and its columns in their order."""

    name: str
    text: str
    rows: int
    attributes: tuple[ColumnModel, ...]

    def __getitem__(self, name: str) -> ColumnModel:
        """The attribute with this name."""
        return next(attribute for attribute in self.attributes if attribute.name == name)

    def by_dependence(self) -> list[ColumnModel]:
        """The attributes, each after those that it depends on."""
        ordered: dict[str, ColumnModel] = {}

        def add(attribute: ColumnModel) -> None:
            for link in attribute.links:
                add(self[link.parent])
            ordered.setdefault(attribute.name, attribute)

        for attribute in self.attributes:
            add(attribute)
        return list(ordered.values())


def hill(count: int, peak: float, spread: float) -> Weights:
    """Weights of an ordered column that fall from a peak to both sides; peak and spread are shares of it.

    >>> hill(5, peak=0.5, spread=0.2).round(2).tolist()
    [0.04, 0.25, 1.0, 0.25, 0.04]
    """
    return 1.0 / (1.0 + ((_places(count) - peak) / spread) ** 2) ** 2


def dominated(count: int, share: float, exponent: float) -> Weights:
    """Weights of which the first takes a share of the whole; the others fall with their rank.

    >>> dominated(3, share=0.9, exponent=1.0).round(3).tolist()
    [0.9, 0.067, 0.033]
    """
    rest = zipf(count - 1, exponent)
    return np.concatenate([[share], rest / rest.sum() * (1.0 - share)])


def scattered(weights: Weights) -> Weights:
    """The same weights in a fixed mixed order, so that frequent values are not all in one group.

    >>> scattered(np.array([5.0, 4.0, 3.0, 2.0, 1.0])).tolist()
    [5.0, 3.0, 1.0, 4.0, 2.0]
    """
    count = len(weights)
    stride = max(1, round(0.618 * count))
    while math.gcd(stride, count) > 1:
        stride += 1
    mixed = np.empty_like(weights)
    mixed[np.arange(count) * stride % count] = weights
    return mixed


def near(width: float) -> Affinity:
    """High values go with high contexts; the smaller the width (a share of the column), the closer."""

    def affinity(contexts: int, values: int) -> Weights:
        gaps = _places(contexts)[:, np.newaxis] - _places(values)[np.newaxis, :]
        return 1.0 / (1.0 + (gaps / width) ** 2) ** 2

    return affinity


def uneven(strength: float) -> Affinity:
    """Each context has values of its own that are more frequent, by up to the factor `strength`."""

    def affinity(contexts: int, values: int) -> Weights:
        fixed = np.random.Generator(np.random.PCG64([contexts, values]))
        return strength ** (2.0 * fixed.random((contexts, values)) - 1.0)

    return affinity


def only_in(context: int, otherwise: int) -> Affinity:
    """The attribute applies in one context; in all others it has the value `otherwise`, which it has
    in no row to which it applies.
    """

    def affinity(contexts: int, values: int) -> Weights:
        applies = np.arange(contexts) == context
        is_otherwise = np.arange(values) == otherwise
        return np.asarray(applies[:, np.newaxis] != is_otherwise[np.newaxis, :], dtype=np.float64)

    return affinity


def _places(count: int) -> Weights:
    return (np.arange(count, dtype=np.float64) + 0.5) / count
