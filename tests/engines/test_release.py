"""What an engine releases: every row of a kept class, generalized, once, and in an order that tells nothing."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.engines.engine import DIGITS
from tarnkappe.engines.statements import LevelTable, ReleasePlan, in_words, left, releasing
from tests.engines.places import Place, everywhere

ROWS = pa.table(
    {
        "name": [f"person {i}" for i in range(8)],
        "alter": pa.array([31, None, 38, 44, 44, None, 31, 52], pa.int32()),
        'se"l`ect': ["x", "", None, "", "it's", "x", "x", None],
        "illness %": ["flu", None, "", "a;b", 'q"', "\\", "ß", "cold"],
    }
)
AGES = ["thirty", "it's \\ \n", "thirty", "forty", "forty", "it's \\ \n", "thirty", "fifty"]
"""What the ages are generalized to; a missing one is unknown in words that SQL might trip over."""


def level_tables() -> tuple[LevelTable, ...]:
    ages = pa.array([31, 38, 44, 52, None], pa.int32())
    labels = pa.array(["thirty", "thirty", "forty", "fifty", "it's \\ \n"])
    towns = pa.array(["", "it's", "x", None])
    return (
        LevelTable("alter", ages, np.array([2, 2, 1, 0, 3], np.int32), labels, own=False),
        LevelTable('se"l`ect', towns, np.arange(4, dtype=np.int32), towns, own=True),
    )


def plan(kept: list[tuple[int, int]], **settings: object) -> ReleasePlan:
    codes = tuple(np.array(column, np.int32) for column in zip(*kept, strict=True))
    return ReleasePlan(("alter", 'se"l`ect', "illness %"), level_tables(), codes, **settings)  # type: ignore[arg-type]


EVERYTHING = [(age, town) for age in range(4) for town in range(4)]


def expected(dropped: int | None = None) -> list[tuple[object, ...]]:
    rows = zip(AGES, *(ROWS.column(name).to_pylist() for name in ('se"l`ect', "illness %")), strict=True)
    return [row for place, row in enumerate(rows) if place != dropped]


def released(place: Place, chosen: ReleasePlan, table: pa.Table = ROWS) -> list[tuple[object, ...]]:
    place.put(table)
    with place.open() as engine, engine.release(chosen) as written:
        assert written.columns == chosen.columns
        assert sum(written.group(["alter"]).counts) == written.group(["alter", 'se"l`ect']).num_rows
    return place.released()


@everywhere
def test_every_row_is_released_once_and_generalized(anywhere: Place) -> None:
    assert Counter(released(anywhere, plan(EVERYTHING))) == Counter(expected())


def test_the_rows_of_a_class_that_is_not_kept_are_gone(anywhere: Place) -> None:
    kept = [pair for pair in EVERYTHING if pair != (3, 2)]  # the age is missing, the town is x
    assert Counter(released(anywhere, plan(kept))) == Counter(expected(dropped=5))


def test_a_value_that_nobody_counted_is_not_released(anywhere: Place) -> None:
    """Somebody changes the table between counting and writing: what has no label must not slip through."""
    late = ROWS.set_column(1, "alter", pa.array([31, None, 38, 99, 44, None, 31, 52], pa.int32()))
    assert Counter(released(anywhere, plan(EVERYTHING), late)) == Counter(expected(dropped=3))


def test_without_shuffling_rows_keep_their_order(anywhere: Place) -> None:
    assert released(anywhere, plan(EVERYTHING, shuffle=False)) == expected()


@pytest.mark.parametrize("anywhere", ["parquet", "postgresql"], indirect=True)
def test_the_order_follows_the_key_and_nothing_else(anywhere: Place) -> None:
    one, again, other = (released(anywhere, plan(EVERYTHING, key=key * 32)) for key in "aab")
    assert one == again
    assert one != other
    assert plan(EVERYTHING).key != plan(EVERYTHING).key
    assert plan(EVERYTHING).key not in repr(plan(EVERYTHING))


def test_an_attacker_learns_nothing_from_the_order_of_rows(anywhere: Place) -> None:
    """He knows the order of the input, and that equal rows were neighbours in it."""
    many = 4000
    table = pa.table(
        {
            "alter": pa.array([31] * many, pa.int32()),
            'se"l`ect': ["x"] * many,
            "illness %": [f"{i}" for i in range(many)],
        }
    )
    order = [int(str(row[2])) for row in released(anywhere, plan(EVERYTHING), table)]
    assert sorted(order) == list(range(many))
    correlation = float(np.corrcoef(order, range(many))[0, 1])
    neighbours = sum(abs(a - b) == 1 for a, b in itertools.pairwise(order))
    assert abs(correlation) < 0.08  # five standard deviations of a random order
    assert neighbours < 20  # of which a random order has two


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "pyspark"])
def test_the_release_is_one_statement_without_the_engine_s_randomness(dialect: str) -> None:
    def digest(text):
        return left(text, DIGITS)

    chosen = plan(EVERYTHING, key="k" * 32)
    statement = in_words(releasing("rows", chosen, "row", digest), dialect)
    assert statement.count("k" * 32) == 1
    assert ";" not in statement
    assert not re.search(r"random|rand\(|uuid", statement, re.IGNORECASE)
    assert "person" not in statement
    assert statement.count("LEFT OUTER JOIN") == 2
    assert statement.count("INNER JOIN") == 1


def test_an_empty_release_is_a_release(anywhere: Place) -> None:
    assert released(anywhere, plan([(9, 9)])) == []


@pytest.mark.parametrize("anywhere", ["parquet", "postgresql"], indirect=True)
def test_many_columns_and_classes_are_joined_row_by_row(anywhere: Place) -> None:
    """An engine that joined the small tables with each other first would never finish."""
    names, size, kept = [f"c{i}" for i in range(8)], 60, 20_000
    random = np.random.default_rng(1)
    codes = random.integers(0, size, (len(names), kept), dtype=np.int32)
    values = pa.array([f"value {i}" for i in range(size)])
    table = pa.table({name: values.take(pa.array(codes[place])) for place, name in enumerate(names)})
    # In pairs, as after generalization: every label has several values, every pair of labels several classes.
    labels = pa.array([f"label {i // 6}" for i in range(size)])
    pairs = (np.arange(size) // 6).astype(np.int32)
    levels = tuple(LevelTable(name, values, pairs, labels, own=False) for name in names)
    classes = np.unique(pairs[codes], axis=1)
    anywhere.put(table)
    with (
        anywhere.open() as engine,
        engine.release(ReleasePlan(tuple(names), levels, tuple(classes))) as written,
    ):
        assert written.group(names).num_rows == kept
        assert len(written.group(names).counts) == classes.shape[1]
