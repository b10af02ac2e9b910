"""Histories of requests at made-up hospitals: most leave, little is lost, and coming and going changes little."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from tarnkappe.exchange import Anchor
from tarnkappe.exchange.statistics.example import patients
from tarnkappe.state import Store
from tarnkappe_bench.exchange_history import KNOWN, ask, ask_all, desk_of, selections, summary, width, year


def test_a_label_loses_what_it_leaves_open() -> None:
    ages, sexes = [0, 30, 50, 100], ["M", "W", "M"]
    assert [width(word, ages) for word in ("30", "[0, 50]", "0-9", "*")] == [0.0, 0.5, 0.09, 1.0]
    assert [width(word, sexes) for word in ("M", "{M, W}", "*", "nobody knows")] == [0.0, 1.0, 1.0, 0.5]


def test_the_requests_are_the_same_for_everybody_who_draws_them() -> None:
    table = patients(5000, 1)
    drawn = list(selections(table, 1))
    assert drawn == list(selections(table, 1))
    assert len(drawn) == 40
    assert all(2 <= len([name for name in names if name in KNOWN]) <= 4 for _, names in drawn)
    assert sum("alcoholism" in anchor.values for anchor, _ in drawn) == 2


def test_what_a_package_loses_is_counted_cell_by_cell() -> None:
    table = patients(600, 3)
    anchor = Anchor("diagnosis", ("back pain",))
    asked = ask(desk_of(table, Store.in_memory()), table, "1", anchor, ("age", "sex"))
    assert asked.found.package is not None
    rows = asked.found.package.release.data.select(["age", "sex"]).to_pylist()
    selected = Counter(table.column("diagnosis").to_pylist())["back pain"]
    ages = table.column("age").to_pylist()
    cells = [width(row["age"], ages) + width(row["sex"], ["M", "W"]) for row in rows]
    assert asked.loss == pytest.approx((sum(cells) + 2 * (selected - len(rows))) / (2 * selected))
    assert 0 < asked.loss < 1


def test_every_question_of_a_small_hospital_leaves_and_so_does_the_first_one_again() -> None:
    table, store = patients(900, 4), Store.in_memory()
    values = ("hypertension", "diabetes", "back pain")
    asked = [
        ask(desk_of(table, store), table, value, Anchor("diagnosis", (value,)), ("age", "sex", "weight"))
        for value in values
    ]
    found = summary(asked)
    assert (found["eligible"], found["left"], found["refused"]) == (3, 3, [])
    again = ask(
        desk_of(table, store), table, "again", Anchor("diagnosis", values[:1]), ("age", "sex", "weight")
    )
    first = asked[0].found.package
    assert first is not None
    assert again.found.package is not None
    assert rows_of(again.found.package.release.data) == rows_of(first.release.data)
    assert again.loss == pytest.approx(asked[0].loss)  # the rows come in another order


def rows_of(data: pa.Table) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(column.to_pylist() for column in data.columns), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_but_one_of_the_requests_leave_and_a_quarter_is_lost_at_most(seed: int) -> None:
    found = summary(list(ask_all(5000, seed)))
    assert found["left"] >= found["eligible"] - 1, found["refused"]
    assert found["conspicuous_left"] == 0
    assert found["loss"] <= 0.25


@pytest.mark.slow
def test_after_a_year_97_of_100_rows_are_available() -> None:
    found = year()
    assert found["answered"] == found["asked"]
    assert found["share"] >= 0.97
