"""May this release follow the earlier ones? What all of them together leave everybody."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy import DistinctDiversity, KAnonymity, Model
from tarnkappe.privacy.requiring import require_whole
from tarnkappe.risk.attacks.attack import EXAMPLES, VictimClass
from tarnkappe.risk.attacks.people import Fit
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.attacks.views import release_view, shared_values
from tarnkappe.risk.candidates import ReleaseView, look_alikes, remaining_values, view_of
from tarnkappe.risk.pairs import Pairs

Counts = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Continuation:
    """Whether a release may follow earlier ones: what remains of k and l over all of them.

    The attacker knows the quasi-identifiers of somebody and in which releases she is. Values are what he
    can really intersect. Counting rows is stricter: it grants him to recognize a row from one release to
    the next, which he could not without its contents.

    Attributes:
        releases: the earlier releases, the oldest first.
        people: how many people were looked at.
        k: how many people must look alike in all releases.
        diversity: how many sensitive values must be left to everybody (l).
        too_few_people: how many people have fewer than k look-alikes, themselves counted.
        too_few_values: how many people have fewer than `diversity` values left, by sensitive column.
        examples: some of the people of whom fewer than `diversity` values are left, or who are too few.
    """

    releases: tuple[str, ...]
    people: int
    k: int
    diversity: int
    too_few_people: int
    too_few_values: Mapping[str, int]
    examples: tuple[VictimClass, ...] = ()

    @property
    def safe(self) -> bool:
        """Whether the release may follow."""
        return self.too_few_people == 0 and not any(self.too_few_values.values())

    def to_dict(self) -> dict[str, Any]:
        """The verdict, for JSON."""
        return {"safe": self.safe, **dataclasses.asdict(self)}

    def __str__(self) -> str:
        if not self.releases:
            return "It is the first release."
        after = f"After {len(self.releases)} earlier release{'s' if len(self.releases) > 1 else ''}"
        if self.safe:
            return f"{after} everybody keeps {self.k} look-alikes and {self.diversity} possible values."
        values = ", ".join(
            f"{number:,} people keep fewer than {self.diversity} values of '{column}'"
            for column, number in self.too_few_values.items()
            if number
        )
        rows = f"{self.too_few_people:,} people keep fewer than {self.k} look-alikes"
        return (
            f"{after} {' and '.join(part for part in (values, rows if self.too_few_people else '') if part)}."
        )


def kept_by(models: Sequence[Model]) -> tuple[int, int]:
    """How many look-alikes and how many values must be left to everybody, if models are to hold on.

    Models that promise neither are kept by each release alone.
    """
    parts = [part for model in models for part in model.parts]
    k = max((part.k for part in parts if isinstance(part, KAnonymity)), default=1)
    return k, max((int(part.l) for part in parts if isinstance(part, DistinctDiversity)), default=1)


def continues(
    target: Target, *, k: int = 2, diversity: int = 1, shown: int | None = EXAMPLES
) -> Continuation:
    """Whether a release may follow the earlier releases of its background, by what they show themselves.

    The people of the background must be those in the releases. A condition that suffices without any
    check: every class of the new release is a union of classes of each earlier one.
    """
    people = target.people
    fits = [target.fit, *target.earlier_fits.values()]
    shows = {column: _shows(fits, column) for column in target.sensitive}
    groups = [grouping_view(len(people.sizes), fit.pairs, fit.classes.num_classes) for fit in fits]
    everybody = Everybody(people.sizes, people.known, lambda kind: people.names([kind]))
    return judge(
        everybody, list(target.background.earlier), groups, shows, k=k, diversity=diversity, shown=shown
    )


@dataclasses.dataclass(frozen=True)
class Everybody:
    """People, or kinds of people, by number: how many each stands for, what is known of them, their names."""

    sizes: Counts
    known: Callable[[int], Mapping[str, str]]
    names: Callable[[int], tuple[str, ...]]


class Shows(NamedTuple):
    """How releases show a sensitive column: the values by code, and a view of each release that has it."""

    values: Sequence[str]
    views: Sequence[ReleaseView]


def judge(
    everybody: Everybody,
    releases: Sequence[str],
    groups: Sequence[ReleaseView],
    shows: Mapping[str, Shows],
    *,
    k: int,
    diversity: int,
    shown: int | None,
) -> Continuation:
    """Count who keeps too few look-alikes or values.

    Args:
        everybody: the people.
        releases: the names of the earlier releases.
        groups: for every release, which people it puts together.
        shows: for every sensitive column, how releases show it.
        k: how many people must look alike.
        diversity: how many values must be left.
        shown: how many examples are told, None for all.
    """
    require_whole("a release after others", "k", k)
    require_whole("a release after others", "diversity", diversity)
    sizes = everybody.sizes
    together = remaining_values(groups, sizes)
    present = (together.groups >= 0).any(axis=1)
    few = (present & (look_alikes(together, k) < k))[together.kind]
    left = {column: remaining_values(found.views, sizes) for column, found in shows.items()}
    less = {c: (r.limited & (r.numbers > 0) & (r.numbers < diversity))[r.kind] for c, r in left.items()}
    victims = np.flatnonzero(np.logical_or.reduce([few, *less.values()]))

    def describe(person: int) -> VictimClass:
        learned = [f"fewer than {k} look alike"] if few[person] else []
        for column, values in shows.items():
            if less[column][person]:
                codes = left[column].of(int(left[column].kind[person])).tolist()
                learned.append(f"{column} {' or '.join(sorted(values.values[code] for code in codes))}")
        size, who = int(sizes[person]), everybody.names(person)
        return VictimClass(everybody.known(person), size, "; ".join(learned), 1.0, who)

    return Continuation(
        releases=tuple(releases),
        people=int(sizes.sum()),
        k=k,
        diversity=diversity,
        too_few_people=int(sizes[few].sum()),
        too_few_values={column: int(sizes[hit].sum()) for column, hit in less.items()},
        examples=tuple(describe(int(person)) for person in victims[:shown]),
    )


def grouping_view(number: int, fits: Pairs, classes: int) -> ReleaseView:
    """Which people are together in a release, whatever it shows of them."""
    no_values = np.zeros(classes + 1, np.int64)
    return view_of(number, fits, no_values, np.zeros(0, np.int32), np.ones(classes, dtype=bool))


def _shows(fits: Sequence[Fit], column: str) -> Shows:
    showing = [fit for fit in fits if (column,) in fit.classes.distributions]
    codes = shared_values(showing, column)
    return Shows(list(codes), [release_view(fit, column, codes) for fit in showing])
