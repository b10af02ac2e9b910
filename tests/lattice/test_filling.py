"""Who watches a search sees the lattice fill: what is said of each level is true of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tarnkappe import anonymize, explore
from tarnkappe.table import examples

ASKED = {"privacy": [{"model": "k-anonymity", "k": 3}], "suppression_limit": 0.05}
Rows = list[tuple[int, int, int]]


class Onlooker:
    """Is told of progress, and looks at the lattice each time."""

    def __init__(self) -> None:
        self.seen: list[Rows] = []

    def __call__(self, what: str, done: int, total: int, note: str = "") -> None:
        del what, done, total, note

    def look(self, filling: Callable[[], Rows]) -> None:
        self.seen.append(filling())


@pytest.fixture(scope="module")
def patients():
    table = examples.hospital(rows=300, seed=1).table
    return table.with_roles(
        identifiers=["name", "insurance_number", "birth_date", "length_of_stay"],
        quasi_identifiers=["age", "sex", "postcode", "occupation", "admission_date"],
        sensitive=["diagnosis"],
    )


@pytest.mark.parametrize("algorithm", ["flash", "ola", "bfs", "dfs"])
def test_the_lattice_fills_from_nothing_to_the_truth(patients, algorithm: str) -> None:
    onlooker = Onlooker()
    anonymize(patients, **ASKED, algorithm=algorithm, progress=onlooker)
    whole = list(explore(patients, **ASKED))
    nodes = Counter(sum(found.node) for found in whole)
    satisfying = Counter(sum(found.node) for found in whole if found.satisfied)
    assert onlooker.seen
    before = [(0, 0)] * len(nodes)
    for rows in onlooker.seen:
        assert [all_ for all_, _, _ in rows] == [nodes[height] for height in sorted(nodes)]
        for height, (all_, settled, good) in enumerate(rows):
            assert good <= settled <= all_
            assert good <= satisfying[height]
        now = [(settled, good) for _, settled, good in rows]
        assert all(
            old <= new
            for was, is_ in zip(before, now, strict=True)
            for old, new in zip(was, is_, strict=True)
        )
        before = now


def test_who_watches_the_usual_search_or_the_whole_lattice_sees_it_fill() -> None:
    """Of these, a node counts when it was tested."""
    patients = examples.hospital(rows=200, seed=1).table
    for look_for in (anonymize, explore):
        onlooker = Onlooker()
        look_for(patients, **ASKED, progress=onlooker)
        tested = [sum(some for _, some, _ in rows) for rows in onlooker.seen]
        assert tested == list(range(32, 32 * len(tested) + 1, 32)) != []
        assert all(good <= some <= all_ for rows in onlooker.seen for all_, some, good in rows)
    assert sum(all_ for all_, _, _ in onlooker.seen[-1]) - tested[-1] < 32
    assert 0 < sum(good for _, _, good in onlooker.seen[-1]) < tested[-1]
