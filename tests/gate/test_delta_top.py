"""The matching table: as its plain twin, with every entry proven, and bounded."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tarnkappe.errors import GuaranteeError, ParameterError
from tarnkappe.gate import CloneMatching, Gate, Knowledge, MaxAnonymity, MaxEdges, Population, SimpleMatching
from tarnkappe.gate.delta_top.strategy import DeltaTop
from tarnkappe_bench import plain_extension
from tarnkappe_bench.plain_delta_top import PlainDeltaTop
from tests.gate import twin

TWINS = {
    MaxEdges: plain_extension.max_edges,
    MaxAnonymity: plain_extension.max_anonymity,
    SimpleMatching: plain_extension.simple_matching,
    CloneMatching: plain_extension.clone_matching,
}
FOUR = pytest.mark.parametrize("kind", list(TWINS), ids=lambda kind: kind.name)


def spelled(rows: dict[int, dict[int, list[tuple[int, ...]]]]) -> list[dict[int, list[tuple[int, ...]]]]:
    return [rows[t] for t in range(len(rows))]


def plain_rows(plain: PlainDeltaTop) -> list[dict[int, list[tuple[int, ...]]]]:
    return [{v: [tuple(sorted(p)) for p in row[v]] for v in sorted(row)} for row in plain.table.rows]


def check_against_twin(kind: type[DeltaTop], seed: int) -> tuple[int, int, int]:
    """One random sequence; how many answers, refusals, and answers with artificial values."""
    rng = np.random.default_rng(seed)
    people, values, k = int(rng.integers(4, 30)), int(rng.integers(2, 7)), int(rng.integers(1, 4))
    may_add, most = bool(rng.random() < 0.7), int(rng.integers(1, 9))
    truth = {t: int(v) for t, v in enumerate(rng.integers(0, values, people))}
    knowledge, strategy = Knowledge(values), kind(most)
    strategy.begin(knowledge, k)
    plain = PlainDeltaTop(k, values, TWINS[kind], most)
    number: dict[int, int] = {}
    seen = Counter()
    for _ in range(7):
        query = rng.choice(people, rng.integers(1, min(people, 12)), replace=False).tolist()
        known = len(number)
        for person in query:
            number.setdefault(person, len(number))
        members = np.array([number[person] for person in query], dtype=np.int32)
        values_so_far = [truth[person] for person in number]
        proposal = strategy.propose(members, np.array(values_so_far, dtype=np.int32), may_add)
        added = plain.answer(members.tolist(), values_so_far, may_add)
        assert (proposal is None) == (added is None)
        if proposal is None or added is None:
            seen["refused"] += 1
            for person in list(number)[known:]:
                del number[person]
        else:
            part = proposal.parts[0]
            real = np.bincount([truth[person] for person in query], minlength=values)
            assert (part.counts - real).tolist() == [added[v] for v in range(values)]
            knowledge.publish(part.members, part.counts)
            strategy.accept()
            seen["answered"] += 1
            seen["added"] += bool(added)
        assert spelled(strategy._table.rows()) == plain_rows(plain)
        check_invariants(strategy)
        assert (strategy.proven_degrees() == strategy.degrees()).all(), "an entry has no distribution"
    return seen["answered"], seen["refused"], seen["added"]


def check_invariants(strategy: DeltaTop) -> None:
    """Whoever takes gives (I1); partners have the value that is taken, which is not the own one (I2)."""
    rows, truth = strategy._table.rows(), strategy._table.arrays.truth
    for t, row in rows.items():
        assert strategy.degrees()[t] == 1 + len(row)
        for value, edges in row.items():
            assert value != truth[t]
            assert len(set(edges)) == len(edges)
            for partners in edges:
                assert all(truth[u] == value for u in partners)
                assert all(any(t in back for back in rows[u].get(truth[t], [])) for u in partners)


@FOUR
def test_the_compiled_table_is_the_plain_one_with_every_entry_proven(kind: type[DeltaTop]) -> None:
    seen = np.sum([check_against_twin(kind, seed) for seed in range(60)], axis=0)
    assert (seen > 0).all(), "the runs must answer, refuse and add"


@pytest.mark.slow
@FOUR
@pytest.mark.parametrize("block", range(4))
def test_the_compiled_table_is_the_plain_one_many_times(kind: type[DeltaTop], block: int) -> None:
    for seed in range(1500):
        check_against_twin(kind, 10**5 * (block + 1) + seed)


def history(kind: type[DeltaTop] = CloneMatching) -> Gate:
    rng = np.random.default_rng(5)
    gate = Gate(Population({i: "ABCDE"[v] for i, v in enumerate(rng.integers(0, 5, 30))}, "ABCDE"), 3, kind())
    for _ in range(8):
        gate.ask(rng.choice(30, 8, replace=False).tolist())
    return gate


def restored(gate: Gate, state: dict[str, np.ndarray]) -> DeltaTop:
    other = CloneMatching()
    other.begin(Knowledge(gate.knowledge.values), gate.k)
    other.knowledge = gate.knowledge
    other.restore(gate.truth, state)
    return other


def test_a_restored_table_is_the_same_and_decides_the_same() -> None:
    gate = history()
    other = restored(gate, gate.strategy.state())
    assert other._table.rows() == gate.strategy._table.rows()
    members = np.array([0, 5, 9, 3], dtype=np.int32)
    one, two = gate.strategy.propose(members, gate.truth, True), other.propose(members, gate.truth, True)
    assert one is not None
    assert two is not None
    assert one.parts[0].counts.tolist() == two.parts[0].counts.tolist()


def test_a_table_that_claims_too_much_proves_nothing() -> None:
    """Whoever edits the stored state cannot make the gate believe in a value that nobody can have."""
    gate = history()
    state = gate.strategy.state()
    forged = {name: column.copy() for name, column in state.items()}
    forged["length"][:] = 0
    forged["partner"] = forged["partner"][:0]
    with pytest.raises(GuaranteeError, match="does not prove"):
        restored(gate, forged)
    for name in ("owner", "value"):
        broken = {key: column.copy() for key, column in state.items()}
        broken[name][0] = 10**6
        with pytest.raises(GuaranteeError, match="does not belong"):
            restored(gate, broken)


def test_answers_of_another_strategy_are_followed_as_far_as_they_are_clear() -> None:
    """A history with surplus values, or of another strategy, is taken over with what was published."""
    clear = unclear = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        results, truth = twin.random_history(rng, 8, 4, 4, 0.8)
        knowledge, strategy = Knowledge(4), CloneMatching()
        strategy.begin(knowledge, 2)
        try:
            for members, values in results:
                knowledge.publish(list(members), np.bincount(values, minlength=4))
                strategy.follow(truth[: knowledge.tuples])
                brute = twin.signatures(twin.published(knowledge))
                assert all(2 <= strategy.degrees()[t] <= len(brute[t]) for t in brute)
            clear += 1
        except GuaranteeError:
            unclear += 1
    assert clear
    assert unclear


def test_at_least_these_values() -> None:
    """`complete`: surplus values are used, and only what is lacking is added."""
    gate = Gate(Population({1: "A", 2: "B", 3: "C", 4: "D"}, "ABCD"), 3, CloneMatching())
    gate.ask([1, 2, 3])
    members, truth = np.array([0, 1, 3], dtype=np.int32), np.array([0, 1, 2, 3], dtype=np.int32)
    for given, may_add, total in (([0, 0, 1, 0], True, 5), ([2, 0, 1, 0], True, 6), ([0, 1, 1, 0], False, 5)):
        counts = np.array([1, 1, 0, 1], dtype=np.int32) + np.array(given, dtype=np.int32)
        proposal = gate.strategy.complete(members, truth, counts, may_add)
        assert proposal is not None
        assert (proposal.parts[0].counts >= counts).all()
        assert proposal.parts[0].counts.sum() == total
        gate.strategy.reject()
    assert gate.strategy.complete(members, truth, np.array([1, 1, 0, 1], dtype=np.int32), False) is None


def test_room_is_made_when_it_runs_out() -> None:
    rng = np.random.default_rng(0)
    labels = [f"v{v}" for v in range(40)]
    gate = Gate(
        Population({i: labels[v] for i, v in enumerate(rng.integers(0, 40, 300))}, labels), 4, CloneMatching()
    )
    for _ in range(12):
        gate.ask(rng.choice(300, 50, replace=False).tolist())
    assert (gate.strategy.proven_degrees() == gate.strategy.degrees()).all()
    assert gate.strategy.degrees().min() >= 4


def test_alternatives_must_be_positive() -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        CloneMatching(0).begin(Knowledge(2), 2)
