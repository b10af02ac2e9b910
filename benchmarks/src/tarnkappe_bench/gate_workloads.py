"""The ten setups on which strategies of the gate are compared: populations and sequences of queries, by seed.

| # | people | values | distribution | people in a query | queries | k |
|---|---|---|---|---|---|---|
| 1 | 100 | 8 | uniform | 8 | 30 | none: all signatures are computed |
| 2 | 100 | 8 | uniform | 8 | 14 | 3, 4 |
| 3 | 1,000 | 8 | uniform | 8, of which 7 (or 6) are new | 50 | 4 |
| 4 | 10,000; 100,000 | 50, 100, 200 | uniform | 50 | 200 | 10, 25 |
| 5 | 5,000; 10,000 | 50, 100 | uniform | 50 | 1,000 | 10, 25 |
| 6 | 10,000 | 100 | uniform, normal, exponential (0.03, 0.06) | 50 | 200 | 10, 25 |
| 7 | as 6 | | | | 1,000 | |
| 8 | 20,000 | 50 | uniform | 50 | 200 | 10 |
| 9 | 1,000 | 10 | uniform | 40 | 200 | 4, 6 |
| 10 | Adult | 14 occupations | real | 10 to 30, by selections on the other columns | 200 | 5, 7 |

The distribution of setups 1 to 3 and 9 is not known from the literature; uniform is our choice. The sizes of
setup 8 are lost there and are our choice altogether.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tarnkappe.gate import Population
from tarnkappe.table.encoding import encode_column


@dataclasses.dataclass(frozen=True)
class Setup:
    """A population and its queries, drawn with a seed."""

    number: int
    people: int
    values: int
    size: int
    queries: int
    ks: tuple[int, ...]
    distribution: str = "uniform"
    new: int | None = None

    def draw(self, seed: int) -> tuple[Population, list[list[int]]]:
        """The population and the queries of a seed."""
        rng = np.random.default_rng([self.number, seed])
        codes = secrets(rng, self.people, self.values, self.distribution)
        labels = [f"v{value:03}" for value in range(self.values)]
        population = Population({person: labels[code] for person, code in enumerate(codes.tolist())}, labels)
        if self.new is None:
            return population, [
                rng.choice(self.people, self.size, replace=False).tolist() for _ in range(self.queries)
            ]
        return population, list(self._mostly_new(rng, self.new))

    def _mostly_new(self, rng: np.random.Generator, new: int) -> Iterator[list[int]]:
        fresh = rng.permutation(self.people).tolist()
        asked: list[int] = []
        for number in range(self.queries):
            count = new if number else self.size
            first = [fresh.pop() for _ in range(count)]
            again = rng.choice(asked, self.size - count, replace=False).tolist() if asked else []
            asked += first
            yield first + again


def secrets(rng: np.random.Generator, people: int, values: int, distribution: str) -> NDArray[np.int64]:
    """Everybody's value; each value occurs at least once if there are enough people."""
    if distribution == "uniform":
        codes = rng.integers(0, values, people)
    elif distribution == "normal":
        codes = np.clip(np.rint(rng.normal(values / 2, values / 6, people)), 0, values - 1).astype(np.int64)
    else:
        rate = float(distribution.removeprefix("exponential "))
        drawn = rng.exponential(1 / rate, 4 * people)
        codes = drawn[drawn < values][:people].astype(np.int64)
    missing = np.setdiff1d(np.arange(values), codes)
    if len(missing) <= people // 2:
        codes[rng.choice(people, len(missing), replace=False)] = missing
    return codes


SETUPS: dict[str, Setup] = {
    "1": Setup(1, 100, 8, 8, 30, (1,)),
    "2": Setup(2, 100, 8, 8, 14, (3, 4)),
    "3-7": Setup(3, 1000, 8, 8, 50, (4,), new=7),
    "3-6": Setup(3, 1000, 8, 8, 50, (4,), new=6),
    **{
        f"4-{people}-{values}": Setup(4, people, values, 50, 200, (10, 25))
        for people, values in ((10_000, 50), (10_000, 100), (10_000, 200), (100_000, 100))
    },
    **{
        f"5-{people}-{values}": Setup(5, people, values, 50, 1000, (10, 25))
        for people in (5000, 10_000)
        for values in (50, 100)
    },
    **{
        f"{number}-{shape}": Setup(number, 10_000, 100, 50, queries, (10, 25), shape)
        for number, queries in ((6, 200), (7, 1000))
        for shape in ("uniform", "normal", "exponential 0.03", "exponential 0.06")
    },
    "8": Setup(8, 20_000, 50, 50, 200, (10,)),
    "9": Setup(9, 1000, 10, 40, 200, (4, 6)),
}
"""Setups 1 to 9 in all their variants, by name."""


def adult(
    data: pa.Table, seed: int, queries: int = 200, smallest: int = 10, largest: int = 30
) -> tuple[Population, list[list[int]]]:
    """Setup 10: selections on a table with the column `occupation`, each around one of its rows.

    A query starts with random conditions that hold for a random row; they are widened while they select too
    few rows and narrowed while they select too many.
    """
    rng = np.random.default_rng([10, seed])
    columns = {name: encode_column(name, data.column(name)) for name in data.column_names}
    occupation = columns.pop("occupation")
    population = Population(
        {row: occupation.labels[code] for row, code in enumerate(occupation.codes.tolist())},
        occupation.labels,
    )
    codes = [column.codes for column in columns.values()]
    sizes = [column.cardinality for column in columns.values()]
    age = list(columns).index("age")
    asked: list[list[int]] = []
    while len(asked) < queries:
        found = _selection(rng, codes, sizes, age, smallest, largest)
        if found is not None:
            asked.append(found)
    return population, asked


def _selection(
    rng: np.random.Generator,
    codes: list[NDArray[np.int32]],
    sizes: list[int],
    age: int,
    smallest: int,
    largest: int,
) -> list[int] | None:
    """The rows of one query, or None if no such conditions were found."""
    row = int(rng.integers(len(codes[0])))
    centre = [int(column[row]) for column in codes]
    chosen = rng.choice(len(codes), rng.integers(2, len(codes)), replace=False).tolist()
    allowed = {c: np.arange(sizes[c]) == centre[c] for c in chosen}
    holds = {c: allowed[c][codes[c]] for c in chosen}
    for _ in range(60):
        rows = np.flatnonzero(np.logical_and.reduce(list(holds.values())))
        if smallest <= len(rows) <= largest:
            return rows.tolist()
        column = int(rng.choice(list(allowed)))
        if len(rows) < smallest:
            if column != age and len(allowed) > 1 and rng.random() < 0.3:
                del allowed[column], holds[column]
                continue
            _widen(rng, allowed[column], ordered=column == age)
        elif allowed[column].sum() > 1:
            _narrow(rng, allowed[column], centre[column], ordered=column == age)
        else:
            unused = [c for c in range(len(codes)) if c not in allowed]
            if not unused:
                return None
            column = int(rng.choice(unused))
            allowed[column] = np.arange(sizes[column]) == centre[column]
        holds[column] = allowed[column][codes[column]]
    return None


def _widen(rng: np.random.Generator, allowed: NDArray[np.bool_], ordered: bool) -> None:
    if ordered:
        within = np.flatnonzero(allowed)
        allowed[max(0, within[0] - 1) : within[-1] + 2] = True
    elif not allowed.all():
        allowed[rng.choice(np.flatnonzero(~allowed))] = True


def _narrow(rng: np.random.Generator, allowed: NDArray[np.bool_], centre: int, ordered: bool) -> None:
    others = np.setdiff1d(np.flatnonzero(allowed), [centre])
    if ordered:
        others = others[[0]] if others[0] < centre and rng.random() < 0.5 else others[[-1]]
    allowed[rng.choice(others)] = False
