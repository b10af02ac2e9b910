"""What an attacker of the gate works out: which values everybody can have, by his own encoding and a SAT solver.

He counts *versions*: a person together with one value that he had for a while. A world gives one label to every
version, such that

- in every answer each label is given at most as often as it was shown there,
- a version has another label than the one before it, unless the label stands for several values,
- of those who were there when the list of labels was read from the table, each label has its holders,
- people whose values he knows have these values.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pysat.card import CardEnc, EncType
from pysat.formula import IDPool
from pysat.solvers import Solver

Version = tuple[int, int]
"""A person, and how often his value had changed."""
World = dict[Version, str]


@dataclasses.dataclass
class Told:
    """All that was said, and all that is known besides.

    Attributes:
        labels: what a value can be.
        merged: labels that stand for several values.
        answers: who was in it, and how often it shows each label.
        founders: who was there when the list of labels was read from the table.
        floors: how many of them had each label, at least.
        known: values that he knows.
    """

    labels: list[str]
    merged: frozenset[str] = frozenset()
    answers: list[tuple[tuple[Version, ...], Counter[str]]] = dataclasses.field(default_factory=list)
    founders: frozenset[Version] = frozenset()
    floors: Mapping[str, int] = dataclasses.field(default_factory=dict)
    known: Mapping[Version, str] = dataclasses.field(default_factory=dict)

    @property
    def returned(self) -> list[Version]:
        """Who was in an answer."""
        return sorted({version for versions, _ in self.answers for version in versions})

    @property
    def versions(self) -> list[Version]:
        """Whom a world is about: who was in an answer, what he had in between, and who counts for the list."""
        found = set(self.returned) | (self.founders if self.floors else set())
        for person, number in list(found):
            found |= {(person, earlier) for earlier in range(number)}
        return sorted(found)

    @property
    def changes(self) -> list[tuple[Version, Version]]:
        """Each version and the next one of the same person."""
        there = set(self.versions)
        return [((p, n), (p, n + 1)) for p, n in there if (p, n + 1) in there]

    def left(self) -> dict[Version, list[str]]:
        """What the answers leave to each version at a glance."""
        shown = defaultdict(lambda: set(self.labels))
        for versions, counts in self.answers:
            for version in versions:
                shown[version] &= set(counts)
        return {
            version: [self.known[version]] if version in self.known else sorted(shown[version])
            for version in self.versions
        }

    def fits(self, world: World) -> bool:
        """Whether a world contradicts nothing, by plain counting."""
        if set(world) != set(self.versions) or not set(world.values()) <= set(self.labels):
            return False
        holders = Counter(world[version] for version in self.founders if version in world)
        return (
            all(not Counter(world[v] for v in versions) - counts for versions, counts in self.answers)
            and all(world[old] != world[new] or world[old] in self.merged for old, new in self.changes)
            and all(holders[label] >= number for label, number in self.floors.items())
            and all(world.get(version, label) == label for version, label in self.known.items())
        )


class Solved:
    """The worlds of what was told, as a SAT solver sees them."""

    def __init__(self, told: Told, seed: int = 0) -> None:
        self.told, self._left = told, told.left()
        self._chance = random.Random(seed)
        self._pool = IDPool()
        self._solver = Solver("glucose4")
        self._world: World = {}
        for version, labels in self._left.items():
            self._solver.add_clause([self._is(version, label) for label in labels])
        if told.floors or told.changes:  # else a second label of somebody only takes room from others
            for version, labels in self._left.items():
                self._most([self._is(version, label) for label in labels], 1)
        for versions, counts in told.answers:
            for label, number in counts.items():
                self._most([self._is(v, label) for v in versions if label in self._left[v]], number)
        for old, new in told.changes:
            for label in set(self._left[old]) & set(self._left[new]) - told.merged:
                self._solver.add_clause([-self._is(old, label), -self._is(new, label)])
        for label, number in told.floors.items():
            there = [self._is(v, label) for v in sorted(told.founders) if label in self._left[v]]
            self._least(there, number)

    def possible(self, k: int) -> dict[Version, set[str]]:
        """Labels of everybody who was in an answer: k of them, or, if there are fewer, all."""
        shown: dict[Version, set[str]] = {version: set() for version in self._left}
        wanted = self.told.returned
        for _ in range(6 * k):
            lacking = sum(len(shown[version]) < k for version in wanted)
            if not lacking:
                break
            self._prefer(shown, k)
            self._show(shown, [])
            self._move(shown, k)
            if sum(len(shown[version]) < k for version in wanted) == lacking:
                break
        for version in sorted(wanted, key=lambda version: len(shown[version])):
            for label in self._left[version]:
                if len(shown[version]) >= k:
                    break
                if label not in shown[version]:
                    self._solver.set_phases([self._is(*pair) for pair in self._world.items()])
                    self._show(shown, [self._is(version, label)])
                    self._move(shown, k)
        return {version: shown[version] for version in wanted}

    def _prefer(self, shown: Mapping[Version, set[str]], k: int) -> None:
        """Let the solver try, for everybody, a label first that no world has shown yet."""
        phases = []
        for version, labels in self._left.items():
            new = [label for label in labels if label not in shown[version]]
            lacks = len(shown[version]) < k and new
            liked = self._chance.choice(new if lacks else labels)
            phases += [self._is(version, label) * (1 if label == liked else -1) for label in labels]
        self._solver.set_phases(phases)

    def _show(self, shown: dict[Version, set[str]], assumed: list[int]) -> None:
        if not self._solver.solve(assumptions=assumed):
            assert assumed, "no table at all can have given these answers"
            return
        true = {literal for literal in self._solver.get_model() or () if literal > 0}
        world = {}
        for version, labels in self._left.items():
            here = [label for label in labels if self._is(version, label) in true]
            asked = [label for label in here if self._is(version, label) in assumed]
            fresh = [label for label in here if label not in shown[version]]
            world[version] = (asked or fresh or here)[0]
        assert self.told.fits(world), "the solver's world is none"
        self._world = world
        for version, label in world.items():
            shown[version].add(label)

    def _move(self, shown: dict[Version, set[str]], k: int) -> None:
        """Look at the worlds next to the last one, in which one person has another label that is still free."""
        world = dict(self._world)
        used = [Counter(world[version] for version in versions) for versions, _ in self.told.answers]
        within: dict[Version, list[int]] = defaultdict(list)
        for place, (versions, _) in enumerate(self.told.answers):
            for version in versions:
                within[version].append(place)
        for version in self.told.returned:
            own = world[version]
            for label in self._left[version]:
                if len(shown[version]) >= k:
                    break
                free = all(
                    used[place][label] < self.told.answers[place][1][label] for place in within[version]
                )
                if label not in shown[version] and free:
                    world[version] = label
                    if self.told.fits(world):
                        shown[version].add(label)
            world[version] = own

    def _is(self, version: Version, label: str) -> int:
        return int(self._pool.id((version, label)))

    def _most(self, literals: list[int], number: int) -> None:
        if len(literals) > number:
            made = CardEnc.atmost(literals, number, vpool=self._pool, encoding=EncType.seqcounter)
            self._solver.append_formula(made.clauses)

    def _least(self, literals: list[int], number: int) -> None:
        made = CardEnc.atleast(literals, number, vpool=self._pool, encoding=EncType.totalizer)
        self._solver.append_formula(made.clauses)


def enumerated(told: Told) -> dict[Version, set[str]]:
    """All labels that everybody who was in an answer can have, by trying out: for few people, without a solver."""
    left = told.left()
    order = sorted(left, key=lambda version: len(left[version]))
    within: dict[Version, list[tuple[Counter[str], Counter[str]]]] = defaultdict(list)
    for versions, counts in told.answers:
        used: Counter[str] = Counter()
        for version in versions:
            within[version].append((counts, used))
    world: World = {}

    def free(version: Version, label: str) -> bool:
        person, number = version
        beside = [world.get((person, number + step)) for step in (-1, 1)]
        return all(used[label] < counts[label] for counts, used in within[version]) and (
            label in told.merged or label not in beside
        )

    def put(version: Version, label: str, step: int) -> None:
        for _, used in within[version]:
            used[label] += step
        if step > 0:
            world[version] = label
        else:
            del world[version]

    def completed(rest: list[Version]) -> bool:
        if not rest:
            return told.fits(world)
        for label in left[rest[0]]:
            if free(rest[0], label):
                put(rest[0], label, 1)
                done = completed(rest[1:])
                put(rest[0], label, -1)
                if done:
                    return True
        return False

    def can_have(version: Version, label: str) -> bool:
        if not free(version, label):
            return False
        put(version, label, 1)
        done = completed([other for other in order if other != version])
        put(version, label, -1)
        return done

    return {v: {label for label in left[v] if can_have(v, label)} for v in told.returned}


def by_block(told: Told, blocks: Iterable[range]) -> Iterator[Told]:
    """What was told about each of some groups of people that no answer mixes."""
    for block in blocks:
        answers = [one for one in told.answers if one[0] and one[0][0][0] in block]
        yield dataclasses.replace(told, answers=answers)
