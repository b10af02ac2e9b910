"""What an attacker has in hand beside the release: people, earlier releases, rules, answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import StrEnum

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.privacy import DistinctDiversity
from tarnkappe.privacy.requiring import require
from tarnkappe.table import Table


class AttackNeed(StrEnum):
    """Something that an attack cannot do without."""

    RELEASE = "release"
    ROWS = "rows"
    PEOPLE = "people"
    EARLIER = "earlier"
    RULES = "rules"
    ANSWERS = "answers"
    LISTINGS = "listings"
    SENSITIVE_TABLE = "sensitive_table"
    MINIMAL_FOR = "minimal_for"

    @property
    def description(self) -> str:
        """What it is, in the words of an error."""
        return _DESCRIPTIONS[self]


_DESCRIPTIONS = {
    AttackNeed.RELEASE: "a release",
    AttackNeed.ROWS: "the rows of the release in their order",
    AttackNeed.PEOPLE: "a table of people with what is known of them (--against)",
    AttackNeed.EARLIER: "at least one earlier release (--history)",
    AttackNeed.RULES: "rules that say who cannot have which value (--rules)",
    AttackNeed.ANSWERS: "answers to queries that count or sum (--answers)",
    AttackNeed.LISTINGS: "answers to queries that list sensitive values (--answers)",
    AttackNeed.SENSITIVE_TABLE: "the sensitive table of an Anatomy release (--sensitive-table)",
    AttackNeed.MINIMAL_FOR: "the model that the release was made for with the fewest steps (--minimal-for)",
}


@dataclasses.dataclass(frozen=True)
class ExclusionRule:
    """Knowledge about some people: certain values that they do not have.

    Attributes:
        column: the sensitive column that the rule is about.
        excludes: the values that these people do not have.
        where: who they are: the known value (or a cell such as `3*`) of some columns; everybody if
            empty.

    >>> ExclusionRule("illness", ("diabetes",), {"name": "Till"}).where["name"]
    'Till'
    """

    column: str
    excludes: tuple[str, ...]
    where: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        require(
            len(self.excludes) > 0,
            "risk.rule-about-excludes-nothing-name",
            "a rule about '{column}' excludes nothing: name some values",
            column=self.column,
        )


class Function(StrEnum):
    """What an answer tells of the people that it is about."""

    COUNT = "count"
    SUM = "sum"


@dataclasses.dataclass(frozen=True)
class PublishedAggregate:
    """An aggregate that was given out: how many people, or the sum of a column over them.

    Attributes:
        function: what was computed.
        value: the answer.
        where: the people it is about: the values of some columns that are known of people.
        column: what was added up, or, for a count, the sensitive column that had the value `equals`.
        equals: the sensitive value that was counted.
    """

    function: Function
    value: float
    where: Mapping[str, str] = dataclasses.field(default_factory=dict)
    column: str | None = None
    equals: str | None = None

    def __post_init__(self) -> None:
        if self.function is Function.SUM:
            require(
                self.column is not None and self.equals is None,
                "risk.sum-needs-column-no-equals",
                "a sum needs a column, and no 'equals'",
            )
        else:
            require(
                (self.column is None) == (self.equals is None),
                "risk.count-value-needs-both",
                "a count of a value needs both column and equals",
            )
            require(
                self.value >= 0 and self.value == int(self.value),
                "risk.count-whole-number-0",
                "a count is a whole number from 0",
            )


@dataclasses.dataclass(frozen=True)
class Listing:
    """An answer that lists the sensitive values of some people, in an order that tells nothing.

    Attributes:
        column: the sensitive column.
        values: the values; more than there are people if artificial ones were added.
        where: the people it is about: the values of some columns that are known of people.
    """

    column: str
    values: tuple[str, ...]
    where: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, eq=False)
class Background:
    """What an attacker has in hand beside the classes of a release; all of it may be absent.

    Attributes:
        rows: the released table, its rows in the order of the release.
        people: people and what is known of them; columns with the role of an identifier name them.
        earlier: earlier releases of the same population by name, the oldest first.
        rules: values that some people are known not to have.
        answers: aggregates that were given out.
        listings: lists of sensitive values that were given out, the oldest first.
        sensitive_table: the second table of an Anatomy release: group and sensitive value.
        minimal_for: the model that the release meets with the fewest generalization steps.
        hierarchies: how quasi-identifiers were generalized; without one, cells are read as patterns
            and ranges.
    """

    rows: Table | None = None
    people: Table | None = None
    earlier: Mapping[str, Table] = dataclasses.field(default_factory=dict)
    rules: tuple[ExclusionRule, ...] = ()
    answers: tuple[PublishedAggregate, ...] = ()
    listings: tuple[Listing, ...] = ()
    sensitive_table: Table | None = None
    minimal_for: DistinctDiversity | None = None
    hierarchies: Mapping[str, Hierarchy] = dataclasses.field(default_factory=dict)

    def has(self, need: AttackNeed) -> bool:
        """Whether something is there (the release itself is no background)."""
        found = getattr(self, str(need))
        return found is not None and not (isinstance(found, tuple | Mapping) and len(found) == 0)


NOTHING = Background()


def missing(attack: str, need: AttackNeed) -> ParameterError:
    """The error of an attack that lacks what it needs."""
    return ParameterError(
        "risk.attack-needs",
        "the attack '{attack}' needs {description}",
        attack=attack,
        description=need.description,
    )


def columns_from_people(
    release: Table, people: Table | None, qi: Sequence[str], sensitive: Sequence[str]
) -> Table:
    """The roles of a release: as given, else what is known of people, and what is not."""
    if not qi:
        if people is None:
            raise ColumnError(
                "risk.name-columns-attacker-may-know",
                "name the columns that an attacker may know: --qi COLUMN ...",
            )
        qi = [n for n in release.column_names if n in people.column_names and n not in sensitive]
        if not qi:
            raise ColumnError(
                "risk.release-people-no-column",
                "the release and the people have no column in common: name them alike",
            )
        sensitive = sensitive or [n for n in release.column_names if n not in people.column_names]
    return release.with_roles(quasi_identifiers=qi, sensitive=sensitive)
