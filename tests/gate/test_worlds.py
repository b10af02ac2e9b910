"""What everybody can have, for whoever knows the changes, the floors of a list and some values: ours against plain
enumeration of every world, in code that shares nothing with the gate.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import GuaranteeError, VerificationError
from tarnkappe.gate import Gate, Population, PublicPool
from tarnkappe.gate.certificate import certify
from tarnkappe.gate.domain import LabelDomain
from tarnkappe.gate.exact_test import signatures
from tarnkappe.gate.highs import Highs
from tarnkappe.gate.knowledge import Knowledge
from tarnkappe.gate.policy_columns import Surplus
from tarnkappe.gate.problem import problem
from tarnkappe.gate.solver import FeasibleAssignment
from tarnkappe.gate.surplus import Coins, Veiled
from tests.attackers.gate.worlds import Solved, Told, Version, enumerated

LABELS = ("A", "B", "C", "o")


class Both:
    """One history twice: as the gate's knowledge, and as an attacker notes it."""

    def __init__(
        self,
        labels: Sequence[str],
        merged: str = "",
        floors: Mapping[str, int] | None = None,
        founders: Sequence[Version] = (),
    ) -> None:
        self.labels, self.founders = list(labels), list(founders)
        self.told = Told(list(labels), frozenset(merged), [], frozenset(founders), dict(floors or {}), {})
        domain = LabelDomain(tuple(labels), frozenset(merged), dict(floors or {}))
        self.knowledge: Knowledge = domain.knowledge(len(founders))
        self.number: dict[Version, int] = {}

    def _arrive(self, versions: Sequence[Version]) -> None:
        places: dict[int, int] = {}
        for version in versions:
            if version not in self.number:
                self.number[version] = len(self.number)
                if version in self.founders:
                    places[self.number[version]] = self.founders.index(version)
        self.knowledge.arriving = places

    def answer(self, versions: Sequence[Version], values: str) -> None:
        self._arrive(versions)
        counts = Counter(values)
        self.knowledge.publish([self.number[v] for v in versions], [counts[label] for label in self.labels])
        self.told.answers.append((tuple(versions), counts))

    def change(self, old: Version) -> None:
        new = (old[0], old[1] + 1)
        if self.told.floors and old in self.founders:
            self._arrive([old])
        elif old not in self.number:
            return  # nobody was told about it
        assert self.knowledge.change(self.number[old]) == len(self.number)
        self.number[new] = len(self.number)

    def know(self, version: Version, label: str) -> None:
        self._arrive([version])
        self.knowledge.fix(self.number[version], self.labels.index(label))
        self.told.known = {**self.told.known, version: label}

    def ours(self) -> dict[Version, set[str]]:
        found = signatures(self.knowledge)
        return {v: {self.labels[value] for value in found[self.number[v]]} for v in self.told.returned}


def check(history: Both) -> dict[Version, set[str]]:
    plain = enumerated(history.told)
    assert history.ours() == plain, "the exact test"
    assert Solved(history.told).possible(len(history.labels)) == plain, "the attacker's solver"
    return plain


def texts(found: Mapping[Version, set[str]]) -> dict[Version, str]:
    return {version: "".join(sorted(labels)) for version, labels in found.items()}


# ------------------------------------------------------------------------------------------------- the fixtures


@pytest.mark.parametrize(
    ("floors", "unreturned", "expected"),
    [({}, 0, "AB AB AB ABC"), ("ABC", 0, "AB AB AB C"), ("ABC", 1, "AB AB AB ABC")],
)
def test_that_a_label_occurs_tells_who_has_it_unless_others_may(floors, unreturned, expected) -> None:
    people = [(n, 0) for n in range(1, 5 + unreturned)]
    history = Both("ABC", "", dict.fromkeys(floors, 1), people)
    for who, values in (((1, 2), "AABB"), ((3, 4), "AABBC"), ((1, 3), "AABB")):
        history.answer([(n, 0) for n in who], values)
    assert [texts(check(history))[n, 0] for n in range(1, 5)] == expected.split()


@pytest.mark.parametrize("merged", ["", "o"])
def test_changes_that_are_known_leave_one_value(merged: str) -> None:
    history = Both(LABELS, merged)
    x, y = 1, 2
    history.answer([(x, 0), (y, 0)], "CCAo")
    history.change((x, 0))
    history.answer([(x, 1), (y, 0)], "oCCB")
    history.change((y, 0))
    history.answer([(x, 1), (y, 1)], "AACoo")
    history.change((x, 1))
    history.answer([(x, 2), (y, 1)], "CCAA")
    expected = {(x, 0): "ACo", (x, 1): "Co", (x, 2): "AC", (y, 0): "Co", (y, 1): "A"}
    assert texts(check(history)) == expected
    worlds = sum(
        history.told.fits(dict(zip(expected, labels, strict=True)))
        for labels in itertools.product(LABELS, repeat=5)
    )
    assert worlds == (9 if merged else 7)


def test_without_the_changes_everybody_keeps_two() -> None:
    history = Both(LABELS)
    for who, values in (("ab", "CCAo"), ("cb", "oCCB"), ("cd", "AACoo"), ("ed", "CCAA")):
        history.answer([(ord(one), 0) for one in who], values)
    assert min(map(len, check(history).values())) == 2


def test_an_update_that_changes_nothing_must_not_be_a_new_version() -> None:
    history = Both("ABC")
    history.answer([(1, 0)], "AB")
    history.answer([(1, 0)], "BC")
    assert texts(check(history)) == {(1, 0): "B"}


@pytest.mark.parametrize("known", [False, True])
def test_one_known_person_betrays_two_others(known: bool) -> None:
    history = Both("ABC")
    people = {(i, j): (3 * i + j, 0) for i in range(3) for j in range(3)}
    lines = [[(i, j) for j in range(3)] for i in range(3)]
    lines += [[(i, j) for i in range(3)] for j in range(3)]
    lines += [[(i, (i + d) % 3) for i in range(3)] for d in range(3)]
    if known:
        history.know(people[0, 0], "A")
    for line in lines:
        history.answer([people[place] for place in line], "ABC")
    found = texts(check(history))
    if known:
        others = {p for p in people if p not in ((0, 0), (1, 2), (2, 1))}
        assert {found[people[p]] for p in others} == {"BC"}
        assert found[people[1, 2]] == found[people[2, 1]] == "A"
    else:
        assert set(found.values()) == {"ABC"}


def test_a_change_between_merged_labels_is_one() -> None:
    history = Both(LABELS, "o")
    history.answer([(1, 0)], "ABo")
    history.change((1, 0))
    history.answer([(1, 1)], "o")
    assert texts(check(history))[1, 0] == "ABo"
    plain = Both(LABELS)
    plain.answer([(1, 0)], "ABo")
    plain.change((1, 0))
    plain.answer([(1, 1)], "o")
    assert texts(check(plain))[1, 0] == "AB"


# -------------------------------------------------------------------------------------------- random histories


@st.composite
def histories(draw: st.DrawFn, floors: bool, nested: bool = False) -> Both:
    """Up to five people with chains of up to four versions, some founders, some known."""
    labels = LABELS[: draw(st.integers(2, 4))]
    merged = draw(st.sampled_from(["", labels[-1]]))
    people = draw(st.integers(2, 4 if floors else 5))
    value = {n: draw(st.sampled_from(labels)) for n in range(people)}
    founders = [(n, 0) for n in range(people) if floors and draw(st.integers(0, 3))]
    held = Counter(value[n] for n, _ in founders)
    low = {label: draw(st.integers(0, held[label])) for label in labels if held[label]}
    history = Both(labels, merged, low if any(low.values()) else {}, founders)
    version = dict.fromkeys(range(people), 0)
    if draw(st.booleans()):
        history.know((0, 0), value[0])
    sets: list[list[int]] = []
    for _ in range(draw(st.integers(1, 5))):
        if not nested and draw(st.integers(0, 2)) == 0:
            n = draw(st.integers(0, people - 1))
            new = draw(st.sampled_from([one for one in labels if one != value[n] or one in merged] or ["-"]))
            if version[n] < 3 and new != "-" and (n or not history.told.known):
                history.change((n, version[n]))
                version[n] += 1
                value[n] = new
            continue
        who = draw(st.lists(st.integers(0, people - 1), min_size=1, unique=True))
        if nested and any(set(who) & set(s) and not (set(who) <= set(s) or set(s) <= set(who)) for s in sets):
            continue
        sets.append(who)
        extra = draw(st.lists(st.sampled_from(labels), max_size=3))
        history.answer([(n, version[n]) for n in who], "".join([value[n] for n in who] + extra))
    return history


@pytest.mark.parametrize("floors", [False, True])
@settings(max_examples=60)
@given(data=st.data())
def test_signatures_are_those_of_all_worlds(floors: bool, data: st.DataObject) -> None:
    history = data.draw(histories(floors))
    if history.told.answers:
        check(history)


@settings(max_examples=25)
@given(data=st.data())
def test_both_solvers_agree_where_answers_are_nested_and_labels_have_floors(data: st.DataObject) -> None:
    history = data.draw(histories(True, nested=True))
    plain = enumerated(history.told)
    for version, labels in plain.items():
        question = problem(history.knowledge, history.number[version])
        kind = int(history.knowledge.view.kind[history.number[version]])
        for pair, (owner, value) in enumerate(zip(question.kinds, question.values, strict=True)):
            if owner == kind:
                found = isinstance(Highs(question).ask([pair], {}), FeasibleAssignment)
                assert found == (history.labels[value] in labels)


def test_a_certificate_needs_the_holders_of_a_floor() -> None:
    history = Both("AB", "", {"B": 1}, [(1, 0), (2, 0)])
    history.answer([(1, 0), (2, 0)], "AABB")
    good = np.array([[0, 1], [1, 0]], dtype=np.int32)
    certify(history.knowledge, good, 2)
    with pytest.raises(VerificationError, match="too few holders"):
        certify(history.knowledge, np.array([[0, 0], [1, 1]], dtype=np.int32), 2)


# ------------------------------------------------------------------------------------------------------ the gate


class Watched:
    """A gate, and all that an attacker notes who knows everything but true values and coins."""

    def __init__(
        self,
        chance: Random,
        people: int,
        k: int,
        labels: Sequence[str] = LABELS,
        floors: int = 0,
        known: int = 0,
        **pool: object,
    ) -> None:
        self.chance, self.k, self.labels = chance, k, labels
        self.value = {n: chance.choice(labels) for n in range(people)}
        self.version = dict.fromkeys(self.value, 0)
        low: dict[str, int] = {}
        if floors:
            held = Counter(self.value.values())
            low = {label: floors for label in labels if held[label] >= floors and label != labels[-1]}
        founders = dict(self.value) if low else {}
        domain = LabelDomain(tuple(labels), frozenset(labels[-1:]), low)
        self.told = Told(list(labels), domain.merged, [], frozenset((n, 0) for n in founders), low, {})
        self.known = range(known)
        self.decision = Veiled(Surplus(share=0.0, least=0, spread=0.5), Coins(Random(chance.random())))
        self.gate = Gate(
            Population({}, labels),
            k,
            PublicPool(**pool),
            decision=self.decision,
            domain=domain,
            founders=founders,
            known=self.known,
            seed=chance.getrandbits(60),
        )
        for n, label in self.value.items():
            self._put(n, label)

    def _put(self, n: int, label: str) -> None:
        self.gate.update(n, label)
        if n in self.known:
            self.told.known = {**self.told.known, (n, self.version[n]): label}

    def change(self, n: int) -> None:
        self.value[n] = self.chance.choice([one for one in self.labels if one != self.value[n]])
        if self.gate.last_label(n) is not None:
            self.version[n] += 1
        self._put(n, self.value[n])

    def insert(self) -> None:
        n = len(self.value)
        self.value[n], self.version[n] = self.chance.choice(self.labels), 0
        self._put(n, self.value[n])

    def ask(self, people: Sequence[int]) -> None:
        answer = self.gate.ask(people)
        values = Counter(answer.blocks[0].values)  # type: ignore[union-attr]
        assert not Counter(self.value[n] for n in people) - values, "everybody's value is in it"
        self.told.answers.append((tuple((n, self.version[n]) for n in people), values))

    def left(self) -> Iterator[int]:
        for version, labels in enumerated(self.told).items():
            if version not in self.told.known:
                yield len(labels)


@pytest.mark.parametrize("floors", [0, 1, 2])
@pytest.mark.parametrize("steps", [0, 100], ids=["growth alone", "searching"])
def test_everybody_keeps_k_values_for_whoever_knows_changes_floors_and_some_values(
    floors: int, steps: int
) -> None:
    chance, asked = Random(f"{floors} {steps}"), 0
    for run in range(30):
        k = chance.choice([2, 3])
        people = chance.randint(3, 6) if not floors else 4 * floors + chance.randint(0, 2)
        known = 1 if run % 3 == 0 else 0
        try:
            one = Watched(chance, people, k, floors=floors, known=known, steps=steps)
        except GuaranteeError:
            continue  # too few people for what the list tells
        for _ in range(7):
            what = chance.random()
            if what < 0.3:
                one.change(chance.randrange(known, len(one.value)))
            elif what < 0.4 and not floors:
                one.insert()
            else:
                size = chance.randint(1, min(4, len(one.value)))
                one.ask(chance.sample(sorted(one.value), size))
                asked += 1
        assert min(one.left(), default=k) >= k, f"run {run}"
    assert asked > 40
