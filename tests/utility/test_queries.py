"""Answers to aggregate queries: the documents' estimates, slow twins, and what a workload asks."""

from __future__ import annotations

import csv
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.anatomy import anatomy_tables
from tarnkappe.recoding.randomness import Chance
from tarnkappe.recoding.slicing import slice_table
from tarnkappe.table import Table
from tarnkappe.table.encoding import encode_column
from tarnkappe.utility import (
    AnsweredWorkload,
    ColumnDomain,
    ReleasedCells,
    ReleaseReader,
    Workload,
    WorkloadQuery,
    anatomy_view,
    exact_view,
    sliced_view,
    written_view,
)
from tests.conftest import FIXTURES

CONCEPTS = FIXTURES / "concepts"


def rows(name: str) -> list[dict[str, str]]:
    with (CONCEPTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def years(table: pa.Table) -> pa.Table:
    """Of a birthday the year, as Example 10 asks for it."""
    born = [text[-2:] for text in table.column("Geburtstag").to_pylist()]
    return table.set_column(table.column_names.index("Geburtstag"), "Geburtstag", pa.array(born))


def document_domains() -> dict[str, ColumnDomain]:
    """All years from 1970 to 1989, both sexes, all diseases."""
    decades = [[f"{y}", f"{y // 10}*", "*"] for y in range(70, 90)]
    hierarchies = {"Geburtstag": decades, "Geschlecht": [["M", "*"], ["W", "*"]]}
    original = years(pa.Table.from_pylist(rows("f-h2.csv")))
    return {
        name: ColumnDomain.of(
            encode_column(name, original.column(name)),
            Hierarchy.from_rows(hierarchies[name]) if name in hierarchies else None,
        )
        for name in ("Geburtstag", "Geschlecht", "Krankheit")
    }


def example_10(domains: dict[str, ColumnDomain]) -> WorkloadQuery:
    """How many female anorexics born in 1983?"""
    wanted = {"Geburtstag": "83", "Geschlecht": "W", "Krankheit": "Magersucht"}
    return WorkloadQuery(
        {n: np.array([label == v for label in domains[n].column.labels]) for n, v in wanted.items()}
    )


def test_example_10_on_the_original_and_on_the_generalized_table() -> None:
    """The truth is 2. Block 2 covers 20 cells, of which the query covers 1; it has 2 of the disease: 1/10."""
    domains = document_domains()
    query = example_10(domains)
    assert exact_view(domains, years(pa.Table.from_pylist(rows("f-h2.csv")))).answer(query) == 2
    generalized = years(pa.Table.from_pylist(rows("f-h5.csv")))
    assert written_view(domains, generalized).answer(query) == pytest.approx(0.1)


def test_example_10_on_the_two_tables_of_anatomy() -> None:
    """7/12, against 1/10 for generalization and the truth 2."""
    domains = document_domains()
    groups = np.array([int(row["group"]) - 1 for row in rows("f-h6.csv")], np.int32)
    data = years(pa.Table.from_pylist(rows("f-h2.csv"))).select(list(domains))
    table = Table(data).with_roles(quasi_identifiers=["Geburtstag", "Geschlecht"], sensitive=["Krankheit"])
    for seed in range(3):  # whatever the order of rows and the numbers of groups
        view = anatomy_view(domains, *anatomy_tables(table, groups, Chance(seed)).values())
        assert view.answer(example_10(domains)) == pytest.approx(float(Fraction(7, 12)))


ROWS = st.lists(
    st.fixed_dictionaries({"a": st.integers(0, 4), "b": st.sampled_from("xyz"), "s": st.integers(10, 13)}),
    min_size=1,
    max_size=10,
)
CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "a": st.sets(st.integers(0, 4)),
        "b": st.sets(st.sampled_from("xyz")),
        "s": st.sets(st.integers(10, 13)),
    },
)
SUMMED = st.sampled_from([None, "a", "s"])


def domains_of(table: pa.Table) -> dict[str, ColumnDomain]:
    whole = {"a": list(range(5)), "b": list("xyz"), "s": list(range(10, 14))}
    return {n: ColumnDomain(encode_column(n, pa.chunked_array([values]))) for n, values in whole.items()}


def query_of(
    domains: dict[str, ColumnDomain], conditions: dict[str, set[Any]], summed: str | None
) -> WorkloadQuery:
    return WorkloadQuery(
        {n: np.array([v in c for v in domains[n].column.values.to_pylist()]) for n, c in conditions.items()},
        summed,
    )


def meets(row: dict[str, Any], conditions: dict[str, set[Any]]) -> bool:
    return all(row[name] in values for name, values in conditions.items())


@given(ROWS, CONDITIONS, SUMMED)
def test_the_original_is_answered_as_plain_python_does(
    rows: list[dict[str, Any]], conditions: dict[str, set[Any]], summed: str | None
) -> None:
    table = pa.Table.from_pylist(rows)
    domains = domains_of(table)
    slow = sum(1 if summed is None else row[summed] for row in rows if meets(row, conditions))
    view, query = exact_view(domains, table), query_of(domains, conditions, summed)
    assert view.answer(query) == pytest.approx(slow)
    assert written_view(domains, table).answer(query) == pytest.approx(slow), "values are words too"


@given(ROWS, CONDITIONS, SUMMED, st.data())
@settings(max_examples=60)
def test_generalized_cells_stand_for_all_their_values_alike(
    rows: list[dict[str, Any]], conditions: dict[str, set[Any]], summed: str | None, data: st.DataObject
) -> None:
    """The twin writes out every table that could be meant, and takes the mean of its answers."""
    words = {
        n: [data.draw(st.sets(st.sampled_from(v), min_size=1)) for _ in rows]
        for n, v in {"a": range(5), "b": "xyz", "s": range(10, 14)}.items()
    }
    domains = domains_of(pa.Table.from_pylist(rows))
    cells = {}
    for name, sets in words.items():
        values = domains[name].column.values.to_pylist()
        dense = np.array([[(v in some) / len(some) for v in values] for some in sets])
        cells[name] = ReleasedCells(np.arange(len(rows)), scipy.sparse.csr_array(dense))
    slow = Fraction(0)
    for place in range(len(rows)):
        options = list(itertools.product(*(sorted(words[name][place], key=str) for name in words)))
        for option in options:
            row = dict(zip(words, option, strict=True))
            if meets(row, conditions):
                slow += Fraction(1 if summed is None else row[summed], len(options))
    view = ReleaseReader(domains, cells, len(rows))
    assert view.answer(query_of(domains, conditions, summed)) == pytest.approx(float(slow))


@given(ROWS, CONDITIONS, SUMMED, st.data())
@settings(max_examples=60)
def test_two_tables_and_sliced_tables_are_answered_by_all_ways_to_put_them_together(
    rows: list[dict[str, Any]], conditions: dict[str, set[Any]], summed: str | None, data: st.DataObject
) -> None:
    """Within a bucket every piece goes with every other; a and b stay together, s is on its own."""
    buckets = np.array([data.draw(st.integers(0, 2)) for _ in rows])
    buckets = np.unique(buckets, return_inverse=True)[1].astype(np.int32)
    table = pa.Table.from_pylist(rows)
    domains, query = domains_of(table), query_of(domains_of(table), conditions, summed)
    slow = Fraction(0)
    for one, other in itertools.product(range(len(rows)), repeat=2):
        if buckets[one] == buckets[other]:
            row = {**rows[one], "s": rows[other]["s"]}
            size = int((buckets == buckets[one]).sum())
            slow += Fraction((1 if summed is None else row[summed]) * meets(row, conditions), size)
    whole = Table(table).with_roles(quasi_identifiers=["a", "b"], sensitive=["s"])
    anatomy = anatomy_view(domains, *anatomy_tables(whole, buckets, Chance(1)).values())
    assert anatomy.answer(query) == pytest.approx(float(slow))
    sliced = slice_table(whole, (("a", "b"), ("s",)), buckets, Chance(2))
    described = pa.table({"column": ["a", "b", "s"], "group": [1, 1, 2]})
    assert sliced_view(domains, sliced, described).answer(query) == pytest.approx(float(slow))


def large_view(seed: int = 3) -> tuple[dict[str, ColumnDomain], ReleaseReader]:
    random = np.random.default_rng(seed)
    table = pa.table(
        {
            "age": random.integers(0, 90, 4000),
            "town": random.choice(list("abcdefghij"), 4000),
            "s": random.choice(list("uvwxyz"), 4000),
        }
    )
    domains = {n: ColumnDomain(encode_column(n, table.column(n))) for n in table.column_names}
    return domains, exact_view(domains, table)


def counts_of(view: ReleaseReader) -> dict[str, Any]:
    return {
        n: np.bincount(cells.words, minlength=view.domains[n].size).astype(float)
        for n, cells in view.cells.items()
    }


@pytest.mark.parametrize("selectivity", [0.02, 0.1, 0.3])
def test_a_workload_lets_about_the_wanted_share_through(selectivity: float) -> None:
    domains, view = large_view()
    queries = Workload(200, selectivity).draw(domains, counts_of(view), ["age", "town"], ["s"])
    shares = [view.answer(WorkloadQuery(query.conditions)) / view.num_rows for query in queries]
    assert selectivity / 1.5 < np.median(shares) < 3 * selectivity  # categories come as they are
    assert all("s" in query.conditions or query.summed == "s" for query in queries)
    assert {query.summed for query in queries} == {None, "age"}
    assert all(query.summed not in query.conditions for query in queries)


def test_the_same_seed_asks_the_same() -> None:
    domains, view = large_view()
    asked = [
        [
            (sorted(q.conditions), q.summed, view.answer(q))
            for q in Workload(30, 0.1, seed).draw(domains, counts_of(view), ["age", "town"], ["s"])
        ]
        for seed in (1, 1, 2)
    ]
    assert asked[0] == asked[1] != asked[2]


def test_the_original_has_no_error_and_an_empty_answer_is_no_disaster() -> None:
    domains, view = large_view()
    queries = Workload(50).draw(domains, counts_of(view), ["age", "town"], ["s"])
    found = AnsweredWorkload.of(view, queries).error(view)
    assert (found.queries, found.median, found.worst_tenth) == (50, 0.0, 0.0)
    nobody = WorkloadQuery({"s": np.zeros(domains["s"].size, dtype=bool)})
    answered = AnsweredWorkload.of(view, [nobody])
    assert answered.scales.tolist() == [4.0], "0.1 % of 4,000 rows is what an error is divided by at least"


def test_impossible_workloads_are_refused() -> None:
    for wrong in ({"queries": 0}, {"selectivity": 0.0}, {"selectivity": 1.5}):
        with pytest.raises(ParameterError):
            Workload(**wrong)
