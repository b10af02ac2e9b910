"""Which records of several sources are the same person, although they are spelled differently.

Sure pairs are linked, doubtful ones are left to a person. Records of one source are taken for different
people, so whoever has a better partner in a source is not linked with a worse one: that keeps twins and
namesakes apart. What contradicts a link is left to a person, however much else agrees (`contradictions`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.pseudonym.identity import Identity
from tarnkappe.pseudonym.linkage.blocking import candidates
from tarnkappe.pseudonym.linkage.contradictions import contradictions
from tarnkappe.pseudonym.linkage.explanation import LinkageExplanation, explain
from tarnkappe.pseudonym.linkage.records import LinkageRecords, Numbers, records
from tarnkappe.pseudonym.linkage.similarity import Levels, levels
from tarnkappe.pseudonym.linkage.weights import Floats, Weights, chances, estimate, parts
from tarnkappe.table.encoding import Progress

SURE, DOUBTFUL = 0.95, 0.1
MARGIN = 2.0
"""By how much (as a logarithm) a partner must be better than the next one."""

Pair = tuple[Identity, Identity]
Decisions = Mapping[frozenset[Identity], bool]
"""What people have decided: whether two spellings are the same person."""


@dataclasses.dataclass(frozen=True, order=True)
class Doubt:
    """A pair for a person to decide, how likely it is one person, what contradicts it, and all reasons."""

    chance: float
    pair: Pair
    why: str = ""
    explanation: LinkageExplanation | None = dataclasses.field(default=None, compare=False)


@dataclasses.dataclass(frozen=True)
class Links:
    """The outcome.

    Attributes:
        groups: the spellings of each person; every identity is in one group.
        sure: the pairs that were linked.
        doubts: the pairs that a person should decide, the likeliest first; they are not linked.
        compared: how many pairs were compared.
    """

    groups: list[tuple[Identity, ...]]
    sure: list[Pair]
    doubts: list[Doubt]
    compared: int


def link(
    sources: Sequence[Iterable[Identity]],
    fields: Sequence[str],
    *,
    decisions: Decisions | None = None,
    sure: float = SURE,
    doubtful: float = DOUBTFUL,
    progress: Progress | None = None,
) -> Links:
    """Find the records that are one person, spelling mistakes and changed addresses notwithstanding.

    Args:
        sources: the identities of each source.
        fields: what an identity consists of; compared are surname, given, born, sex and postcode.
        decisions: what people have decided about pairs; it overrides what was found.
        sure: from which chance on pairs are linked.
        doubtful: from which chance on pairs are shown to a person.
        progress: is told how far it is.

    >>> clinic = [("Müller", "Thomas", "1958-03-12"), ("Gruber", "Ida", "1990-01-02")]
    >>> registry = [("Mueller", "Tomas", "1958-03-12"), ("Huber", "Ivo", "1961-07-30")]
    >>> found = link([clinic, registry], ["surname", "given", "born"], sure=0.5)
    >>> [len(group) for group in found.groups]
    [2, 1, 1]
    """
    return weigh(sources, fields, progress).judged(decisions, sure=sure, doubtful=doubtful)


@dataclasses.dataclass(frozen=True, eq=False)
class Weighed:
    """Candidates with their weights, before anything is linked."""

    people: LinkageRecords
    pairs: Numbers
    found: Levels
    weights: Weights
    parts: Floats

    def judged(
        self, decisions: Decisions | None = None, *, sure: float = SURE, doubtful: float = DOUBTFUL
    ) -> Links:
        """What is linked from a chance on, and what is left to a person."""
        if not 0 < doubtful <= sure <= 1:
            raise ParameterError(
                "pseudonym.chances-0-doubtful-sure", "of the chances, 0 < doubtful <= sure <= 1 must hold"
            )
        return _Judge(self, decisions or {}, sure, doubtful).judge()


def weigh(
    sources: Sequence[Iterable[Identity]], fields: Sequence[str], progress: Progress | None = None
) -> Weighed:
    """Find the pairs that may be one person, and what speaks for each."""
    people = records([list(source) for source in sources], fields)
    pairs = candidates(people, progress)
    found = levels(people, pairs) if len(pairs) else np.empty((0, len(people.fields)), dtype=np.int8)
    if progress:
        progress("weighing pairs", 0, len(pairs))
    weights = estimate(people, found)
    return Weighed(people, pairs, found, weights, parts(people, pairs, found, weights))


class _Judge:
    def __init__(self, weighed: Weighed, decisions: Decisions, sure: float, doubtful: float) -> None:
        self._weighed, self._decisions = weighed, decisions
        self._people, self._prior = weighed.people, weighed.weights.prior
        self._sure_chance, self._doubtful = sure, doubtful
        self._parent = list(range(len(self._people.people)))
        self._sources = self._people.sources.tolist()
        self._apart: dict[int, set[int]] = {}
        self._links: list[Pair] = []

    def judge(self) -> Links:
        self._take_decisions()
        pairs, found = self._weighed.pairs, self._weighed.found
        score = self._weighed.parts.sum(axis=1)
        chance = chances(score, self._prior)
        against = contradictions(self._people, pairs, found)
        kept = np.flatnonzero(chance >= self._doubtful)
        kept = kept[np.argsort(-score[kept], kind="stable")]
        rivals = _Rivals(pairs[kept], score[kept], self._sources)
        doubts = []
        for place in kept:
            left, right = map(int, pairs[place])
            if self._pair(left, right) in self._decisions or self._root(left) == self._root(right):
                continue
            is_sure = chance[place] >= self._sure_chance and not against[place]
            if not self._may_be_one(left, right):
                continue  # one of them has a better partner in this source
            if is_sure and rivals.lead(left, right, float(score[place])) >= MARGIN:
                self._unite(left, right)
            else:
                doubts.append(place)
        open_doubts = [
            self._doubt(int(place), float(chance[place]), str(against[place]))
            for place in doubts
            if self._may_be_one(*map(int, pairs[place]))
        ]
        groups: dict[int, list[Identity]] = {}
        for number, person in enumerate(self._people.people):
            groups.setdefault(self._root(number), []).append(person)
        return Links([tuple(group) for group in groups.values()], self._links, open_doubts, len(pairs))

    def _doubt(self, place: int, chance: float, why: str) -> Doubt:
        left, right = map(int, self._weighed.pairs[place])
        found, own = self._weighed.found[place], self._weighed.parts[place]
        told = explain(self._people, left, right, found, own, self._prior)
        return Doubt(round(chance, 4), (self._people.people[left], self._people.people[right]), why, told)

    def _take_decisions(self) -> None:
        numbers = {person: number for number, person in enumerate(self._people.people)}
        for pair, same in self._decisions.items():
            if len(pair) < 2 or not all(person in numbers for person in pair):
                continue  # about people of other sources
            left, right = sorted(numbers[person] for person in pair)
            if same:
                self._unite(left, right)
            else:
                self._keep_apart(self._root(left), self._root(right))

    def _pair(self, left: int, right: int) -> frozenset[Identity]:
        return frozenset((self._people.people[left], self._people.people[right]))

    def _root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = number = self._parent[self._parent[number]]
        return number

    def _may_be_one(self, left: int, right: int) -> bool:
        one, other = self._root(left), self._root(right)
        decided = other in self._apart.get(one, ())
        return one != other and not decided and not self._sources[one] & self._sources[other]

    def _keep_apart(self, one: int, other: int) -> None:
        self._apart.setdefault(one, set()).add(other)
        self._apart.setdefault(other, set()).add(one)

    def _unite(self, left: int, right: int) -> None:
        one, other = sorted((self._root(left), self._root(right)))
        if one != other:
            self._parent[other] = one
            self._sources[one] |= self._sources[other]
            for stranger in self._apart.pop(other, set()):
                self._apart[stranger].discard(other)
                self._keep_apart(one, stranger)
            self._links.append((self._people.people[left], self._people.people[right]))


class _Rivals:
    """How much better a pair is than the best other pair of either side with the same source."""

    def __init__(self, pairs: np.ndarray, score: Floats, sources: Sequence[int]) -> None:
        self._sources = list(sources)
        self._best: dict[tuple[int, int], list[float]] = {}
        for (left, right), value in zip(pairs.tolist(), score.tolist(), strict=True):
            for side in self._sides(left, right):
                best = self._best.setdefault(side, [])
                if len(best) < 2:  # they come in descending order
                    best.append(value)

    def _sides(self, left: int, right: int) -> list[tuple[int, int]]:
        sides = []
        for one, other in ((left, right), (right, left)):
            bits = self._sources[other]
            while bits:
                sides.append((one, bits & -bits))
                bits &= bits - 1
        return sides

    def lead(self, left: int, right: int, value: float) -> float:
        """How far a pair leads; negative if it is not the best of both sides."""
        leads = [float("inf")]
        for side in self._sides(left, right):
            best = self._best[side]
            if value < best[0]:
                leads.append(value - best[0])
            elif len(best) > 1:
                leads.append(value - best[1])
        return min(leads)
