"""What the checking component asks the statistics about a request; a new question is one more in `QUERIES`.

Age, sex and weight are not asked for by themselves but among the people with the same medication, disease or
occupation: what matters is whether they are conspicuous there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import date

from tarnkappe.exchange.request import Anchor
from tarnkappe.exchange.statistics.store import EVERYBODY, PopulationDistribution, Statistics

Condition = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a question is about.

    Attributes:
        anchor: what the people were selected by.
        attributes: the quasi-identifiers and sensitive attributes that are asked for.
        values: the values of some of them that occur in the selection.
        groups: those whose values are groups of people (`conditions` in the catalogue); all of them if not
            said.
    """

    anchor: Anchor
    attributes: tuple[str, ...]
    values: Mapping[str, Sequence[str]]
    groups: tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Reply:
    """What the statistics replied: distributions, each of an attribute among the people with a condition."""

    question: str
    distributions: Mapping[tuple[Condition, tuple[str, ...]], PopulationDistribution]


Query = Callable[[Statistics, Asked, date], Reply]


def q1_features_of_groups(statistics: Statistics, asked: Asked, today: date) -> Reply:
    """Which diseases and features are frequent in the groups (occupations and others) that are asked for?

    A group is all who have a value of some attribute, as far as the statistics know such groups. What it is
    called does not matter.
    """
    found: dict[tuple[Condition, tuple[str, ...]], PopulationDistribution] = {}
    for kind in asked.attributes if asked.groups is None else asked.groups:
        here = set(asked.values.get(kind, ()))
        for name in dict.fromkeys([asked.anchor.attribute, *asked.attributes]):
            known = statistics.distributions(kind, (name,), today) if name != kind else {}
            found |= {((kind, value), (name,)): known[value] for value in sorted(here & set(known))}
    return Reply("Which diseases and features are frequent in these groups, such as occupations?", found)


def q2_features_of_the_selection(statistics: Statistics, asked: Asked, today: date) -> Reply:
    """Which values are conspicuous or rare among those who have what people were selected by?"""
    found = {}
    for value in asked.anchor.values:
        condition = (asked.anchor.attribute, value)
        for names in statistics.joint_attributes(condition):
            if set(names) <= set(asked.attributes):
                found[condition, names] = statistics.distribution(condition, names, today)
    return Reply("Which values are rare among people like these?", found)


def q3_everybody(statistics: Statistics, asked: Asked, today: date) -> Reply:
    """How are the same attributes distributed among everybody?"""
    found = {}
    for names in statistics.joint_attributes(EVERYBODY):
        if set(names) <= set(asked.attributes):
            found[EVERYBODY, names] = statistics.distribution(EVERYBODY, names, today)
    return Reply("How frequent are these values among everybody?", found)


QUERIES: tuple[Query, ...] = (q1_features_of_groups, q2_features_of_the_selection, q3_everybody)
"""All questions, in the order in which they are asked."""


@dataclasses.dataclass(frozen=True)
class PopulationProfile:
    """Everything that the statistics replied.

    Attributes:
        anchor: what the people were selected by.
        replies: the replies to all questions.
    """

    anchor: Anchor
    replies: tuple[Reply, ...] = ()

    def given_anchor(self, *attributes: str) -> PopulationDistribution:
        """The distribution of some attributes among those with what people were selected by.

        Where people were selected by several values, only what is known of all of them together would do; the
        statistics know each by itself, so nothing is known then.
        """
        if len(self.anchor.values) != 1:
            return PopulationDistribution(attributes, {})
        return self._find((self.anchor.attribute, self.anchor.values[0]), attributes)

    def of_everybody(self, *attributes: str) -> PopulationDistribution:
        """The distribution of some attributes among everybody."""
        return self._find(EVERYBODY, attributes)

    def joint(self) -> list[PopulationDistribution]:
        """All distributions of the selection, or of everybody, that tell how many people there are."""
        anchors = {(self.anchor.attribute, value) for value in self.anchor.values}
        wanted = anchors | {EVERYBODY} if len(anchors) == 1 else {EVERYBODY}
        return [
            distribution
            for reply in self.replies
            for (condition, _), distribution in reply.distributions.items()
            if condition in wanted and distribution and distribution.population is not None
        ]

    def within_groups(self) -> list[tuple[Condition, PopulationDistribution]]:
        """What is known of groups in the selection, such as occupations, with how many people there are."""
        anchors = {(self.anchor.attribute, value) for value in self.anchor.values}
        return [
            (condition, distribution)
            for reply in self.replies
            for (condition, _), distribution in reply.distributions.items()
            if condition not in anchors | {EVERYBODY} and distribution and distribution.population is not None
        ]

    @property
    def groups(self) -> tuple[str, ...]:
        """The attributes by whose groups something is known, such as the occupation."""
        return tuple(sorted({attribute for (attribute, _), _ in self.within_groups()}))

    @property
    def sources(self) -> tuple[str, ...]:
        """Who published what the check rests on."""
        every = (d for reply in self.replies for d in reply.distributions.values())
        return tuple(sorted({source for distribution in every for source in distribution.sources}))

    def _find(self, condition: Condition, attributes: Sequence[str]) -> PopulationDistribution:
        names = tuple(sorted(attributes))
        for reply in self.replies:
            if (condition, names) in reply.distributions:
                return reply.distributions[condition, names]
        return PopulationDistribution(names, {})


def ask(
    statistics: Statistics, asked: Asked, today: date | None = None, queries: Sequence[Query] = QUERIES
) -> PopulationProfile:
    """Ask all questions."""
    return PopulationProfile(
        asked.anchor, tuple(query(statistics, asked, today or date.today()) for query in queries)
    )
