"""What a class must have to be released, and which bits a site shares to have it decided."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cached_property

from tarnkappe.federation.oblivious import gates


@dataclasses.dataclass(frozen=True)
class Criterion:
    """What a class must have to be released, in numbers that all parties know.

    Attributes:
        k: how many rows.
        diversity: for each sensitive column how many values there are, and how many a class must have.
        limit: how many rows may be suppressed in all.
        rows: how many rows there are in all.
        coalitions: sites that may take out their rows together, by their places; a class must then have none
            or enough of the others.
    """

    k: int
    diversity: tuple[tuple[int, int], ...]
    limit: int
    rows: int
    coalitions: tuple[tuple[int, ...], ...] = ()

    @property
    def keeps_only_large(self) -> bool:
        """Whether a class may go that has k rows: the rows of large classes are then counted, too."""
        return bool(self.diversity or self.coalitions)

    @property
    def monotone(self) -> Criterion:
        """What generalizing never breaks, and what every node that satisfies has.

        Without suppression nothing is lost by merging classes: none or enough of others add up to none or
        enough. With it a suppressed class may be merged with one of a single site.
        """
        return dataclasses.replace(self, coalitions=()) if self.limit else self

    @cached_property
    def clip(self) -> int:
        """Counts above this one are shared as this one.

        Where only sizes decide, a class that is not released has fewer than k rows, and all of them are
        counted. Where values decide too, it may be large; then counting ends beyond the limit.
        """
        return max(self.k, self.limit + 1) if self.keeps_only_large else self.k

    @cached_property
    def parts(self) -> tuple[slice, slice, tuple[slice, ...]]:
        """The planes of bits that a site shares: sizes, sizes clipped at k, and which values there are.

        Sizes clipped at k are there for insiders alone, who are tried one coalition after the other: the
        fewer bits, the better.
        """
        sizes = gates.bits_of(self.clip)
        small = sizes + (gates.bits_of(self.k) if self.coalitions else 0)
        ends = itertools.accumulate((values for values, _ in self.diversity), initial=small)
        present = tuple(slice(begin, end) for begin, end in itertools.pairwise(ends))
        return slice(0, sizes), slice(sizes, small), present

    @cached_property
    def planes(self) -> int:
        """How many planes of bits a site shares for each node."""
        _, small, present = self.parts
        return int(present[-1].stop if present else small.stop)

    @property
    def held(self) -> int:
        """How many planes of a site a computing party holds at once: every coalition has some of its own."""
        own: int = self.planes - self.parts[1].start
        return self.planes + len(self.coalitions) * own
