"""MinGen finds what trying every generalization of every cell finds."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, KAnonymity
from tarnkappe.recoding import MinGen
from tarnkappe.recoding.mingen import MOST_ROWS, most_precise, search_space
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import encode_column
from tests.conftest import FIXTURES
from tests.random_tables import build_levels

F_T4 = json.loads((FIXTURES / "release-check" / "f-t4.json").read_text(encoding="utf-8"))
Maps = dict[str, list[dict[Any, str]]]


def rows_of(rows: list[dict[str, Any]], maps: Maps) -> Tuples:
    columns = [encode_column(name, pa.chunked_array([[row[name] for row in rows]])) for name in maps]
    return Tuples.of_rows(column.with_levels(build_levels(column, maps[column.name])) for column in columns)


def problem_of(tuples: Tuples, k: int, **asked: Any) -> SearchProblem:
    return SearchProblem(
        tuples.distinct(), tuple(tuples.columns), (KAnonymity(k),), LOSSES.create("loss", {}), **asked
    )


def label(maps: Maps, name: str, value: Any, level: int) -> str:
    return str(value) if level == 0 else maps[name][level - 1][value]


def precision(maps: Maps, levels: list[tuple[int, ...]]) -> Fraction:
    shares = [
        Fraction(level, len(maps[name])) for row in levels for name, level in zip(maps, row, strict=True)
    ]
    return 1 - sum(shares, Fraction(0)) / len(shares)


def is_k_anonymous(rows: list[dict[str, Any]], maps: Maps, levels: Any, k: int) -> bool:
    written = [
        tuple((level, label(maps, name, row[name], level)) for name, level in zip(maps, own, strict=True))
        for row, own in zip(rows, levels, strict=True)
    ]
    return min(Counter(written).values()) >= k


# ------------------------------------------------------------------ the worked table


def f_t4(heights: list[int]) -> tuple[list[dict[str, Any]], Maps]:
    rows = [dict(zip(F_T4["columns"], row, strict=True)) for row in F_T4["rows"]]
    dates, zips = {row["date"] for row in rows}, {row["zip"] for row in rows}
    races, genders = ({row[name] for row in rows} for name in ("race", "gender"))
    date_levels = [
        {date: date[:7] for date in dates},
        {date: date[:4] for date in dates},
        {date: f"{int(date[:4]) // 5 * 5}+4" for date in dates},
        {date: f"{date[:3]}x" for date in dates},
        dict.fromkeys(dates, "*"),
    ]
    maps: Maps = {
        "race": [dict.fromkeys(races, "person"), dict.fromkeys(races, "*")][: heights[0]],
        "date": date_levels,
        "gender": [dict.fromkeys(genders, "any"), dict.fromkeys(genders, "*")][: heights[2]],
        "zip": [{code: code[: 5 - level] + "*" * level for code in zips} for level in range(1, 6)],
    }
    assert [len(levels) for levels in maps.values()] == heights
    return rows, maps


@pytest.mark.parametrize("expected", F_T4["optima"], ids=lambda e: "-".join(map(str, e["heights"])))
def test_the_optima_of_the_worked_table(expected: dict[str, Any]) -> None:
    rows, maps = f_t4(expected["heights"])
    tuples = rows_of(rows, maps)
    levels, _ = most_precise([tuples.columns[name] for name in maps], 2)
    found = [tuple(row) for row in levels.tolist()]
    assert is_k_anonymous(rows, maps, found, 2)
    assert float(precision(maps, found)) == pytest.approx(expected["optimum"], abs=5e-5)


@pytest.mark.parametrize("expected", F_T4["optima"], ids=lambda e: "-".join(map(str, e["heights"])))
def test_the_printed_table_is_2_anonymous_but_neither_optimal_nor_of_precision_0_90(
    expected: dict[str, Any],
) -> None:
    rows, maps = f_t4(expected["heights"])
    printed = [tuple(row) for row in F_T4["printed"]["levels"]]
    assert is_k_anonymous(rows, maps, printed, 2)
    measured = float(precision(maps, printed))
    assert measured == pytest.approx(expected["of_printed"], abs=5e-5)
    assert measured < expected["optimum"]
    assert abs(measured - F_T4["printed"]["precision"]) > 0.05


def test_the_size_of_the_search_space() -> None:
    assert search_space([1, 1, 2], 1) == "12"
    assert search_space([1, 1, 2], 6) == "2,985,984"


# ------------------------------------------------------------------ brute force


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[dict[str, Any]], Maps]:
    names = ["a", "b"][: draw(st.integers(1, 2))]
    maps: Maps = {}
    for name in names:
        values = [f"{name}{n}" for n in range(draw(st.integers(2, 4)))]
        halves = {value: f"{name}:{draw(st.integers(0, 1))}" for value in values}
        maps[name] = [halves, dict.fromkeys(values, "*")][draw(st.integers(0, 1)) :]
    row = st.fixed_dictionaries({name: st.sampled_from(list(maps[name][0])) for name in names})
    return draw(st.lists(row, min_size=2, max_size=4 if len(names) == 2 else 5)), maps


@given(table=tables(), k=st.integers(1, 3))
@settings(max_examples=100)
def test_it_is_as_precise_as_the_best_of_all_generalizations_of_all_cells(table: Any, k: int) -> None:
    rows, maps = table
    assume(k <= len(rows))
    of_a_row = list(itertools.product(*(range(len(levels) + 1) for levels in maps.values())))
    best = max(
        precision(maps, list(levels))
        for levels in itertools.product(of_a_row, repeat=len(rows))
        if is_k_anonymous(rows, maps, levels, k)
    )
    tuples = rows_of(rows, maps)
    levels, groups = most_precise([tuples.columns[name] for name in maps], k)
    found = [tuple(row) for row in levels.tolist()]
    assert is_k_anonymous(rows, maps, found, k)
    assert precision(maps, found) == best
    assert 1 <= groups <= len(rows) // k


def every_partition(rows: list[int]) -> Any:
    if not rows:
        yield []
        return
    first, *others = rows
    for number in range(len(others) + 1):
        for group in itertools.combinations(others, number):
            rest = [row for row in others if row not in group]
            for partition in every_partition(rest):
                yield [(first, *group), *partition]


@given(
    rows=st.lists(
        st.fixed_dictionaries({n: st.sampled_from([f"{n}{i}" for i in range(4)]) for n in "abc"}),
        min_size=2,
        max_size=7,
    ),
    k=st.integers(1, 4),
)
@settings(max_examples=40)
def test_the_groups_are_the_best_of_all_partitions_and_ties_go_to_the_preferred_columns(
    rows: list[dict[str, str]], k: int
) -> None:
    assume(k <= len(rows))
    maps: Maps = {
        n: [{f"{n}{i}": f"{n}:{i // 2}" for i in range(4)}, {f"{n}{i}": "*" for i in range(4)}] for n in "abc"
    }
    best = min(
        (sum(own), own)
        for groups in every_partition(list(range(len(rows))))
        if min(map(len, groups)) >= k
        for own in [
            tuple(
                sum(
                    len(group)
                    * next(at for at in range(3) if len({label(maps, n, rows[i][n], at) for i in group}) == 1)
                    for group in groups
                )
                for n in "abc"
            )
        ]
    )
    tuples = rows_of(rows, maps)
    levels, _ = most_precise([tuples.columns[name] for name in maps], k)
    assert (int(levels.sum()), tuple(levels.sum(axis=0).tolist())) == best


def test_preferred_columns_come_first_in_ties() -> None:
    rows = [{"a": x, "b": y} for x in ("1", "2") for y in ("1", "2")]
    maps: Maps = {name: [dict.fromkeys(("1", "2"), "*")] for name in "ab"}
    tuples = rows_of(rows, maps)
    for preferred, other in (("a", "b"), ("b", "a")):
        found = MinGen(prefer=(preferred,)).recode(tuples, problem_of(tuples, 2))
        assert sorted(found.written[preferred].labels) == ["1", "2"]
        assert found.written[other].labels == ("*",)


def test_rows_in_another_order_are_written_the_same() -> None:
    rows, maps = f_t4([1, 5, 1, 5])
    tuples = rows_of(rows, maps)
    backwards = rows_of(rows[::-1], maps)
    one, other = (MinGen().recode(own, problem_of(own, 2)) for own in (tuples, backwards))
    for name in maps:
        words = [one.written[name].labels[code] for code in one.written[name].codes]
        others = [other.written[name].labels[code] for code in other.written[name].codes]
        assert words == others[::-1]
    assert "precision 0.8333, the greatest possible" in one.steps[1]


# ------------------------------------------------------------------ refusals


def test_a_table_that_is_too_large_is_refused_with_the_number_of_generalizations() -> None:
    maps: Maps = {"a": [{"x": "*", "y": "*"}]}
    tuples = rows_of([{"a": "xy"[n % 2]} for n in range(MOST_ROWS + 1)], maps)
    with pytest.raises(ParameterError, match=r"131,072 generalizations of 17 rows"):
        MinGen().recode(tuples, problem_of(tuples, 2))
    many = rows_of([{"a": "xy"[n % 2]} for n in range(1000)], maps)
    with pytest.raises(ParameterError, match=r"10\^301 generalizations"):
        MinGen().recode(many, problem_of(many, 2))


def test_the_largest_table_that_it_takes() -> None:
    random = np.random.default_rng(1)
    maps: Maps = {
        n: [{str(i): str(i // 2) for i in range(4)}, {str(i): "*" for i in range(4)}] for n in "abcd"
    }
    tuples = rows_of([{n: str(random.integers(4)) for n in maps} for _ in range(MOST_ROWS)], maps)
    found = MinGen().recode(tuples, problem_of(tuples, 3))
    assert found.kept.all()


def test_other_models_and_unknown_columns_are_refused() -> None:
    rows, maps = f_t4([1, 5, 1, 5])
    tuples = rows_of(rows, maps)
    problem = problem_of(tuples, 2)
    with pytest.raises(ColumnError, match="'age' is no quasi-identifier"):
        MinGen(prefer=("age",)).recode(tuples, problem)
    diverse = MODELS.create("distinct-diversity", {"column": "zip", "l": 2})
    other = SearchProblem(tuples.distinct(), ("race",), (diverse,), LOSSES.create("loss", {}))
    with pytest.raises(ParameterError, match="promises k-anonymity only"):
        MinGen().recode(tuples, other)


def test_equal_tables_need_nothing() -> None:
    maps: Maps = {"a": [{"x": "*", "y": "*"}]}
    tuples = rows_of([{"a": value} for value in "xxyyx"], maps)
    found = MinGen().recode(tuples, problem_of(tuples, 2))
    assert found.written["a"].labels == ("x", "y"), (
        "with |PT| >= k and all classes large enough, PT is its own best"
    )
