"""The levels that the lattice search finds are those of the reference algorithm, node for node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra import generalizing
from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.lowering.levels import Rungs, best_levels
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.world import World
from tarnkappe.errors import HierarchyError, NoSolutionError
from tarnkappe.hierarchy import Hierarchy

LETTERS = "abcdefgh"
TALL = Hierarchy.from_rows([[x, f"{x}1"[:1] + "/2", f"/{n // 4}/4", "*"] for n, x in enumerate(LETTERS)])
WIDE = Hierarchy.from_rows(
    [[x, f"pair {n // 2}", "*"] for n, x in enumerate(LETTERS)] + [[None, "none", "*"]]
)
FLAT = Hierarchy.from_rows([[x, "*"] for x in LETTERS])
NAMES = {"x": TALL, "a": WIDE, "m": FLAT}
WORLD = World({}, NAMES)

CELLS = {
    "x": st.sampled_from([*LETTERS[:5], "a/2", "/0/4"]),
    "a": st.sampled_from([*LETTERS[:4], None, "pair 1"]),
    "m": st.sampled_from(LETTERS[:3]),
}


@settings(max_examples=150)
@given(st.data(), st.integers(2, 6))
def test_the_search_chooses_as_the_definition_does(data: st.DataObject, k: int) -> None:
    names = sorted(data.draw(st.sets(st.sampled_from(sorted(NAMES)), min_size=1)))
    drawn = st.tuples(*(CELLS[name] for name in names))
    counts = Counter(data.draw(st.lists(drawn, min_size=k, max_size=24)))
    ladders = [WORLD.ladder(name) for name in names]
    expected = generalizing.best_levels(counts, ladders, k)
    columns = {
        name: Rungs.of(pa.chunked_array([pa.array([row[n] for row in counts], pa.string())]), ladders[n])
        for n, name in enumerate(names)
    }
    found = best_levels(columns, np.array(list(counts.values()), np.int64), k)
    assert tuple(found[name] for name in names) == expected


def test_ties_are_broken_exactly_even_among_millions_of_rows() -> None:
    """Losses that differ by a billionth are equal to a search; the algebra still takes the lesser."""
    two = Hierarchy.from_rows([["p", "*"], ["q", "*"]])
    million = 10**8
    rows = {("p", "p"): million, ("p", "q"): 1, ("q", "p"): million + 3, ("q", "q"): 1}
    ladders = [World({}, {"x": two}).ladder("x")] * 2
    expected = generalizing.best_levels(Counter(rows), ladders, 2)
    columns = {
        name: Rungs.of(pa.chunked_array([pa.array([row[n] for row in rows])]), ladders[n])
        for n, name in enumerate(("a", "b"))
    }
    found = best_levels(columns, np.array(list(rows.values()), np.int64), 2)
    assert (found["a"], found["b"]) == expected


AGES = Hierarchy.from_rows(
    [[str(n), f"{n // 10 * 10}-{n // 10 * 10 + 9}", "*"] for n in range(20, 60)] + [[None, "?", "*"]]
)


@pytest.fixture(scope="module")
def people() -> Iterator[Backend]:
    table = pa.table(
        {"alter": pa.array([21, 22, 34, 35, None, None], pa.int32()), "group": list("uvwuvw"), "n": [1.5] * 6}
    )
    with connect({"people": table}) as backend:
        yield backend


def ask(backend: Backend, text: str, catalog: Catalog | None = None) -> list[dict[str, object]]:
    catalog = catalog or Catalog(backend.relations, {"alter": AGES})
    return backend.execute(read_sql(text, backend.relations), catalog).to_pylist()


def test_numbers_and_missing_values_are_lifted_as_the_hierarchy_says(people: Backend) -> None:
    found = ask(
        people, "SELECT alter, count(*) AS n FROM generalize(people, k => 2, by => [alter]) GROUP BY alter"
    )
    assert {row["alter"]: row["n"] for row in found} == {"20-29": 2, "30-39": 2, "?": 2}


def test_general_values_are_lifted_further_and_never_back(people: Backend) -> None:
    inner = "generalize(people, k => 2, by => [alter])"
    found = ask(people, f"SELECT alter FROM generalize({inner}, k => 3, by => [alter])")
    assert {row["alter"] for row in found} == {"*"}
    again = ask(people, f"SELECT alter FROM generalize({inner}, k => 2, by => [alter])")
    assert {row["alter"] for row in again} == {"20-29", "30-39", "?"}


def test_a_column_of_mixed_levels_is_brought_to_one_level_first(people: Backend) -> None:
    young = "generalize((SELECT alter FROM people WHERE alter < 30), k => 2, by => [alter])"
    rest = "SELECT alter FROM people WHERE alter > 30 OR alter IS NULL"
    found = ask(
        people,
        f"SELECT alter FROM generalize(({rest} UNION ALL SELECT alter FROM {young}), k => 1, by => [alter])",
    )
    assert {row["alter"] for row in found} == {"20-29", "34", "35", None}
    mixed = ask(
        people,
        f"SELECT alter FROM generalize(({rest} UNION ALL SELECT alter FROM {young}), k => 2, by => [alter])",
    )
    assert {row["alter"] for row in mixed} == {"20-29", "30-39", "?"}


def test_too_few_rows_are_refused_and_not_suppressed(people: Backend) -> None:
    with pytest.raises(NoSolutionError, match="at least 7 rows; there are 6"):
        ask(people, "SELECT alter FROM generalize(people, k => 7, by => [alter])")
    with pytest.raises(NoSolutionError, match="there are 0"):
        ask(
            people,
            "SELECT alter FROM generalize((SELECT * FROM people WHERE alter > 99), k => 2, by => [alter])",
        )


def test_a_value_that_the_hierarchy_lacks_is_refused_without_being_quoted(people: Backend) -> None:
    short = Hierarchy.from_rows([["21", "*"], ["22", "*"]])
    with pytest.raises(HierarchyError) as refused:
        ask(
            people,
            "SELECT alter FROM generalize(people, k => 2, by => [alter])",
            Catalog(people.relations, {"alter": short}),
        )
    assert not set("345") & set(str(refused.value))
