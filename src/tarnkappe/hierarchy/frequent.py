"""Frequent values: the common ones keep their names, the rare ones become one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy.builder import Builder, Domain, Labels, as_tuples, per_level, require_whole


@dataclasses.dataclass(frozen=True)
class Frequent(Builder):
    """On each level the most frequent values keep their names and all others share one label.

    Between equally frequent values the one that comes first in ascending order is kept.

    Attributes:
        keep: how many values keep their names on each level, falling; or on the only level.
        other: the label of the others.

    >>> import pyarrow as pa
    >>> towns = pa.array(["Ulm", "Ulm", "Ulm", "Hof", "Hof", "Au"])
    >>> for row in Frequent(keep=[2, 1]).build(towns).rows(): print(*row, sep=";")
    Au;other;other;*
    Hof;Hof;other;*
    Ulm;Ulm;Ulm;*
    """

    name = "frequent"

    keep: int | Sequence[int]
    other: str = "other"

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", as_tuples(self.keep))
        if not self._kept:
            raise ParameterError("frequent needs at least one number to keep")
        for number in self._kept:
            require_whole("frequent", "keep", number, 1)
        if any(more <= fewer for more, fewer in zip(self._kept, self._kept[1:], strict=False)):
            raise HierarchyError(
                f"frequent would not nest: it must keep fewer values on every level, not {list(self._kept)}"
            )
        if not isinstance(self.other, str) or not self.other:
            raise ParameterError(f"frequent needs a text for other, not {self.other!r}")

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
