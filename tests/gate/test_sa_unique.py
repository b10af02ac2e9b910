"""Answers in parts without equal values: worked examples, clustering, artificial values, and the lock."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.gate import (
    Answer,
    CloneMatching,
    Gate,
    Knowledge,
    Population,
    SaUnique,
    SaUniqueA,
    SaUniqueB,
    SaUniqueC,
    UniqueThenClone,
)
from tarnkappe.gate.sa_unique.clusters import (
    AT_ONCE,
    NEVER,
    NONE,
    ONE_PHASE,
    PLAIN,
    WHERE_NEEDED,
    cluster_new,
    cluster_old,
    partition,
    split,
    usefulness,
)
from tests.conftest import FIXTURES
from tests.gate import plain_unique, twin
from tests.gate.sheets import Sheet, texts

UNIQUE: dict[str, Any] = json.loads((FIXTURES / "gate" / "unique_tables.json").read_text(encoding="utf-8"))
CLUSTERS: dict[str, Any] = json.loads((FIXTURES / "gate" / "clusters.json").read_text(encoding="utf-8"))
FAMILY = [SaUnique, SaUniqueA, SaUniqueB, SaUniqueC]


def sheet_of(example: dict[str, Any]) -> tuple[Sheet, dict[str, str]]:
    """The old tuples with their signatures (given by outsiders if no rows are), and the new ones' values."""
    signatures = example.get("signatures", {})
    rows = example.get("rows") or {
        name: " ".join(f"{s}(x{name}.{i})" for i, s in enumerate(text[2:]) if s != text[0])
        for name, text in signatures.items()
    }
    return Sheet({name: text[0] for name, text in signatures.items()}, rows), example.get("new", {})


def opened(sheet: Sheet, names: list[str], new: dict[str, str]) -> tuple[np.ndarray, int]:
    return sheet._open(names, new)


def named(sheet: Sheet, members: np.ndarray, part: np.ndarray) -> list[list[str]]:
    return [
        [sheet.names[t] for t, p in zip(members, part, strict=True) if p == number]
        for number in range(part.max() + 1)
    ]


@pytest.mark.parametrize("name", list(UNIQUE))
def test_tables_after_every_part(name: str) -> None:
    example = UNIQUE[name]
    sheet, seen = Sheet(), set[str]()
    for query, expected in zip(example["queries"], example["tables"], strict=True):
        names = [str(t) for t in query]
        sheet.enter_parts([names], {t: example["truth"][t] for t in names if t not in seen}, 1, False)
        seen |= set(names)
        if expected is not None:
            assert sheet.texts() == texts(expected)


def test_an_old_tuple_joins_an_old_one_only_if_it_has_the_edge_back() -> None:
    """U1, third part: (2, C(3)) joins 6 since (6, B(5)) exists; (4, C(3)) goes since 6 has no D (line 11)."""
    sheet, truth = Sheet(), UNIQUE["U1"]["truth"]
    for names, new in (("1234", "1234"), ("156", "56"), ("246", "")):
        sheet.enter_parts([list(names)], {t: truth[t] for t in new}, 1, False)
    assert "C(3,6)" in sheet.texts()["2"]
    assert sheet.texts()["4"] == {"B(2)"}


@pytest.mark.parametrize("way", ["v1", "v2"])
def test_a_good_split_and_a_bad_one(way: str) -> None:
    sheet, new = sheet_of(CLUSTERS["C0"])
    sheet.enter_parts(CLUSTERS["C0"][way]["parts"], new, 1, False)
    assert sheet.texts() == texts(CLUSTERS["C0"][way]["table"])
    assert min(sheet.degrees().values()) == {"v1": 1, "v2": 2}[way]


@pytest.mark.parametrize("k", [2, 3])
def test_partition_of_new_tuples(k: int) -> None:
    sheet, new = Sheet(), CLUSTERS["C1"]["new"]
    members, _ = opened(sheet, list(new), new)
    part = np.full(len(members), NONE)
    partition(sheet.table.arrays, members, k, part, 0)
    expected = CLUSTERS["C1"][str(k)]
    assert {frozenset(p) for p in named(sheet, members, part)} == {frozenset(p) for p in expected["parts"]}
    other = Sheet()
    other.enter_parts(expected["parts"], new, 1, False)
    assert other.texts() == texts(expected["table"])
    assert min(other.degrees().values()) >= k


def test_at_most_two_parts_would_do_for_k_4_and_there_must_be_three() -> None:
    """Erratum 27: floor(9/4) is the most that is allowed, and A occurs three times."""
    sheet, new = Sheet(), CLUSTERS["C1"]["new"]
    members, _ = opened(sheet, list(new), new)
    part = np.full(len(members), NONE)
    assert partition(sheet.table.arrays, members, 4, part, 0) == 3
    assert partition(sheet.table.arrays, members[:2], 4, np.full(2, NONE), 0) == 1, (
        "fewer than k tuples: one part"
    )


def test_clustering_of_old_tuples() -> None:
    for name, expected in (
        ("C0", [["1", "2", "6"], ["3", "4"], ["5", "7"]]),
        ("C3", CLUSTERS["C3"]["parts"]),
    ):
        sheet, _ = sheet_of(CLUSTERS[name])
        members = np.arange(len(CLUSTERS[name]["signatures"]), dtype=np.int32)
        part = np.full(len(members), NONE)
        count = cluster_old(sheet.table.arrays, members, len(sheet.names), PLAIN, part)
        assert named(sheet, members, part) == expected
        assert count == len(expected)


def test_variant_a_opens_a_part_instead_of_postponing() -> None:
    sheet, _ = sheet_of(CLUSTERS["C3"])
    members = np.arange(9, dtype=np.int32)
    part = np.full(9, NONE)
    assert cluster_old(sheet.table.arrays, members, len(sheet.names), AT_ONCE, part) > 3
    assert ["5"] in named(sheet, members, part)


def test_usefulness_of_the_worked_steps() -> None:
    sheet, _ = sheet_of(CLUSTERS["C0"])
    table, members = sheet.table.arrays, np.arange(7, dtype=np.int32)
    known = len(sheet.names)

    def sim(t: int, *cluster: int) -> int:
        part = np.full(7, NONE)
        part[[c - 1 for c in cluster]] = 0
        return usefulness(table, members, known, part, t - 1, 0, False)

    assert [sim(2, 1), sim(2, 3), sim(2, 7)] == [2, NEVER, NEVER]
    assert [sim(4, 1, 2), sim(4, 3), sim(4, 7)] == [NEVER, 2, 2]
    assert [sim(6, 1, 2), sim(6, 3, 4), sim(6, 5, 7)] == [4, 2, NEVER]
    assert sim(5, 6) == 0
    sheet, _ = sheet_of(CLUSTERS["C3"])
    table, members, known = sheet.table.arrays, np.arange(9, dtype=np.int32), len(sheet.names)
    part = np.full(9, NONE)
    part[6] = 0
    assert usefulness(table, members, known, part, 8, 0, False) == 0, "erratum 36: not -infinity as printed"
    part[:] = NONE
    part[1] = 0
    assert usefulness(table, members, known, part, 2, 0, False) == NEVER, "erratum 31: sim(3, {2})"


@pytest.mark.parametrize("name", ["C4", "C5", "C6"])
def test_clustering_of_new_tuples(name: str) -> None:
    example = CLUSTERS[name]
    sheet, new = sheet_of(example)
    names = [*example["signatures"], *new]
    members, known = opened(sheet, names, new)
    part = np.full(len(members), NONE)
    k = example.get("k", 3)
    if "old_parts" in example:  # two ties are resolved as printed
        for place, tuple_ in enumerate(names):
            part[place] = example["old_parts"].get(tuple_, NONE)
        count = 3
    else:
        count = cluster_old(sheet.table.arrays, members, known, PLAIN, part)
    cluster_new(sheet.table.arrays, members, known, k, PLAIN, part, count)
    partition(sheet.table.arrays, members, k, part, count)
    assert named(sheet, members, part) == example["parts"]
    if "degrees" in example:
        other, new = sheet_of(example)
        other.enter_parts(example["parts"], new, 1, False)
        assert other.degrees() == example["degrees"]


@pytest.mark.parametrize(("k", "alone"), [(3, True), (4, False)])
def test_satisfied_parts_do_not_grow(k: int, alone: bool) -> None:
    """C4 with one more new tuple of no use to anybody."""
    example = CLUSTERS["C4"] | {"new": CLUSTERS["C4"]["new"] | {"7": "F"}}
    sheet, new = sheet_of(example)
    members, known = opened(sheet, [*example["signatures"], *new], new)
    part = np.full(len(members), NONE)
    count = cluster_old(sheet.table.arrays, members, known, PLAIN, part)
    cluster_new(sheet.table.arrays, members, known, k, PLAIN, part, count)
    assert (part[-1] == NONE) == alone
    if not alone:
        part[-1] = NONE
        cluster_new(sheet.table.arrays, members, known, k, ONE_PHASE, part, count)
        assert part[-1] == NONE, "variant c has no second phase"


def test_the_split_loses_no_tuple_and_the_variants_differ() -> None:
    example = CLUSTERS["C5"]
    found = {}
    for variant in (PLAIN, AT_ONCE, WHERE_NEEDED, ONE_PHASE):
        sheet, new = sheet_of(example)
        members, known = opened(sheet, [*example["signatures"], *new], new)
        part = split(sheet.table.arrays, members, known, 3, variant, False)
        found[variant] = named(sheet, members, part)
        assert sorted(t for p in found[variant] for t in p) == sorted([*example["signatures"], *new])
    assert found[PLAIN] == example["parts"]
    assert found[WHERE_NEEDED] != found[PLAIN] != found[ONE_PHASE]


def test_a_part_with_old_and_new_tuples() -> None:
    """U3 (erratum 32)."""
    sheet, new = sheet_of(CLUSTERS["U3"])
    sheet.enter_parts([["1", "2", "3", "4"]], new, 1, False)
    assert sheet.texts() == texts(CLUSTERS["U3"]["table"])


def test_artificial_values_keep_the_cluster_criterion_of_later_parts() -> None:
    """V1: D is added for part 1 although nobody would fall below 3 without it; (7, A(1)) becomes A(1,4)."""
    sheet, _ = sheet_of(CLUSTERS["V1"])
    assert sheet.enter_parts(CLUSTERS["V1"]["parts"], {}, 3, True) == ["D", ""]
    assert sheet.texts() == texts(CLUSTERS["V1"]["table"])


def test_an_answer_without_equal_values_is_split_if_the_criterion_does_not_hold() -> None:
    """Gap 1: otherwise an artificial value would have to be one that the part has already."""
    sheet = Sheet({"1": "A", "2": "B"}, {"1": "B(x1) C(x2)", "2": "C(x3) D(x4)"})
    members = np.arange(2, dtype=np.int32)
    known = len(sheet.names)
    assert split(sheet.table.arrays, members, known, 3, PLAIN, False).tolist() == [0, 0]
    assert split(sheet.table.arrays, members, known, 3, PLAIN, True).tolist() == [0, 1]


def check_against_twin(seed: int, variant: int) -> tuple[int, int, int]:
    """One random sequence, as the plain twin decides it; answers, refusals, answers with artificial values."""
    rng = np.random.default_rng(seed)
    people, values, k = int(rng.integers(4, 25)), int(rng.integers(2, 8)), int(rng.integers(1, 5))
    may_add = bool(rng.random() < 0.7)
    truth = rng.integers(0, values, people).tolist()
    knowledge, strategy = Knowledge(values), FAMILY[variant]()
    strategy.begin(knowledge, k)
    plain = plain_unique.PlainUnique(k, values, "" if variant == 0 else "abc"[variant - 1])
    persons: list[int] = []
    seen = [0, 0, 0]
    for _ in range(7):
        query = rng.choice(people, rng.integers(1, min(people, 10)), replace=False).tolist()
        known = len(persons)
        asked = [*persons, *(p for p in query if p not in persons)]
        members = np.array([asked.index(p) for p in query], dtype=np.int32)
        proposal = strategy.propose(members, np.array([truth[p] for p in asked], dtype=np.int32), may_add)
        answer = plain.answer(query, {p: truth[p] for p in query}, may_add)
        assert (proposal is None) == (answer is None)
        if proposal is None or answer is None:
            seen[1] += 1
        else:
            persons = [*persons, *(asked[t] for t in proposal.order)]
            given = [([persons[t] for t in part.members], part.counts.tolist()) for part in proposal.parts]
            assert given == [(p, np.bincount([*r, *a], minlength=values).tolist()) for p, r, a in answer]
            for part in proposal.parts:
                knowledge.publish(part.members, part.counts)
                added = part.counts.sum() - len(part.members)
                assert added == 0 or may_add
                assert part.counts.max() == 1, "no value twice"
            strategy.accept()
            seen[0] += 1
            seen[2] += any(a for _, _, a in answer)
        rows = strategy._table.rows()
        assert all(len(listed) == 1 for row in rows.values() for listed in row.values()), "one edge a value"
        mine = {
            persons[t]: {v: {persons[u] for u in listed[0]} for v, listed in row.items()}
            for t, row in rows.items()
        }
        assert mine == plain.rows
        assert (strategy.proven_degrees() == strategy.degrees()).all(), "an entry has no distribution"
        assert known <= len(persons)
    return seen[0], seen[1], seen[2]


@pytest.mark.parametrize("variant", range(4), ids=["SAE", "SAE-a", "SAE-b", "SAE-c"])
def test_the_compiled_strategies_are_the_plain_ones_with_every_entry_proven(variant: int) -> None:
    seen = np.sum([check_against_twin(seed, variant) for seed in range(60)], axis=0)
    assert (seen > 0).all(), "the runs must answer, refuse and add"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_the_compiled_strategies_are_the_plain_ones_many_times(block: int) -> None:
    for seed in range(1500):
        check_against_twin(10**5 * (block + 1) + seed, seed % 4)


def test_after_other_rules_the_rules_for_unique_answers_are_locked() -> None:
    """X1: sa-unique cannot go on with a table that clone-matching has written."""
    population = Population({1: "A", 2: "B", 3: "B", 4: "A", 5: "B"})
    gate = Gate(population, 1, CloneMatching())
    gate.ask([1, 2, 3])
    gate.ask([1, 4, 5])
    other = SaUnique()
    other.begin(Knowledge(2), 1)
    other.knowledge = gate.knowledge
    other.restore(gate.truth, gate.strategy.state())
    with pytest.raises(ParameterError, match="not after them"):
        other.propose(np.array([1, 3], dtype=np.int32), gate.truth, may_add=False)


def test_the_allowed_combination_merges_while_answers_are_unique_and_never_again() -> None:
    population = Population({1: "A", 2: "A", 3: "B", 4: "B", 5: "A", 6: "B"})
    gate = Gate(population, 2, UniqueThenClone(), may_add=False)
    for query in ([1, 3], [1, 4], [2, 3], [2, 4]):
        assert isinstance(gate.ask(query), Answer), "F7: old tuples join old ones as long as that is sound"
    assert gate.strategy._table.unique
    assert isinstance(gate.ask([5, 6, 1, 3]), Answer)
    assert not gate.strategy._table.unique
    brute = twin.signatures(twin.published(gate.knowledge))
    assert all(2 <= gate.strategy.degrees()[t] <= len(brute[t]) for t in brute)
