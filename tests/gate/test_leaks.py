"""The attacks that count with the gate's decisions: they work against the naive gate and fail against ours.

The attacker knows the quasi-identifiers of everybody, the program and the policy, and sees every answer and every
refusal. `informed` plays him exactly, by running the gate in every possible table.
"""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.gate import Exact, Gate, LabelDomain, PublicPool, Strategy
from tarnkappe.gate.decision import AsFewAsPossible, DecisionRule, RefuseWhatBreaks
from tarnkappe.gate.partition import DivideOnly
from tarnkappe.gate.policy_columns import Surplus
from tarnkappe.gate.surplus import Coins, Veiled
from tests.gate import twin
from tests.gate.informed import (
    Noted,
    Transcript,
    World,
    could_have_said,
    fits,
    kept,
    left_by,
    population,
    said_by,
    worlds,
)

VALUES = ("A", "B", "C", "D")
DEFAULT = Surplus()
RAREST = (
    {"Alina": "A", "Bill": "A", "Clive": "B", "Doris": "C", "Emily": "B", "Frank": "B", "Gill": "D"},
    [("Alina", "Clive", "Doris"), ("Alina", "Bill", "Emily", "Frank", "Gill")],
    3,
)
DUPLICATE = (
    {"Alina": "A", "Bill": "A", "Clive": "B", "Doris": "C", "Emily": "D"},
    [("Alina", "Bill", "Clive", "Doris", "Emily"), ("Alina", "Bill")],
    2,
)
TESTING = (
    {"Alina": "A", "Clive": "B", "Doris": "C", "Emily": "D"},
    [
        ("Alina", "Clive", "Doris"),
        ("Alina", "Clive", "Emily"),
        ("Alina", "Doris", "Emily"),
        ("Clive", "Doris", "Emily"),
    ],
    3,
)
ATTACKS = {
    "F5.2 rarest value": RAREST,
    "F5.3 duplicate values": DUPLICATE,
    "F5.4 testing for values": TESTING,
}


def gate_with(decision: DecisionRule, world: World, k: int, strategy: type[Strategy] = Exact) -> Gate:
    return Gate(population(world, VALUES), k, strategy(), decision=decision)


def naive(
    world: World, queries: list, k: int, decision: type[DecisionRule]
) -> tuple[Transcript, list[World]]:
    """What the naive gate says, and the tables that are left to somebody who knows how it works."""
    transcript = said_by(gate_with(decision(), world, k), queries)
    people = [person for person in world if any(person in query for query in queries)]
    candidates = (other for other in worlds(people, VALUES) if fits(other, transcript))
    return transcript, left_by(transcript, candidates, lambda other: gate_with(decision(), other, k))


def veiled(surplus: Surplus, world: World, k: int, coins: Coins, steps: int = 60) -> Gate:
    """A gate by the rule of the surplus, with a public list."""
    pool, domain = PublicPool(steps=steps), LabelDomain(VALUES)
    return Gate(population(world, VALUES), k, pool, decision=Veiled(surplus, coins), domain=domain, seed=5)


def check_nothing_leaks(
    world: World,
    queries: list,
    k: int,
    coins: Noted,
    surplus: Surplus = DEFAULT,
    most: int | None = None,
    steps: int = 60,
) -> int:
    """In every table that fits the results, the gate could have said the same, at once and with the same pool; and
    everybody keeps k values.
    """
    gate = veiled(surplus, world, k, coins, steps)
    transcript, pools = [], []
    for query in queries:
        transcript += said_by(gate, [query])
        pools.append(gate.strategy.values.copy())  # type: ignore[attr-defined]
    people = [person for person in world if any(person in query for query in queries)]
    fitting = [other for other in worlds(people, VALUES) if fits(other, transcript)]
    if most is not None and len(fitting) > most:
        fitting = Random(0).sample(fitting, most)
    for other in fitting:
        assert could_have_said(
            other,
            transcript,
            coins.searched,
            pools,
            VALUES,
            lambda w, c: veiled(surplus, w, k, c, steps),
        ), "a decision tells that this table is not the true one"
    if most is None:
        signatures = twin.signatures(
            [([people.index(p) for p in q], [VALUES.index(v) for v in said or ()]) for q, said in transcript]
        )
        left = kept(fitting, people)
        assert all(left[p] == {VALUES[v] for v in signatures[i]} for i, p in enumerate(people))
        assert min(map(len, left.values())) >= k
    return len(fitting)


# ------------------------------------------------------------------------------------------ the attacks work


def test_rarest_value_against_few_values() -> None:
    """F5.2: whoever knows that values are added only where needed tells the artificial one."""
    world, queries, k = RAREST
    transcript = said_by(gate_with(AsFewAsPossible(), world, k), queries)
    assert [said for _, said in transcript] == [("A", "B", "C"), ("A", "A", "B", "B", "C", "D")]
    fitting = [w for w in worlds(list(RAREST[0]), VALUES) if fits(w, transcript)]
    assert kept(fitting, ["Alina"])["Alina"] == {"A", "B", "C"}, "the model sees nothing wrong"
    with_c = (w for w in fitting if w["Alina"] == "C")
    assert not left_by(transcript, with_c, lambda w: gate_with(AsFewAsPossible(), w, k)), (
        "A or B: fewer than k = 3"
    )


@pytest.mark.parametrize("decision", [AsFewAsPossible, RefuseWhatBreaks])
def test_duplicate_values_against_few_values_and_against_refusals(decision: type[DecisionRule]) -> None:
    """F5.3: Alina and Bill have the same value, and only A is there twice."""
    transcript, left = naive(*DUPLICATE, decision)
    assert (transcript[1][1] is None) == (decision is RefuseWhatBreaks)
    assert kept(left, ["Alina", "Bill"]) == {"Alina": {"A"}, "Bill": {"A"}}


def test_testing_for_values_against_refusals() -> None:
    """F5.4: three refusals tell that Emily has none of A, B and C, and she was in no answer yet."""
    transcript, left = naive(*TESTING, RefuseWhatBreaks)
    assert [said is None for _, said in transcript] == [False, True, True, True]
    assert kept(left, ["Emily"])["Emily"] == {"D"}


# ------------------------------------------------------------------------------------------ they fail by default


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("seed", [1, 2])
def test_surplus_values_leave_every_possible_table_possible(attack: str, seed: int) -> None:
    world, queries, k = ATTACKS[attack]
    assert check_nothing_leaks(world, queries, k, Noted(Random(seed)), most=60) > 5


def test_with_surplus_values_everybody_keeps_k_values_for_whoever_knows_the_program() -> None:
    """All tables, none left out: what is left to the informed attacker is exactly what the model says."""
    world, queries, k = DUPLICATE
    small = Surplus(share=0.0, least=1)
    assert check_nothing_leaks(world, queries, k, Noted(Random(3)), small) > 20


@settings(max_examples=10)
@given(data=st.data())
def test_no_decision_of_the_veiled_gate_excludes_a_table(data: st.DataObject) -> None:
    people = ["P", "Q", "R", "S"][: data.draw(st.integers(2, 4))]
    world = {person: data.draw(st.sampled_from(VALUES)) for person in people}
    query = st.lists(st.sampled_from(people), min_size=1, max_size=4, unique=True).map(tuple)
    queries = data.draw(st.lists(query, min_size=1, max_size=3))
    surplus = Surplus(share=0.25, least=data.draw(st.integers(0, 2)), spread=0.5)
    coins = Noted(Random(data.draw(st.integers(0, 99))))
    queries = list({frozenset(query): query for query in queries}.values())
    check_nothing_leaks(world, queries, 2, coins, surplus, 15, data.draw(st.sampled_from([0, 60])))


def test_an_answer_that_grew_leaves_every_possible_table_possible() -> None:
    """Without any search the values of whole worlds are put in; nobody can tell, and in other tables the same
    answer is drawn at once.
    """
    world, queries, k = DUPLICATE
    small = Surplus(share=0.0, least=1)
    for seed in range(6):
        coins = Noted(Random(seed))
        gate = veiled(small, world, k, Coins(Random(seed)), 0)
        said_by(gate, queries)
        if gate.decision.grown:  # type: ignore[attr-defined]
            assert check_nothing_leaks(world, queries, k, coins, small, 40, steps=0) > 20
            return
    pytest.fail("no answer grew")


def test_the_size_of_an_answer_is_the_same_in_every_table() -> None:
    _, queries, k = DUPLICATE
    sizes = set()
    for world in itertools.islice(worlds(list(DUPLICATE[0]), VALUES), 0, None, 37):
        gate = veiled(DEFAULT, world, k, Coins(Random(7)))
        sizes.add(tuple(len(said or ()) for _, said in said_by(gate, queries[:1])))
    assert len(sizes) == 1


def test_the_difference_of_two_answers_tells_nobodys_value() -> None:
    """F2.8: everybody of 24, and the women of 24. The difference of the true sums is what Frank earns."""
    world = {"Emily": "2200", "Frank": "9000", "Gill": "2000"}
    queries = [("Emily", "Frank", "Gill"), ("Emily", "Gill")]
    true = [sum(int(world[person]) for person in query) for query in queries]
    assert true[0] - true[1] == 9000
    values = sorted(world.values())
    decision = Veiled(DEFAULT, Coins(Random(1)))
    gate = Gate(population(world, values), 3, decision=decision, domain=LabelDomain(tuple(values)))
    transcript = said_by(gate, queries)
    left = kept([w for w in worlds(list(world), values) if fits(w, transcript)], list(world))
    assert left["Frank"] == set(values), "he may earn anything"


# ------------------------------------------------------------------------------------- refusals that tell nothing


def test_a_refusal_betrays_unless_it_would_have_come_in_every_possible_table() -> None:
    """F2.9: the sum of three numbers is told, 15; their maximum is refused. An auditor who refuses exactly what would
    betray somebody betrays all three; one who refuses what would betray somebody in *some* possible table tells nothing.
    """
    possible = [w for w in itertools.product(range(16), repeat=3) if sum(w) == 15]

    def betrays(answer: int) -> bool:
        left = [w for w in possible if max(w) == answer]
        return any(len({w[place] for w in left}) == 1 for place in range(3))

    assert [w for w in possible if betrays(max(w))] == [(5, 5, 5)], (
        "whoever sees the refusal knows everything"
    )
    would_be_betrayed_somewhere = any(betrays(max(w)) for w in possible)
    assert [w for w in possible if would_be_betrayed_somewhere] == possible, "it is always refused"

    def refusals(numbers: tuple[int, ...], decision: DecisionRule) -> list[bool]:
        """The same three people before our gate: everybody, then all pairs."""
        world = dict(zip("xyz", map(str, numbers), strict=True))
        gate = Gate(
            population(world, sorted({"5", "0", "7", "8"} | set(world.values()))),
            1,
            Exact(),
            decision=decision,
        )
        return [said is None for _, said in said_by(gate, [("x", "y", "z"), ("x", "y"), ("y", "z")])]

    told = {tuple(refusals(w, DivideOnly())) for w in itertools.permutations((0, 7, 8))}
    assert len(told) == 1, "tables that the first answer leaves possible are refused alike"


def divided(world: World, queries: list, k: int) -> Transcript:
    """The whole table first, as the keeper begins."""
    return said_by(gate_with(DivideOnly(), world, k), [tuple(sorted(world)), *queries])


@pytest.mark.parametrize("attack", ["F5.3 duplicate values", "F5.4 testing for values"])
def test_simulatable_refusals_are_the_same_in_every_possible_table(attack: str) -> None:
    world, queries, k = ATTACKS[attack]
    transcript = divided(world, queries[1:] if attack.startswith("F5.3") else queries, k)
    asked = [query for query, _ in transcript]
    fitting = [w for w in worlds(sorted(world), VALUES) if fits(w, transcript)]
    left = left_by(transcript, iter(fitting), lambda w: gate_with(DivideOnly(), w, k))
    assert left == fitting, "neither an answer nor a refusal excludes a table"
    assert any(said is None for _, said in transcript), f"{asked} are not all harmless"
    assert min(map(len, kept(left, list(world)).values())) >= k


SPREAD = dict(zip("abcdefgh", "AABBCCDD", strict=True))


@settings(max_examples=8)
@given(data=st.data())
def test_a_simulatable_decision_follows_from_what_is_known(data: st.DataObject) -> None:
    k = 2
    query = st.lists(st.sampled_from(sorted(SPREAD)), min_size=1, max_size=7, unique=True).map(tuple)
    transcript = divided(SPREAD, data.draw(st.lists(query, min_size=1, max_size=4)), k)
    results = [(q, said) for q, said in transcript if said is not None]
    people = sorted(SPREAD)
    signatures = twin.signatures(
        [([people.index(p) for p in q], [VALUES.index(v) for v in said]) for q, said in results]
    )
    assert min(map(len, signatures.values())) >= k
    shuffled = [dict(SPREAD) for _ in range(3)]
    for other in shuffled:  # other tables that fit: exchange values inside the cells that the results leave
        for _ in range(12):
            one, two = data.draw(st.tuples(st.sampled_from(people), st.sampled_from(people)))
            swapped = {**other, one: other[two], two: other[one]}
            if fits(swapped, transcript):
                other.update(swapped)
        assert divided(other, [q for q, _ in transcript[1:]], k) == transcript


def test_a_query_that_divides_one_large_cell_is_answered_and_one_that_divides_two_is_not() -> None:
    world = {f"{i:02}": "ABCD"[i % 4] for i in range(40)}
    people = sorted(world)
    transcript = divided(world, [tuple(people[:20]), tuple(people[:19]), tuple(people[10:30])], 2)
    assert [said is None for _, said in transcript] == [False, False, True, True]
    again = divided(world, [tuple(people[:20]), tuple(people[20:]), tuple(people)], 2)
    assert all(said is not None for _, said in again), "what is known already can be told"


def test_the_smallest_group_that_may_be_divided_off_is_one_larger_than_the_most_frequent_values() -> None:
    """Any s of the values have k different ones exactly if s exceeds the k - 1 most frequent ones together."""
    for k in (2, 3):
        counts = sorted(Counter(SPREAD.values()).values(), reverse=True)
        most = sum(counts[: k - 1])
        for size in range(1, len(SPREAD)):
            worst = min(len(set(some)) for some in itertools.combinations(SPREAD.values(), size))
            rest = min(len(set(some)) for some in itertools.combinations(SPREAD.values(), len(SPREAD) - size))
            transcript = divided(SPREAD, [tuple(sorted(SPREAD)[:size])], k)
            assert (
                (transcript[1][1] is not None)
                == (worst >= k and rest >= k)
                == (min(size, len(SPREAD) - size) > most)
            )
