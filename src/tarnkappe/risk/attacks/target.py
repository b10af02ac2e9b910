"""What an attacker has in hand: a release, and whatever else he knows."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from tarnkappe.errors import ColumnError
from tarnkappe.risk.attacks.background import NOTHING, AttackNeed, Background
from tarnkappe.risk.attacks.people import Fit, KnownPeople
from tarnkappe.risk.pairs import Pairs, classes_in_classes, classes_of
from tarnkappe.table import Classes, ClassState, Distribution, Table
from tarnkappe.table.classes import Mask, release_everything
from tarnkappe.table.encoding import Counts


@dataclasses.dataclass(frozen=True, eq=False)
class Target:
    """A release as an attacker sees it, and what else he has in hand.

    Attributes:
        state: the classes and which of them are released, if there is a release. The sensitive columns
            are those whose distribution the classes hold.
        background: what the attacker has beside it.
    """

    state: ClassState | None
    background: Background = NOTHING

    @classmethod
    def of(cls, table: Table, background: Background = NOTHING) -> Target:
        """A released table; its roles tell the columns."""
        known = dataclasses.replace(background, rows=background.rows or table)
        return cls(release_everything(classes_of(table, background.hierarchies)), known)

    def has(self, need: AttackNeed) -> bool:
        """Whether the attacker has something."""
        return self.state is not None if need is AttackNeed.RELEASE else self.background.has(need)

    @property
    def classes(self) -> Classes:
        """The classes of the release, suppressed ones included."""
        assert self.state is not None, "an attack that looks at classes needs a release"
        return self.state.classes

    @property
    def kept(self) -> Mask:
        """The classes that are released and hold rows."""
        assert self.state is not None
        return self.state.kept & self.classes.released

    @cached_property
    def exclusions(self) -> dict[tuple[str, str], tuple[Counts, dict[int, set[str]]]]:
        """What excluding values of one sensitive column tells of another, as far as it was looked at."""
        return {}

    @cached_property
    def rows(self) -> int:
        """How many rows are released."""
        return int(self.classes.sizes[self.kept].sum())

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that the attacker wants to learn."""
        if self.state is None:
            return ()
        return tuple(names[0] for names in self.classes.distributions if len(names) == 1)

    def distribution(self, column: str) -> Distribution:
        """The values of a sensitive column in each class."""
        if column not in self.sensitive:
            raise ColumnError(
                "risk.values-not-counted-name",
                "the values of '{column}' are not counted: name it as a sensitive column",
                column=column,
            )
        return self.classes.distributions[(column,)]

    def released_totals(self, column: str) -> Counts:
        """How often each value of a sensitive column occurs in the whole release."""
        distribution = self.distribution(column)
        weights = np.where(self.kept[distribution.class_of_entry], distribution.counts, 0)
        totals = np.zeros(distribution.column.cardinality, np.int64)
        np.add.at(totals, distribution.codes, weights)
        return totals

    @cached_property
    def people(self) -> KnownPeople:
        """The people that the attacker knows of, by all columns that any of the releases shows."""
        known = self.background.people
        assert known is not None, "an attack on people needs people"
        columns = [column.name for column in self.classes.quasi_identifiers]
        earlier = [name for table in self.background.earlier.values() for name in table.quasi_identifiers]
        return KnownPeople(known, [*columns, *earlier])

    @cached_property
    def fit(self) -> Fit:
        """Where the people fit into the release."""
        return Fit(self.people, self.classes, self.kept, self.background.hierarchies)

    @cached_property
    def earlier_classes(self) -> dict[str, Classes]:
        """The classes of each earlier release, by its name."""
        return {name: classes_of(table) for name, table in self.background.earlier.items()}

    @cached_property
    def earlier_pairs(self) -> dict[str, Pairs | None]:
        """Which classes of the release and of each earlier one can have a member in common.

        None for a release with too many such pairs to look at.
        """
        return {
            name: classes_in_classes(self.classes, classes, self.background.hierarchies)
            for name, classes in self.earlier_classes.items()
        }

    @cached_property
    def earlier_fits(self) -> dict[str, Fit]:
        """Where the people fit into each earlier release."""
        return {
            name: Fit(self.people, classes, classes.released, self.background.hierarchies)
            for name, classes in self.earlier_classes.items()
        }
