"""No answer is unsound, in millions of random small sequences (`make test-all`; TARN_GATE_SEQUENCES says how many)."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tarnkappe.gate.delta_top.extension import CLONE_MATCHING, MAX_ANONYMITY, MAX_EDGES, SIMPLE_MATCHING
from tarnkappe.gate.sa_unique.clusters import AT_ONCE, ONE_PHASE, PLAIN, WHERE_NEEDED
from tests.gate import oracle, twin

SEQUENCES = int(os.environ.get("TARN_GATE_SEQUENCES", "500000"))
"""For each of nine strategies; the others (whose state is no table) have the battery."""
STRATEGIES = {
    "clone-matching": (oracle.DELTA_TOP, CLONE_MATCHING),
    "simple-matching": (oracle.DELTA_TOP, SIMPLE_MATCHING),
    "max-anonymity": (oracle.DELTA_TOP, MAX_ANONYMITY),
    "max-edges": (oracle.DELTA_TOP, MAX_EDGES),
    "sa-unique": (oracle.SA_UNIQUE, PLAIN),
    "sa-unique-a": (oracle.SA_UNIQUE, AT_ONCE),
    "sa-unique-b": (oracle.SA_UNIQUE, WHERE_NEEDED),
    "sa-unique-c": (oracle.SA_UNIQUE, ONE_PHASE),
    "unique-then-clone": (oracle.COMBINED, CLONE_MATCHING),
}


def test_the_compiled_attacker_finds_what_enumeration_finds() -> None:
    for seed in range(300):
        rng = np.random.default_rng(seed)
        results, truth = twin.random_history(rng, int(rng.integers(2, 8)), 4, int(rng.integers(1, 5)), 0.3)
        inside = np.zeros((len(results), len(truth)), dtype=np.int64)
        counts = np.array([np.bincount(values, minlength=4) for _, values in results])
        for result, (members, _) in enumerate(results):
            inside[result, members] = 1
        found = oracle.attack(inside, counts, len(truth))
        brute = twin.signatures(results)
        assert [set(np.flatnonzero(row).tolist()) for row in found] == [brute[t] for t in range(len(truth))]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(STRATEGIES))
def test_no_attacker_ever_wins(name: str) -> None:
    family, how = STRATEGIES[name]
    seen = np.zeros(3, dtype=np.int64)
    first = 10**9 * (1 + list(STRATEGIES).index(name)) % 2**31
    lost = oracle.play_many(first, SEQUENCES, family, how, seen)
    assert lost < 0, f"the sequence with seed {lost} is unsound"
    assert (seen > SEQUENCES // 10).all(), "the sequences must answer, refuse and add"


@pytest.mark.slow
def test_the_forbidden_order_is_caught_by_the_same_attacker() -> None:
    """The lock is needed: without it some of these sequences are unsound (so the attacker can win)."""
    seen = np.zeros(3, dtype=np.int64)
    assert oracle.play_many(1, 300_000, oracle.FORBIDDEN, CLONE_MATCHING, seen) >= 0
