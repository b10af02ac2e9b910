"""Somebody who got ciphertexts and knows other people of the same population."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from tests.attackers.attacker import Attacker, Victim

Rows = list[tuple[str, ...]]


@dataclasses.dataclass(frozen=True)
class Received:
    """What a helper or master has in its hands.

    Attributes:
        rows: a row of ciphertexts for each row that arrived; none if nothing did.
        population: rows of other people, or his own, as he knows them.
        truth: what the ciphertexts stand for, which only the judge knows.
        told: the greatest share of cells that sites were told he would read, before they agreed.
    """

    rows: Sequence[tuple[bytes, ...]]
    population: Rows
    truth: Mapping[tuple[int, bytes], str]
    told: float


class Decoder(Attacker[Received]):
    name = "decoder"
    promise = "nothing-by-default"
    knows = "Other people of the same population."
    sees = "All messages that the helper or the master receives."
    does = "Matches frequencies and pairs of ciphertexts with those of values."

    def attack(self, target: Received) -> Iterator[Victim]:
        read = decode(target.rows, target.population)
        for index, row in enumerate(target.rows):
            right = sum(read.get((c, cell)) == target.truth[c, cell] for c, cell in enumerate(row))
            if right > len(row) // 2:
                yield Victim(f"row {index}", f"{right} of {len(row)} cells are read")


class NumbersAuditor(Attacker[Received]):
    name = "numbers-auditor"
    promise = "told-in-numbers"
    knows = "Other people of the same population, and what sites were told before they agreed."
    sees = "All messages that the helper or the master receives."
    does = "Reads more of the ciphertexts than sites were told."

    def attack(self, target: Received) -> Iterator[Victim]:
        read = decode(target.rows, target.population)
        cells = [
            read.get((c, cell)) == target.truth[c, cell] for row in target.rows for c, cell in enumerate(row)
        ]
        share = sum(cells) / max(len(cells), 1)
        if share > target.told:
            yield Victim("the sites", f"were told {target.told:.0%} and {share:.0%} of their cells are read")


def decode(rows: Sequence[tuple[bytes, ...]], population: Rows) -> dict[tuple[int, bytes], str]:
    """The value that each ciphertext of each column is taken for."""
    if not rows:
        return {}
    width = len(rows[0])
    names = [list(dict.fromkeys(row[c] for row in rows)) for c in range(width)]
    values = [list(dict.fromkeys(row[c] for row in population)) for c in range(width)]
    seen = _numbers(rows, names)
    known = _numbers(population, values)
    maps = [_by_frequency(seen[:, c], known[:, c], len(names[c]), len(values[c])) for c in range(width)]
    for _ in range(10):
        for c in range(width):
            likeness = np.zeros((len(names[c]), len(values[c])))
            for d in range(width):
                if d == c:
                    continue
                there = _pairs(seen[:, c], maps[d][seen[:, d]], len(names[c]), len(values[d]))
                here = _pairs(known[:, c], known[:, d], len(values[c]), len(values[d]))
                likeness += np.sqrt(there) @ np.sqrt(here).T
            tokens, guesses = linear_sum_assignment(-likeness)
            maps[c] = np.full(len(names[c]), -1)
            maps[c][tokens] = guesses
    return {
        (c, names[c][token]): values[c][guess]
        for c in range(width)
        for token, guess in enumerate(maps[c])
        if guess >= 0
    }


def _numbers(rows: Sequence[tuple[object, ...]], names: Sequence[Sequence[object]]) -> np.ndarray:
    places = [{name: index for index, name in enumerate(each)} for each in names]
    return np.array([[place[cell] for place, cell in zip(places, row, strict=True)] for row in rows])


def _by_frequency(seen: np.ndarray, known: np.ndarray, tokens: int, values: int) -> np.ndarray:
    order = [token for token, _ in Counter(seen.tolist()).most_common()]
    guesses = [value for value, _ in Counter(known.tolist()).most_common()]
    found = np.full(tokens, -1)
    for token, guess in zip(order, guesses, strict=False):
        found[token] = guess
    return found


def _pairs(rows: np.ndarray, columns: np.ndarray, height: int, width: int) -> np.ndarray:
    counts = np.zeros((height, width + 1))
    np.add.at(counts, (rows, np.where(columns < 0, width, columns)), 1)
    return counts / max(len(rows), 1)
