"""Mondrian: the published tables, the slow twin, the bounds on regions, what it must refuse."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.job.preparation import Preparation
from tarnkappe.privacy import MODELS, Model
from tarnkappe.recoding import Mondrian
from tarnkappe.recoding.labels import LabelReader
from tarnkappe.table import Table, read
from tarnkappe_bench.adult import read_adult
from tests.conftest import FIXTURES
from tests.recoding import mondrian_twin as twin
from tests.recoding.method_tables import Case, as_text, cases, k_anonymity

PATIENTS = FIXTURES / "release-check" / "f-t10.csv"
MODES = ("strict", "relaxed", "fallback")


def patients() -> Table:
    """Six patients: age and zip code are numbers, sex is not."""
    return read(PATIENTS).with_roles(quasi_identifiers=["Age", "Sex", "Zipcode"], sensitive=["Disease"])


def published(k: int = 2, names: list[str] | None = None, **parameters: Any) -> tarnkappe.Result:
    table = patients()
    if names is not None:
        table = Table(table.data.select(["#", *names, "Disease"])).with_roles(quasi_identifiers=names)
    return tarnkappe.anonymize(
        table,
        privacy=[k_anonymity(k)],
        loss="discernibility",
        algorithm=Mondrian(**parameters),
        shuffle=False,
    )


def cells(result: tarnkappe.Result) -> list[tuple[str, ...]]:
    names = result.input.quasi_identifiers
    return [tuple(str(row[name]) for name in names) for row in result.release.data.to_pylist()]


@pytest.mark.parametrize("first", ["Sex", "Zipcode"])
def test_six_patients_with_sex_or_zip_code_first_are_the_published_table(first: str) -> None:
    result = published(prefer=[first])
    assert cells(result) == [
        ("[25, 26]", "Male", "53711"),
        ("[25, 27]", "Female", "53712"),
        ("[25, 26]", "Male", "53711"),
        ("[27, 28]", "Male", "[53710, 53711]"),
        ("[25, 27]", "Female", "53712"),
        ("[27, 28]", "Male", "[53710, 53711]"),
    ]
    assert result.loss == 12


def test_six_patients_with_age_first_lose_more() -> None:
    """All three dimensions are equally wide: the order of equals decides."""
    result = published(prefer=["Age"])
    assert result.loss == 18
    assert sorted(Counter(cells(result)).values()) == [3, 3]
    assert cells(published()) == cells(result)  # alphabetical


def test_zip_codes_alone_have_no_strict_cut_and_the_published_relaxed_one_is_corrected() -> None:
    """1|5 and 4|2 rows leave fewer than 3 on a side. The source puts row 2 (53712) into [53710-53711]."""
    strict = published(3, ["Zipcode"])
    assert set(cells(strict)) == {("[53710, 53712]",)}
    for mode in ("relaxed", "fallback"):
        relaxed = published(3, ["Zipcode"], mode=mode)
        low, high = "[53710, 53711]", "[53711, 53712]"
        assert Counter(cells(relaxed)) == {(low,): 3, (high,): 3}
        assert [cells(relaxed)[row - 1] for row in (4, 2, 5)] == [(low,), (high,), (high,)]
        assert relaxed.loss == 18


def test_twelve_patients_are_made_4_anonymous_and_3_diverse() -> None:
    """l-diversity decides which cuts are allowed, as k-anonymity does; the published table has l = 3 too."""
    table = read(FIXTURES / "release-check" / "f-t1.csv")
    table = table.with_roles(quasi_identifiers=["PLZ", "Alter", "Nationalitaet"], sensitive=["Diagnose"])
    diverse = MODELS.create("distinct-diversity", {"column": "Diagnose", "l": 3})
    result = tarnkappe.anonymize(
        table, privacy=[k_anonymity(4), diverse], algorithm="mondrian", loss="discernibility"
    )
    assert [found.holds for found in result.verified] == [True, True]
    assert result.loss <= 144  # that of one class
    alone = tarnkappe.anonymize(table, privacy=[k_anonymity(4)], algorithm="mondrian", loss="discernibility")
    assert alone.loss == 72  # halves of six; the published table has three classes of four, 48
    assert alone.loss <= result.loss


def test_adult_loses_a_tenth_of_what_the_best_node_loses(adult: Path) -> None:
    data = read_adult(adult)
    table = data.table.with_roles(quasi_identifiers=list(data.table.column_names))
    settings = {"privacy": [k_anonymity(5)], "hierarchies": data.hierarchies, "loss": "loss"}
    cut, node = (tarnkappe.anonymize(table, algorithm=name, **settings) for name in ("mondrian", "auto"))
    assert cut.verified[0].value == 5
    assert cut.loss < 0.11 * node.loss
    assert cut.suppressed == 0


def test_a_cut_may_exist_below_the_size_that_guarantees_one() -> None:
    """(0,0) and (1,1), twice each: 4 rows are not more than 2·2·(2 - 1) + 2 = 6."""
    table = Table(pa.table({"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]})).with_roles(quasi_identifiers=["x", "y"])
    result = tarnkappe.anonymize(table, privacy=[k_anonymity(2)], algorithm="mondrian", loss="loss")
    assert result.state.num_kept == 2
    assert result.loss == 0


def prepared(case: Case, models: list[Model]) -> Preparation | None:
    try:
        return case.prepared(models)
    except ParameterError:  # k is larger than the table, or there are too few diseases
        return None


@given(
    case=cases(max_rows=20),
    mode=st.sampled_from(MODES),
    k=st.integers(1, 4),
    diverse=st.booleans(),
    prefer=st.sampled_from([[], ["town"], ["weight", "age"]]),
    categorical=st.booleans(),
)
@settings(max_examples=100)
def test_every_row_is_written_as_the_twin_writes_it(
    case: Case, mode: str, k: int, diverse: bool, prefer: list[str], categorical: bool
) -> None:
    models = [k_anonymity(k)]
    if diverse:
        models.append(MODELS.create("distinct-diversity", {"column": "disease", "l": 2}))
    ready = prepared(case, models)
    if ready is None:
        return
    prefer = [name for name in prefer if name in case.names]
    as_labels = [name for name in case.names if name == "age" and categorical]
    method = Mondrian(mode=mode, prefer=tuple(prefer), categorical=tuple(as_labels))

    def good(region: twin.Region) -> bool:
        kinds = {case.rows[row]["disease"] for row in region}
        return len(region) >= k and (len(kinds) >= 2 or not diverse)

    columns = [
        twin.Column(
            name,
            [row[name] for row in case.rows],
            case.levels[name] if name in ("town", "work", *as_labels) else None,
        )
        for name in case.names
    ]
    expected = twin.release(columns, twin.regions(columns, good, mode, prefer))
    try:
        recoding = method.recode(ready.rows, ready.problem)
    except NoSolutionError:
        assert not good(list(range(len(case.rows))))
        return
    for name, written in recoding.written.items():
        found = [None if v is None else as_text(v) for v in written.rows(0, len(case.rows)).to_pylist()]
        assert found == [_shown(row[name]) for row in expected]


def _shown(text: str | None) -> str | None:
    """Numbers of the twin as the project shows them."""
    return None if text is None else text.replace(".0", "")


@given(case=cases(min_rows=6, max_rows=40, max_columns=1, missing=False), k=st.integers(1, 5))
@settings(max_examples=60)
def test_strict_regions_of_numbers_are_no_larger_than_proven(case: Case, k: int) -> None:
    """At most 2·d·(k - 1) + m rows, m being the most copies of one point (corollary of the cut condition)."""
    rows = [{**row, "weight": [0.5, 1.0, 7.25, -3.0][row["income"] // 150]} for row in case.rows]
    levels = {**case.levels, "weight": [dict.fromkeys([0.5, 1.0, 7.25, -3.0], "*")]}
    ready = prepared(Case(rows, levels), [k_anonymity(k)])
    if ready is None:
        return
    state = ready_state(ready, Mondrian())
    most = max(Counter((row["age"], row["weight"]) for row in rows).values())
    assert max(state) <= max(2 * 2 * (k - 1) + most, 1)


def ready_state(ready: Preparation, method: Mondrian) -> list[int]:
    written = method.recode(ready.rows, ready.problem).written
    return list(Counter(zip(*(own.codes.tolist() for own in written.values()), strict=True)).values())


@given(case=cases(min_rows=6, max_rows=40), k=st.integers(1, 5))
@settings(max_examples=60)
def test_relaxed_regions_have_k_to_2k_minus_1_rows_unless_all_are_equal(case: Case, k: int) -> None:
    ready = prepared(case, [k_anonymity(k)])
    if ready is None:
        return
    columns = [
        twin.Column(n, [row[n] for row in case.rows], case.levels[n] if n in ("town", "work") else None)
        for n in case.names
    ]
    found = twin.regions(columns, lambda region: len(region) >= k, "relaxed")
    for region in found:
        different = {tuple(case.rows[row][name] for name in case.names) for row in region}
        assert k <= len(region) <= 2 * k - 1 or len(different) == 1


@given(case=cases(min_rows=4), mode=st.sampled_from(MODES), k=st.integers(1, 3))
@settings(max_examples=40)
def test_every_cell_covers_the_value_of_its_row(case: Case, mode: str, k: int) -> None:
    ready = prepared(case, [k_anonymity(k)])
    if ready is None:
        return
    for name, written in Mondrian(mode=mode).recode(ready.rows, ready.problem).written.items():
        reader = LabelReader(ready.rows.columns[name])
        for code, word in zip(
            ready.rows.columns[name].codes.tolist(),
            np.array(written.labels)[written.codes].tolist(),
            strict=True,
        ):
            meaning = reader.meaning(word)
            assert meaning is not None
            assert code in meaning


def test_cores_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    data = pa.table(
        {"x": rng.integers(0, 50, 3000), "y": rng.integers(0, 7, 3000), "z": rng.integers(0, 900, 3000)}
    )
    table = Table(data).with_roles(quasi_identifiers=["x", "y", "z"])

    def run() -> list[dict[str, Any]]:
        result = tarnkappe.anonymize(
            table, privacy=[k_anonymity(3)], algorithm="mondrian", loss="loss", shuffle=False
        )
        return result.release.data.to_pylist()

    alone = run()
    monkeypatch.setattr("tarnkappe.recoding.mondrian_regions.WORTH_A_THREAD", 10)
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert run() == alone


def test_out_of_time_it_shows_the_regions_made_so_far() -> None:
    rng = np.random.default_rng(7)
    data = pa.table({"x": rng.integers(0, 50, 3000), "y": rng.integers(0, 900, 3000)})
    table = Table(data).with_roles(quasi_identifiers=["x", "y"])
    result = tarnkappe.anonymize(
        table, privacy=[k_anonymity(3)], algorithm=Mondrian(seconds=1e-9), loss="loss"
    )
    assert result.solution.stopped == "out of time"
    assert result.state.num_kept == 1


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"mode": "loose"}, "mode: one of strict, relaxed, fallback is needed, not 'loose'"),
        ({"seconds": 0.0}, "seconds: a number above 0 is needed, not 0"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Mondrian(**parameters)


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(ColumnError, match="'Disease' is no quasi-identifier"):
        published(prefer=["Disease"])


def test_members_of_the_population_are_in_the_regions_that_they_would_be_in() -> None:
    """An attacker knows all 60 people of a town, of whom two thirds are in the table."""
    everyone = Table(pa.table({"age": list(range(20, 80)), "sex": ["f", "m"] * 30}))
    table = Table(everyone.data.filter(pa.array([i % 2 == 1 or i % 3 == 0 for i in range(60)])))
    table = table.with_roles(quasi_identifiers=["age", "sex"])
    presence = MODELS.create("delta-presence", {"minimum": 0.3, "maximum": 0.8})
    result = tarnkappe.anonymize(
        table, privacy=[presence], algorithm="mondrian", population=everyone, loss="loss", shuffle=False
    )
    assert result.state.num_kept > 2
    assert result.population is not None
    regions = Counter(tuple(row.values()) for row in result.population.data.to_pylist())
    released = Counter(tuple(row.values()) for row in result.release.data.to_pylist())
    assert set(regions) == set(released)
    assert all(0.3 <= released[region] / number <= 0.8 for region, number in regions.items())


@pytest.mark.parametrize("mode", ["relaxed", "fallback"])
def test_relaxed_regions_cannot_place_a_population(mode: str) -> None:
    table = Table(pa.table({"x": [1, 2, 3, 4]})).with_roles(quasi_identifiers=["x"])
    everyone = Table(pa.table({"x": [1, 2, 3, 4, 5, 6]}))
    with pytest.raises(ParameterError, match="nobody can tell where a member of the population belongs"):
        tarnkappe.anonymize(
            table, privacy=[k_anonymity(2)], algorithm=Mondrian(mode=mode), population=everyone, loss="loss"
        )
