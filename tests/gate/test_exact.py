"""The exact tests: against enumeration, against each other, on hard instances, and in artificial mode."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.gate import Knowledge
from tarnkappe.gate.exact_test import ContradictionError, any_distribution, settle, signatures
from tarnkappe.gate.highs import Highs
from tarnkappe.gate.integer_program import is_k_assign_anonymous, signatures_by_program
from tarnkappe.gate.minimum_cover import LeastCover, SolverBudget
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.problem import problem
from tarnkappe.gate.solver import FeasibleAssignment, Impossible, Unknown, solver
from tests.gate import twin
from tests.gate.hard_instances import SATISFIABLE, UNSATISFIABLE, from_formula, with_a_truth

SEEDS = st.integers(0, 2**32 - 1)


def check_sequence(seed: int) -> None:
    """All prefixes of a random sequence: the incremental exact test, with proofs kept, equals enumeration."""
    rng = np.random.default_rng(seed)
    tuples, values = int(rng.integers(2, 8)), int(rng.integers(2, 5))
    history, truth = twin.random_history(rng, tuples, values, int(rng.integers(1, 5)), 0.3)
    knowledge = Knowledge(values)
    pool = Pool(knowledge, seed=seed % 1000)
    before: dict[int, set[int]] = {}
    for count, (members, given_) in enumerate(history, start=1):
        knowledge.publish(members, np.bincount(given_, minlength=values))
        pool = pool.carried(truth[: knowledge.tuples], values, 20)
        assert settle(pool)
        brute = twin.signatures(history[:count])
        shown = pool.shown[knowledge.view.kind] > 0
        for tuple_ in range(knowledge.tuples):
            signature = set(np.flatnonzero(shown[tuple_]).tolist())
            assert signature == brute[tuple_]
            assert truth[tuple_] in signature
            assert signature <= before.get(tuple_, signature), "a signature never grows"
        pool.trim(values)
        assert ((pool.shown[knowledge.view.kind] > 0) == shown).all(), "trimming loses nothing"
        before = brute


@pytest.mark.parametrize("block", range(10))
def test_random_sequences_agree_with_enumeration(block: int) -> None:
    for seed in range(300 * block, 300 * (block + 1)):
        check_sequence(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_many_random_sequences_agree_with_enumeration(block: int) -> None:
    for seed in range(10**6 + 2500 * block, 10**6 + 2500 * (block + 1)):
        check_sequence(seed)


@given(SEEDS, st.integers(1, 4))
@settings(max_examples=60)
def test_the_program_of_the_theory_agrees_with_enumeration(seed: int, k: int) -> None:
    history, truth = twin.random_history(np.random.default_rng(seed), 5, 3, 3, 0.3)
    knowledge = twin.knowledge_of(history, 3)
    brute = twin.signatures(history)
    assert signatures_by_program(knowledge) == [frozenset(brute[t]) for t in range(knowledge.tuples)]
    assert is_k_assign_anonymous(knowledge, k, truth) == (twin.degree(history) >= k)


@given(SEEDS)
def test_highs_answers_as_the_best_solver_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    history, _ = twin.random_history(rng, 7, 4, 4, 0.3)
    members, given_ = history[-1]
    real = np.bincount(given_, minlength=4).astype(np.int32)
    knowledge = twin.knowledge_of(history[:-1], 4)
    knowledge.publish(members, np.full(4, len(members)))
    question = problem(knowledge, members[0], is_open=True)
    targets = [p for p in range(len(question.kinds)) if question.kinds[p] == question.kinds[0]]
    targets = targets[int(rng.integers(len(targets))) :]
    published = dict(enumerate(real.tolist()))
    verdicts = [s.ask(targets, published) for s in (solver(question), Highs(question))]
    assert isinstance(verdicts[0], FeasibleAssignment) == isinstance(verdicts[1], FeasibleAssignment)
    for verdict in verdicts:
        if isinstance(verdict, FeasibleAssignment):
            assert sum(verdict.counts[p] for p in targets) >= 1
            for row in question.rows:
                total = sum(verdict.counts[p] for p in row.pairs)
                limit = row.limit if row.label is None else published[row.label]
                assert total == limit if row.exact else total <= limit
        else:
            assert isinstance(verdict, Impossible)
            only = {label: published[label] for label in verdict.labels}
            assert isinstance(Highs(question).ask(targets, only), Impossible), "the reason suffices"
            smaller = solver(question).reason(targets, verdict, published, None)
            assert smaller.labels <= verdict.labels
            for label in smaller.labels:
                rest = {other: published[other] for other in smaller.labels - {label}}
                assert isinstance(solver(question).ask(targets, rest), FeasibleAssignment), (
                    "no label of a reason is idle"
                )


def test_a_solver_that_gives_up_says_neither_yes_nor_no() -> None:
    results, literals = from_formula(
        [(a * 1, b * 2, c * 3) for a, b, c in itertools.product((1, -1), repeat=3)]
    )
    knowledge = twin.knowledge_of(results, 2)
    question = problem(knowledge, literals[1])
    verdict = solver(question).ask(list(range(len(question.kinds))), {}, effort=0.0)
    assert isinstance(verdict, Unknown)


def test_a_satisfiable_formula_has_exactly_its_solutions() -> None:
    """F3.9: 9 results, 120 distributions, 42 satisfying assignments."""
    results, literals = from_formula(SATISFIABLE)
    assert len(results) == 9
    every = list(twin.distributions(results))
    assert len(every) == 120
    assignments = {tuple(d[literals[v]] for v in range(1, 7)) for d in every}
    satisfying = {
        a
        for a in itertools.product((0, 1), repeat=6)
        if all(any((a[abs(x) - 1] == 1) == (x > 0) for x in clause) for clause in SATISFIABLE)
    }
    assert assignments == satisfying
    assert len(assignments) == 42
    assert (1, 0, 0, 0, 1, 0) in assignments
    knowledge = twin.knowledge_of(results, 2)
    brute = twin.signatures(results)
    assert signatures(knowledge) == [frozenset(brute[t]) for t in range(knowledge.tuples)]


def test_an_unsatisfiable_formula_has_no_distribution() -> None:
    results, _ = from_formula(UNSATISFIABLE)
    assert not list(twin.distributions(results))
    with pytest.raises(ContradictionError):
        any_distribution(twin.knowledge_of(results, 2))


@pytest.mark.parametrize(("formula", "possible"), [(SATISFIABLE, True), (UNSATISFIABLE, False)])
def test_a_formula_hides_in_the_signature_of_one_tuple_of_a_real_table(formula, possible) -> None:
    """Theorem 3.5, with as many tying results as helpers (erratum E5)."""
    results, _ = from_formula(formula)
    tuples = 1 + max(t for members, _ in results for t in members)
    real, truth, asked = with_a_truth(results, tuples)
    assert len(real) == len(results) + 2 * tuples + 1
    signature = signatures(twin.knowledge_of(real, 2), truth)[asked]
    assert signature == ({0, 1} if possible else {0})


def check_fewest(seed: int) -> None:
    """A history that keeps k, and a next answer: the least cover is what trying all multisets gives."""
    rng = np.random.default_rng(seed)
    tuples, values, k = int(rng.integers(3, 7)), int(rng.integers(2, 5)), int(rng.integers(1, 4))
    history, truth = twin.random_history(rng, tuples, values, int(rng.integers(1, 4)), 0.2)
    knowledge = Knowledge(values)
    pool = Pool(knowledge, seed % 1000)
    for count, (members, _) in enumerate(history):
        who = np.array(members, dtype=np.int32)
        known = truth[: max(knowledge.tuples, int(who.max()) + 1)]
        real = np.bincount(truth[who], minlength=values).astype(np.int32)
        before = [column.tolist() for column in knowledge.view]
        cover = LeastCover(pool, who, real, known, k, SolverBudget(steps=20)).find(may_add=True)
        assert [column.tolist() for column in knowledge.view] == before, "the search leaves no trace"
        least = twin.fewest_artificial(twin.published(knowledge), members, truth[who].tolist(), values, k)
        if cover is None:
            assert least is None
            return
        assert cover.least == cover.added.sum() == least, f"result {count} of seed {seed}"
        refused = LeastCover(pool, who, real, known, k, SolverBudget(steps=20)).find(may_add=False) is None
        assert refused == (least > 0)
        knowledge.publish(who, real + cover.added)
        pool = cover.pool
        assert pool.degree.min() >= k
        assert twin.degree(twin.published(knowledge)) >= k


def test_the_least_cover_is_the_least() -> None:
    for seed in range(250):
        check_fewest(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_the_least_cover_is_the_least_many_times(block: int) -> None:
    for seed in range(10**6 + 500 * block, 10**6 + 500 * (block + 1)):
        check_fewest(seed)


@pytest.mark.parametrize(
    ("truth", "queries", "k", "expected"),
    [
        ("ABB", [[0, 1], [0, 2], [0, 1, 2]], 2, ["", "", "A"]),  # F9
        ("ABCD", [[0, 1, 2], [0, 1, 3]], 3, ["", "C"]),  # F3, where the approximation needs two
        ("AABCD", [[0, 1, 2, 3, 4], [0, 1]], 2, ["", "?"]),  # F5.3: any other value will do
        ("ABCABBD", [[0, 1, 2], [0, 3, 4, 5, 6]], 3, ["", "C"]),  # F5.2
    ],
)
def test_artificial_values_of_the_worked_examples(truth, queries, k, expected) -> None:
    known = np.array(["ABCD".index(letter) for letter in truth], dtype=np.int32)
    knowledge = Knowledge(4)
    pool = Pool(knowledge)
    for query, letters in zip(queries, expected, strict=True):
        who = np.array(query, dtype=np.int32)
        real = np.bincount(known[who], minlength=4).astype(np.int32)
        seen = known[: max(knowledge.tuples, int(who.max()) + 1)]
        cover = LeastCover(pool, who, real, seen, k, SolverBudget()).find(may_add=True)
        assert cover is not None
        added = "".join("ABCD"[v] for v, n in enumerate(cover.added) for _ in range(n))
        assert added == letters or (letters == "?" and len(added) == 1)
        knowledge.publish(who, real + cover.added)
        pool = cover.pool
