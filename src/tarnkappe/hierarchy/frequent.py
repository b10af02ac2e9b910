"""Frequent values: the common ones keep their names, the rare ones become one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy.builder import MOST_LEVELS, Builder, Domain, Labels, per_level
from tarnkappe.schema import Listed, Name, Problem, Rows, listed, param


class Frequent(Builder):
    """On each level the most frequent values keep their names and all others share one label.

    Between equally frequent values the one that comes first in ascending order is kept.

    >>> import pyarrow as pa
    >>> towns = pa.array(["Ulm", "Ulm", "Ulm", "Hof", "Hof", "Au"])
    >>> for row in Frequent(keep=[2, 1]).build(towns).rows(): print(*row, sep=";")
    Au;other;other;*
    Hof;Hof;other;*
    Ulm;Ulm;Ulm;*
    """

    name = "frequent"

    keep: Annotated[
        Rows | Annotated[Listed[Rows], Meta(min_length=1, max_length=MOST_LEVELS)],
        param(
            "how many values keep their names on each level, falling; or on the only level",
            unit="values",
            start=(10, 5),
        ),
    ]
    other: Annotated[Name, param("the label of the others")] = "other"

    def rules(self) -> Iterator[Problem]:
        """Fewer values are kept on every level."""
        if any(more <= fewer for more, fewer in itertools.pairwise(self._kept)):
            raise HierarchyError(
                "hierarchy.frequent-would-not-nest",
                "frequent would not nest: it must keep fewer values on every level, not {kept}",
                kept=listed(self._kept),
            )
        yield from ()

    @classmethod
    def examples(cls) -> tuple[Frequent, ...]:
        """Instances for the common tests."""
        return (cls(keep=2), cls(keep=(4, 2, 1), other="rare"))

    @property
    def height(self) -> int:
        """One level for each number, and the root."""
        return len(self._kept) + 1

    def generalize(self, domain: Domain) -> list[Labels]:
        """The values that are kept, and `other` for the rest."""
        by_frequency = sorted(range(len(domain)), key=lambda i: (-int(domain.counts[i]), i))
        levels = []
        for number in self._kept:
            labels = [self.other] * len(domain)
            for index in by_frequency[:number]:
                labels[index] = domain.texts[index]
            levels.append(labels)
        return levels

    @property
    def _kept(self) -> tuple[int, ...]:
        return per_level(self.keep)
