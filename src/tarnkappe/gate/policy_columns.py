"""What a policy says of sensitive columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

ON_VIOLATION = ("add", "refuse")


PROMISING = ("witness-pool", "exact", "veil")
"""The strategies whose promise a policy can make: they turn an answer down if somebody would keep too few
values, hardly ever otherwise. What others turn down depends on true values, which tells something.
"""


OTHER = "(other)"
"""How everything is shown that a list of values lacks."""


@dataclasses.dataclass(frozen=True)
class Sensitive:
    """A column whose values must not be linked to people.

    Attributes:
        name: the column.
        k: how many possible values everybody keeps.
        values: everything it may be, which the public may know; whatever else the table has, now or later,
            counts, and is shown, as one more value, `(other)`. A gate does not start without it.
        values_from: where the list comes from: "public", or "table" if it was read from the table.
        holders: how many people had each value of a list that was read from the table, at least.
        alike: sets of values that count as one, such as three kinds of the same disease.
        closeness: how far the spread of anybody's possible values may be from that of all, for the audit.
        weights: how probable values are for somebody who never saw the table; the others share the rest.
        harmless: values in which anybody may believe as much as he likes.
    """

    name: str
    k: int
    values: tuple[str, ...] | None = None
    values_from: str = "public"
    holders: int | None = None
    alike: tuple[frozenset[str], ...] = ()
    closeness: float | None = None
    weights: Mapping[str, float] = dataclasses.field(default_factory=dict, hash=False)
    harmless: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Surplus:
    """How many artificial values every answer gets, needed or not, as far as the public may know it.

    Attributes:
        share: at least this many for each person in the answer.
        least: and at least this many in any case; None for k.
        spread: how many more are added at random, on average; never 0, since then the size of an answer that
            needed more would tell so.
        root: no more than so many times the square root of people times labels, whatever the share says: what
            an answer needs rises no faster.
        draw: "even" if all multisets are equally likely, which tells least in small answers; "independent" if
            each value is drawn by itself, which is estimated from best; "auto" for this one where an answer
            has at least twice as many artificial values as labels.
    """

    share: float = 0.25
    least: int | None = None
    spread: float = 1.0
    root: float = 1.0
    draw: str = "auto"


@dataclasses.dataclass(frozen=True)
class WorldEffort:
    """How hard the gate looks for possible worlds before an answer grows. The promise does not depend on it,
    only how many artificial values answers have and how long they take; so it may change at any start.

    Attributes:
        steps: how long the local search tries to mend one world.
        work: how many steps all searches for one answer take, about.
        largest: for how many people in an answer worlds are looked for at all.
    """

    steps: int = 200
    work: int = 8_000
    largest: int = 10_000
