"""(c,t)-isolation of points, against exhaustive search in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, InputError, ParameterError
from tarnkappe_bench.isolation import isolations

coordinates = st.integers(0, 8).map(lambda n: n / 10)
points = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=8)


def table(rows: list[tuple[float, float]]) -> pa.Table:
    return pa.table({"x": [row[0] for row in rows], "y": [row[1] for row in rows]})


def square_distance(a: tuple[float, float], b: tuple[float, float]) -> Fraction:
    return sum(((Fraction(str(x)) - Fraction(str(y))) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))


@given(people=points, guesses=points, c=st.sampled_from([1, 1.5, 2, 5]), t=st.integers(1, 4))
def test_isolation_is_decided_exactly(
    people: list[tuple[float, float]], guesses: list[tuple[float, float]], c: float, t: int
) -> None:
    found = {i.guess: i for i in isolations(table(people), table(guesses), ["x", "y"], c=c, t=t)}
    for index, guess in enumerate(guesses):
        distances = [square_distance(guess, person) for person in people]
        within = sum(d <= Fraction(str(c)) ** 2 * min(distances) for d in distances)
        assert (index in found) == (within < t)
        if index in found:
            assert found[index].neighbours == within
            assert distances[found[index].row] == min(distances)


def test_who_hides_in_a_crowd_is_not_isolated() -> None:
    crowd = table([(0, 0), (0, 0.1), (0.1, 0), (5, 5)])
    assert [i.row for i in isolations(crowd, table([(0.05, 0.05), (5, 5.1)]), ["x", "y"], c=2, t=3)] == [3]


def test_what_cannot_work_is_refused() -> None:
    people = pa.table({"x": [1.0, None], "name": ["a", "b"]})
    for columns, complaint in (
        (["name"], "numbers"),
        (["x"], "missing"),
        (["z"], "no column"),
        ([], "one column"),
    ):
        with pytest.raises(ColumnError, match=complaint):
            isolations(people, people, columns, c=2, t=2)
    with pytest.raises(ParameterError, match="c of at least 1"):
        isolations(people, people, ["x"], c=0.5, t=2)
    with pytest.raises(InputError, match="at least one row"):
        isolations(table([(1, 1)]).slice(0, 0), table([(1, 1)]), ["x"], c=2, t=2)
