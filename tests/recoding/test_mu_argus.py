"""mu-ARGUS: its steps, undo, the combinations that the published program tests, and that this is not enough."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.privacy import MODELS
from tarnkappe.recoding import MuArgus
from tarnkappe.recoding.argus import IDENTIFYING, MORE, MOST, ArgusSession, published_combinations
from tarnkappe.table import Table
from tests.recoding.method_tables import Case, cases, k_anonymity

CUBE = tuple("abcd")


def cube() -> Table:
    """The 16 rows of {0,1}^4."""
    rows = list(itertools.product((0, 1), repeat=4))
    data = {name: [row[index] for row in rows] for index, name in enumerate(CUBE)}
    return Table(pa.table(data)).with_roles(quasi_identifiers=CUBE)


def kinds(most: int, more: int, identifying: int) -> dict[str, str]:
    every = [MOST] * most + [MORE] * more + [IDENTIFYING] * identifying
    return {f"{kind[:2]}{index}": kind for index, kind in enumerate(every)}


def kinds_tested(most: int, more: int, identifying: int) -> set[tuple[str, ...]]:
    named = kinds(most, more, identifying)
    return {tuple(sorted(named[name] for name in each)) for each in published_combinations(named)}


def test_the_published_program_tests_these_kinds_and_no_others() -> None:
    i, mo, ms = IDENTIFYING, MORE, MOST
    always = {(i, mo, ms), (i, ms, ms), (ms, ms, ms), (i, mo), (i, ms), (mo, ms), (ms, ms)}
    assert kinds_tested(3, 3, 1) == always
    assert kinds_tested(3, 3, 3) == always | {(mo, mo, ms), (mo, ms, ms), (mo, mo)}
    never = {(i, i), (i, i, i), (i, i, mo), (i, i, ms), (i, mo, mo), (mo, mo, mo)}
    assert not never & kinds_tested(3, 3, 3)
    assert max(map(len, published_combinations(kinds(3, 3, 3)))) == 3


def test_sixteen_different_rows_are_called_safe_and_the_check_of_whole_rows_catches_it() -> None:
    """Every value occurs 8 times, every pair 4 times, every triple twice, every row once."""
    table = cube()
    method = MuArgus(combinations="published", most=("a", "b", "c", "d"))
    ready = ready_for(table)
    assert method.session(ready.rows, ready.problem).unsafe() == ()
    recoding = method.recode(ready.rows, ready.problem)
    assert not recoding.kept.any()  # nothing of it may be released
    with pytest.raises(NoSolutionError, match="mu-argus found no release that meets k-anonymity"):
        tarnkappe.anonymize(table, privacy=[k_anonymity(2)], algorithm=method, loss="loss")
    tried = tarnkappe.anonymize(table, privacy=[k_anonymity(2)], algorithm="mu-argus", loss="loss")
    assert tried.verified[0].value is not None
    assert tried.verified[0].value >= 2


def ready_for(table: Table) -> Any:
    from tarnkappe.job.preparation import prepare
    from tarnkappe.loss import LOSSES

    return prepare(table, {}, [k_anonymity(2)], LOSSES.create("loss", {}))


def slow_outliers(case: Case, session: ArgusSession, k: int) -> dict[tuple[str, ...], tuple[int, int]]:
    """For each combination of columns, how many combinations of values are unsafe, and how many rows."""
    shown = []
    for index, row in enumerate(case.rows):
        cells = {}
        for name in case.names:
            level = session.levels[name]
            label = case.levels[name][level - 1][row[name]] if level else row[name]
            cells[name] = "*suppressed*" if session.suppressed(name)[index] else label
        shown.append(cells)
    found = {}
    for columns in session.combinations:
        visible = [tuple(cells[n] for n in columns) for cells in shown]
        visible = [values for values in visible if "*suppressed*" not in values]
        small = [n for n in Counter(visible).values() if n < k]
        if small:
            found[columns] = (len(small), sum(small))
    return found


@given(case=cases(min_rows=2), k=st.integers(1, 4), data=st.data())
@settings(max_examples=60)
def test_a_session_counts_as_the_slow_twin_does_at_every_step(
    case: Case, k: int, data: st.DataObject
) -> None:
    ready = case.prepared([k_anonymity(1)])
    session = ArgusSession(ready.rows, case.names, k=k)

    def agrees() -> bool:
        found = {each.columns: (each.combinations, each.rows) for each in session.unsafe()}
        return found == slow_outliers(case, session, k)

    assert agrees()
    first = (dict(session.levels), session.unsafe())
    steps = 0
    for _ in range(data.draw(st.integers(0, 3))):
        name = data.draw(st.sampled_from(case.names))
        if session.levels[name] < len(case.levels[name]):
            session.recode(name)
            steps += 1
            assert agrees()
    session.suppress()
    assert session.unsafe() == ()
    assert slow_outliers(case, session, k) == {}
    for _ in range(steps + 1):
        session.undo()
    assert (session.levels, session.unsafe()) == first
    with pytest.raises(ParameterError, match="nothing to undo"):
        session.undo()


@given(case=cases(min_rows=2), k=st.integers(2, 3))
@settings(max_examples=40)
def test_suppression_takes_the_cell_that_is_in_most_unsafe_combinations(case: Case, k: int) -> None:
    ready = case.prepared([k_anonymity(1)])
    session = ArgusSession(ready.rows, case.names, k=k)
    votes = np.zeros((len(case.rows), len(case.names)), int)
    for columns in session.combinations:
        values = [tuple(row[n] for n in columns) for row in case.rows]
        counts = Counter(values)
        for index, own in enumerate(values):
            if counts[own] < k:
                votes[index, [case.names.index(n) for n in columns]] += 1
    session.suppress()
    order = sorted(range(len(case.names)), key=case.names.__getitem__)
    for index, own in enumerate(votes):
        if own.any():
            first = max(order, key=lambda column: (own[column], -order.index(column)))
            assert session.suppressed(case.names[first])[index]


def test_the_data_holder_recodes_what_is_proposed_and_takes_it_back() -> None:
    data = pa.table({"town": ["Ulm", "Ulm", "Wels", "Graz"], "sex": ["f", "f", "m", "m"]})
    table = Table(data).with_roles(quasi_identifiers=["town", "sex"])
    ready = ready_for(table)
    session = MuArgus().session(ready.rows, ready.problem)
    assert session.proposal() == "town"
    session.recode("town")
    assert session.unsafe() == ()
    assert session.proposal() is None
    with pytest.raises(ParameterError, match="'town' is at its highest level"):
        session.recode("town")
    with pytest.raises(ColumnError, match="'age' is no quasi-identifier"):
        session.recode("age")
    session.undo()
    assert session.levels == {"town": 0, "sex": 0}
    assert session.suppress() == 2
    assert session.written()["town"].rows(0, 4).to_pylist() == ["Ulm", "Ulm", "*", "*"]


def test_a_table_is_recoded_before_much_is_suppressed() -> None:
    """With a share of 1 nothing is recoded but for rare values; with 0 everything unsafe is."""
    rng = np.random.default_rng(3)
    data = {"age": rng.integers(20, 60, 400), "town": rng.choice(["A", "B", "C"], 400)}
    table = Table(pa.table(data)).with_roles(quasi_identifiers=["age", "town"])

    def stars(share: float) -> int:
        result = tarnkappe.anonymize(
            table, privacy=[k_anonymity(3)], algorithm=MuArgus(unsafe_share=share), loss="loss"
        )
        return sum(row[name] == "*" for row in result.release.data.to_pylist() for name in data)

    assert stars(0.0) < stars(1.0)


def test_models_beyond_k_are_kept_too() -> None:
    rng = np.random.default_rng(5)
    data = {
        "age": rng.integers(20, 30, 200),
        "town": rng.choice(["A", "B", "C"], 200),
        "illness": rng.choice(["flu", "cold", "ulcer"], 200, p=[0.8, 0.1, 0.1]),
    }
    table = Table(pa.table(data)).with_roles(quasi_identifiers=["age", "town"], sensitive=["illness"])
    diverse = MODELS.create("distinct-diversity", {"column": "illness", "l": 2})
    result = tarnkappe.anonymize(table, privacy=[diverse], algorithm="mu-argus", loss="loss")
    assert result.verified[0].holds
    assert result.suppressed == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"combinations": "some"}, "combinations: one of all, published is needed, not 'some'"),
        ({"unsafe_share": 2.0}, "unsafe_share: at most 1 is allowed"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        MuArgus(**parameters)


def test_what_it_cannot_do_is_refused() -> None:
    table = cube()
    with pytest.raises(
        ParameterError, match="nobody can tell how a member of the population would be written"
    ):
        tarnkappe.anonymize(
            table, privacy=[k_anonymity(2)], algorithm="mu-argus", loss="loss", population=Table(table.data)
        )
    with pytest.raises(ParameterError, match="'a' cannot be kept at level 0"):
        tarnkappe.anonymize(
            table, privacy=[k_anonymity(2)], algorithm="mu-argus", loss="loss", levels={"a": (0, 0)}
        )
    with pytest.raises(ColumnError, match="'e' is no quasi-identifier"):
        tarnkappe.anonymize(table, privacy=[k_anonymity(2)], algorithm=MuArgus(most=("e",)), loss="loss")
