"""What every strategy must do: keep k for everybody ever returned, whatever is asked, and be reproducible.

The attacker in these tests knows all that is published, who is in which answer, and enumerates all distributions.
"""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.errors import GuaranteeError, ParameterError
from tarnkappe.gate import (
    STRATEGIES,
    Answer,
    Block,
    Gate,
    HistoryEntry,
    Knowledge,
    Population,
    Refusal,
    Strategy,
)
from tests.gate import twin

SLOW_ONES = {"ilp"}
EVERY = pytest.mark.parametrize("kind", list(STRATEGIES), ids=lambda kind: kind.name)


def runs(kind: type[Strategy], count: int) -> range:
    return range(max(3, count // 20) if kind.name in SLOW_ONES else count)


def table(rng: np.random.Generator, people: int, values: int) -> Population:
    labels = [chr(ord("A") + v) for v in range(values)]
    return Population({f"p{i}": labels[v] for i, v in enumerate(rng.integers(0, values, people))}, labels)


def queries(rng: np.random.Generator, people: int, count: int) -> list[list[str]]:
    sizes = rng.integers(1, people, count)
    return [[f"p{i}" for i in rng.choice(people, size, replace=False)] for size in sizes]


def attack(gate: Gate) -> int:
    """The smallest number of values that the attacker cannot exclude for somebody."""
    return twin.degree(twin.published(gate.knowledge))


def check_run(kind: type[Strategy], seed: int) -> tuple[int, int, int]:
    """One random sequence; returns how many queries were answered, refused, and answered with artificial values."""
    rng = np.random.default_rng(seed)
    people, values, k = int(rng.integers(3, 8)), int(rng.integers(2, 5)), int(rng.integers(1, 4))
    may_add = bool(rng.random() < 0.7)
    gate = Gate(table(rng, people, values), k, kind(), may_add=may_add, seed=seed)
    answered = refused = added = 0
    for query in queries(rng, people, 4):
        before = twin.published(gate.knowledge)
        answer = gate.ask(query)
        if isinstance(answer, Refusal):
            refused += 1
            assert twin.published(gate.knowledge) == before
            if kind.minimal:
                check_refusal(gate, query, may_add)
            continue
        answered += 1
        added += answer.artificial > 0
        assert answer.artificial == 0 or may_add
        check_answer(gate, query, answer)
        brute = twin.signatures(twin.published(gate.knowledge))
        assert min(len(signature) for signature in brute.values()) >= k, "somebody lost"
        degrees = gate.strategy.degrees()
        assert len(degrees) == gate.knowledge.tuples
        assert all(k <= degrees[t] <= len(brute[t]) for t in brute), "vouched for too much or too little"
    return answered, refused, added


def check_answer(gate: Gate, query: list[str], answer: Answer) -> None:
    """The blocks have everybody once and all real values."""
    secrets = sorted(gate.population.labels[gate.population.secret(person)] for person in query)
    assert sorted(str(person) for block in answer.blocks for person in block.people) == sorted(query)
    rest = sorted(value for block in answer.blocks for value in block.values)
    for secret in secrets:
        rest.remove(secret)
    assert len(rest) == answer.artificial
    for block in answer.blocks:
        own = [gate.population.labels[gate.population.secret(person)] for person in block.people]
        assert all(own.count(value) <= block.values.count(value) for value in own)
        assert list(block.values) == sorted(block.values), "the order of the values must tell nothing"


def check_refusal(gate: Gate, query: list[str], may_add: bool) -> None:
    """A strategy that claims to be minimal refuses only what truly cannot be answered."""
    number = {str(person): n for n, person in enumerate(gate.returned.people)}
    next_ = len(number)
    for person in query:
        if person not in number:
            number[person], next_ = next_, next_ + 1
    members = [number[person] for person in query]
    real = [gate.population.secret(person) for person in query]
    if may_add:
        assert len(gate.population.labels) < gate.k, "with enough labels everything can be answered"
    else:
        assert twin.degree([*twin.published(gate.knowledge), (members, real)]) < gate.k


@EVERY
def test_everybody_ever_returned_keeps_k_values(kind: type[Strategy]) -> None:
    seen = np.sum([check_run(kind, seed) for seed in runs(kind, 250)], axis=0)
    assert (seen > 0).all(), "the runs must answer, refuse and add"


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("block", range(8))
def test_everybody_ever_returned_keeps_k_values_in_many_runs(kind: type[Strategy], block: int) -> None:
    for seed in runs(kind, 2500):
        check_run(kind, 10**6 * (block + 1) + seed)


@EVERY
def test_the_same_seed_gives_the_same_answers(kind: type[Strategy]) -> None:
    for seed in runs(kind, 30):
        transcripts = []
        for _ in range(2):
            rng = np.random.default_rng(seed)
            gate = Gate(table(rng, 7, 4), 2, kind(), seed=seed)
            transcripts.append([gate.ask(query) for query in queries(rng, 7, 5)])
        assert transcripts[0] == transcripts[1]


@EVERY
def test_the_same_query_again_tells_nothing_new(kind: type[Strategy]) -> None:
    """An attacker who repeats a query, or asks for it in another order, gets nothing out of it."""
    for seed in runs(kind, 30):
        rng = np.random.default_rng(seed)
        gate = Gate(table(rng, 6, 4), 2, kind(), seed=seed)
        query = queries(rng, 6, 1)[0]
        for _ in range(3):
            if isinstance(gate.ask(query), Answer):
                assert attack(gate) >= 2
            rng.shuffle(query)


@EVERY
def test_a_refused_query_leaves_no_trace(kind: type[Strategy]) -> None:
    """With or without the refused query, everything after it is the same."""
    met = 0
    for seed in runs(kind, 60):
        rng = np.random.default_rng(seed)
        population, asked = table(rng, 6, 4), queries(rng, 6, 5)
        gate = Gate(population, 3, kind(), may_add=False, seed=seed)
        answers = [gate.ask(query) for query in asked]
        again = Gate(population, 3, kind(), may_add=False, seed=seed)
        kept = [again.ask(q) for q, a in zip(asked, answers, strict=True) if isinstance(a, Answer)]
        assert kept == [answer for answer in answers if isinstance(answer, Answer)]
        met += len(kept) < len(answers)
    assert met, "some runs must meet a refusal"


@EVERY
def test_an_answer_that_cannot_be_recorded_never_happened(kind: type[Strategy]) -> None:
    """The disk is full when the answer is to be written: nothing was published, and the gate goes on."""

    class DiskFullError(Exception):
        pass

    full = [False]

    def record(entry: HistoryEntry, strategy: Strategy) -> None:
        if full[0]:
            raise DiskFullError

    rng = np.random.default_rng(3)
    population, asked = table(rng, 6, 4), queries(rng, 6, 3)
    gate = Gate(population, 2, kind(), record=record)
    undisturbed = Gate(population, 2, kind())
    for query in asked:
        full[0] = True
        before = twin.published(gate.knowledge), gate.degrees()
        with pytest.raises(DiskFullError):
            gate.ask(query)
        assert (twin.published(gate.knowledge), gate.degrees()) == before
        full[0] = False
        assert gate.ask(query) == undisturbed.ask(query)


@EVERY
def test_a_gate_goes_on_after_a_restart(kind: type[Strategy]) -> None:
    for seed in runs(kind, 20):
        rng = np.random.default_rng(seed)
        population, asked = table(rng, 7, 4), queries(rng, 7, 6)
        entries: list[HistoryEntry] = []
        states: list[dict[str, np.ndarray]] = [{}]

        def record(
            entry: HistoryEntry,
            strategy: Strategy,
            entries: list[HistoryEntry] = entries,
            states: list[dict[str, np.ndarray]] = states,
        ) -> None:
            entries.append(entry)
            states.append(strategy.state())

        gate = Gate(population, 2, kind(), seed=seed, record=record)
        for query in asked[:4]:
            gate.ask(query)
        other = Gate(population, 2, kind(), seed=seed)
        other.resume(entries, states[-1] if seed % 2 else None)
        assert twin.published(other.knowledge) == twin.published(gate.knowledge)
        assert (other.truth == gate.truth).all()
        for query in asked[4:]:
            if isinstance(other.ask(query), Answer):
                assert attack(other) >= 2
        with pytest.raises(ParameterError, match="only a new gate"):
            other.resume(entries)


@EVERY
def test_a_history_that_lost_somebody_is_not_taken_over(kind: type[Strategy]) -> None:
    gate = Gate(Population({"a": "A", "b": "B", "c": "A"}, "ABC"), 2, kind())
    with pytest.raises(GuaranteeError):
        gate.resume([HistoryEntry((("a", "A"), ("c", "A")), (Block(("a", "c"), ("A", "A")),))])


@EVERY
def test_surplus_values_do_no_harm(kind: type[Strategy]) -> None:
    """Whoever publishes more artificial values than proposed, to hide how many were needed, loses nothing."""
    if not kind.takes_surplus:
        pytest.skip("this strategy publishes exactly what it proposes")
    for seed in runs(kind, 20):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 4, 6).astype(np.int32)
        knowledge, strategy = Knowledge(4), kind()
        strategy.begin(knowledge, 2, seed)
        persons: list[int] = []
        for _ in range(3):
            asked = rng.choice(6, 3, replace=False).tolist()
            known = len(persons)
            persons += [person for person in asked if person not in persons]
            who = np.array([persons.index(person) for person in asked], dtype=np.int32)
            proposal = strategy.propose(who, truth[persons], may_add=True)
            assert proposal is not None
            if proposal.order is not None:
                persons[known:] = [persons[number] for number in proposal.order]
            for part in proposal.parts:
                surplus = rng.integers(0, 2, 4).astype(np.int32)
                knowledge.publish(part.members, part.counts + surplus)
            strategy.accept()
            brute = twin.signatures(twin.published(knowledge))
            assert all(2 <= strategy.degrees()[t] <= len(brute[t]) for t in brute)


@EVERY
def test_deleted_and_changed_people_stay_protected(kind: type[Strategy]) -> None:
    for seed in runs(kind, 30):
        rng = np.random.default_rng(seed)
        gate = Gate(table(rng, 7, 4), 2, kind(), seed=seed)
        asked = queries(rng, 7, 5)
        gate.ask(asked[0])
        returned = gate.knowledge.tuples
        gate.delete(asked[0][0])
        with pytest.raises(ParameterError, match="not in the protected table"):
            gate.ask([asked[0][0]])
        gate.update(asked[0][0], "E")  # comes back, with a value nobody had before
        for query in asked:
            if isinstance(gate.ask(query), Answer):
                assert attack(gate) >= 2
        assert gate.knowledge.tuples >= returned, "nobody who was returned is forgotten"


@EVERY
def test_impossible_parameters_are_refused(kind: type[Strategy]) -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        kind().begin(Knowledge(2), 0)
    with pytest.raises(ParameterError, match="empty history"):
        kind().begin(twin.knowledge_of([([0, 1], [0, 1])], 2), 2)


@EVERY
def test_more_than_there_are_values_cannot_be_promised(kind: type[Strategy]) -> None:
    gate = Gate(Population({"a": "A", "b": "B", "c": "A"}), 3, kind())
    assert isinstance(gate.ask(["a", "b", "c"]), Refusal)
