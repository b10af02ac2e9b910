"""Datafly: both published traces, what it must not over-generalize, its weights, its slow twin."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding import Datafly
from tarnkappe.table import Table, read
from tests.conftest import FIXTURES
from tests.recoding.method_tables import Case, cases, k_anonymity

FOLDER = FIXTURES / "release-check"
COLUMNS = ("Nationalitaet", "Geburtsdatum", "Geschlecht", "PLZ")


def people(ninth: str = "13.08.1964") -> Table:
    """Twelve people as text; the birth date of the ninth is printed with another year than it must have."""
    data = read(FOLDER / "f-t6.csv").data
    texts = {name: data.column(name).cast(pa.string()).to_pylist() for name in COLUMNS}
    texts["Geburtsdatum"] = [_as_printed(text) for text in texts["Geburtsdatum"]]
    texts["Geburtsdatum"][8] = ninth
    diagnoses = data.column("Diagnose").to_pylist()
    return Table(pa.table({**texts, "Diagnose": diagnoses})).with_roles(
        quasi_identifiers=COLUMNS, sensitive=["Diagnose"]
    )


def _as_printed(text: str) -> str:
    """Days come first, whatever a reader of files made of them."""
    if "-" not in text:
        return text
    year, month, day = text.split("-")
    return f"{day}.{month}.{year}"


def hierarchies(table: Table) -> dict[str, Hierarchy]:
    """Dates go to the year, then to the decade; postal codes lose one digit a level."""
    rows: dict[str, list[list[str | None]]] = {
        "Nationalitaet": [[v, "*"] for v in ("Österreich", "Italien")],
        "Geschlecht": [[v, "*"] for v in ("männlich", "weiblich")],
        "Geburtsdatum": [
            [v, v[-4:], f"{v[-4:-1]}*", "*"]
            for v in dict.fromkeys(table.data.column("Geburtsdatum").to_pylist())
        ],
        "PLZ": [
            [v, f"{v[:3]}*", f"{v[:2]}**", f"{v[0]}***", "*"]
            for v in dict.fromkeys(table.data.column("PLZ").to_pylist())
        ],
    }
    return {name: Hierarchy.from_rows(own) for name, own in rows.items()}


def published(ninth: str, *, k: int = 2, limit: float = 0.2, **parameters: Any) -> tarnkappe.Result:
    table = people(ninth)
    return tarnkappe.anonymize(
        table,
        privacy=[k_anonymity(k)],
        hierarchies=hierarchies(table),
        algorithm=Datafly(**parameters),
        suppression_limit=limit,
        loss="discernibility",
        shuffle=False,
    )


def test_the_corrected_trace_raises_the_date_and_suppresses_two_rows() -> None:
    result = published("13.08.1964")
    assert result.levels == dict(zip(COLUMNS, (0, 1, 0, 0), strict=True))
    assert result.recoding is not None
    assert result.recoding.steps == ("Geburtsdatum to level 1, as 12 rows stood out",)
    assert [row + 1 for row in result.source_rows.tolist()] == [1, 2, 3, 4, 5, 6, 9, 10, 11, 12]
    released = result.release.data.to_pylist()
    assert [row["Diagnose"] for row in released] == [
        "Ödipus",
        "Alkoholismus",
        "Drogenabhängig",
        "Platzangst",
        "Tablettenabhängig",
        "Alkoholismus",
        "Tablettenabhängig",
        "Manisch Depressiv",
        "Burnout Syndrom",
        "Magersucht",
    ]
    classes = Counter(tuple(row[name] for name in COLUMNS) for row in released)
    assert set(classes.values()) == {2}
    assert classes["Italien", "1967", "männlich", "1080"] == 2  # printed with 1120 and the countries swapped


def test_the_trace_as_printed_goes_on_with_postal_code_and_date() -> None:
    """With 1965 the ninth row is in no class of 1964: four rows stand out, more than k."""
    result = published("13.08.1965")
    assert result.levels == dict(zip(COLUMNS, (0, 2, 0, 2), strict=True))
    assert result.recoding is not None
    assert [step.split(",")[0] for step in result.recoding.steps] == [
        "Geburtsdatum to level 1",
        "PLZ to level 1",
        "PLZ to level 2",
        "Geburtsdatum to level 2",
    ]
    rows = result.release.data.to_pylist()
    assert Counter(tuple(row[name] for name in COLUMNS) for row in rows) == {
        ("Österreich", "196*", "weiblich", "11**"): 4,
        ("Italien", "196*", "männlich", "10**"): 4,
        ("Österreich", "196*", "männlich", "10**"): 2,
    }
    assert sorted(set(range(12)) - set(result.source_rows.tolist())) == [6, 7]


def test_classes_of_exactly_k_rows_are_kept() -> None:
    """The text of the source says "at most k" and would suppress all pairs; its flow chart says "fewer"."""
    assert published("13.08.1964").suppressed == 2


def test_without_a_suppression_limit_nothing_is_suppressed() -> None:
    assert published("13.08.1964", limit=0.0).suppressed == 0


def test_a_table_of_k_rows_is_one_class() -> None:
    result = published("13.08.1964", k=12)
    assert result.state.num_kept == 1
    assert result.release.num_rows == 12


def test_postal_codes_are_not_generalized_further_than_they_have_to_be() -> None:
    """The published result is 1***, though 10** gives the same two classes of four."""
    data = read(FOLDER / "f-t5.csv").data
    codes = [str(code) for code in data.column("PLZ").to_pylist()]
    table = Table(pa.table({"Geschlecht": data.column("Geschlecht"), "PLZ": codes}))
    table = table.with_roles(quasi_identifiers=["Geschlecht", "PLZ"])
    rows = [[v, f"{v[:3]}*", f"{v[:2]}**", f"{v[0]}***", "*"] for v in dict.fromkeys(codes)]
    hierarchy = {"PLZ": Hierarchy.from_rows(rows)}
    found = tarnkappe.anonymize(table, privacy=[k_anonymity(2)], hierarchies=hierarchy, algorithm="datafly")
    assert found.levels == {"Geschlecht": 0, "PLZ": 2}
    assert sorted(found.state.classes.sizes.tolist()) == [4, 4]


def test_a_level_that_merged_nothing_is_taken_back() -> None:
    """The four ages are raised first, to labels of their own; that both sexes became one was enough."""
    data = pa.table({"age": ["1", "3", "5", "7"] * 2, "sex": ["f"] * 4 + ["m"] * 4})
    table = Table(data).with_roles(quasi_identifiers=["age", "sex"])
    ages = Hierarchy.from_rows([[v, f"{v} or more", "*"] for v in ("1", "3", "5", "7")])
    result = tarnkappe.anonymize(
        table,
        privacy=[k_anonymity(2)],
        hierarchies={"age": ages},
        levels={"age": (0, 1)},
        algorithm="datafly",
    )
    assert result.levels == {"age": 0, "sex": 1}
    assert result.recoding is not None
    assert [step.split(",")[0] for step in result.recoding.steps] == [
        "age to level 1",
        "sex to level 1",
        "age back to level 0",
    ]


@given(case=cases(min_rows=2), k=st.integers(1, 3), limit=st.sampled_from([0.0, 0.2, 1.0]))
@settings(max_examples=60)
def test_it_chooses_what_the_twin_chooses(case: Case, k: int, limit: float) -> None:
    try:
        ready = case.prepared([k_anonymity(k)], limit=limit)
    except ParameterError:
        return
    expected = _twin(case, k, min(k, int(limit * len(case.rows) + 1e-9)))
    try:
        found = Datafly().recode(ready.rows, ready.problem)
    except NoSolutionError:
        assert expected is None
        return
    assert found.levels == expected


def _twin(case: Case, k: int, allowed: int) -> dict[str, int] | None:
    levels = dict.fromkeys(case.names, 0)
    while True:
        classes = _classes(case, levels)
        if sum(n for n in classes.values() if n < k) <= allowed:
            break
        free = [name for name in case.names if levels[name] < len(case.levels[name])]
        if not free:
            return None
        number = {
            name: len({_label(case, name, row[name], levels[name]) for row in case.rows}) for name in free
        }
        levels[min(free, key=lambda name: (-number[name], name))] += 1
    for name in sorted(case.names):
        while levels[name] and len(_classes(case, {**levels, name: levels[name] - 1})) == len(classes):
            levels[name] -= 1
    return levels


def _label(case: Case, name: str, value: Any, level: int) -> Any:
    return case.levels[name][level - 1][value] if level else value


def _classes(case: Case, levels: dict[str, int]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(_label(case, n, row[n], levels[n]) for n in case.names) for row in case.rows)


def test_a_column_with_change_weight_0_is_never_changed() -> None:
    result = published("13.08.1965", change_weights={"PLZ": 0.0})
    assert result.levels["PLZ"] == 0
    with pytest.raises(NoSolutionError, match="or let Geburtsdatum, PLZ be changed"):
        published("13.08.1965", change_weights={"Geburtsdatum": 0.0, "PLZ": 0.0})


def test_weights_decide_which_column_is_raised_first() -> None:
    """12 dates count 0.1 each, 4 postal codes 1: the postal code goes first. So does a column that links."""
    for kind in ("change_weights", "linking_weights"):
        result = published("13.08.1964", **{kind: {"Geburtsdatum": 0.1}})
        assert result.recoding is not None
        assert result.recoding.steps[0].startswith("PLZ to level 1")


def test_weights_are_shares_of_known_columns() -> None:
    with pytest.raises(
        ParameterError, match=r"change_weights\.PLZ: at (most 1 is allowed|least 0 is needed)"
    ):
        Datafly(change_weights={"PLZ": 2.0})
    with pytest.raises(ParameterError, match="outliers"):
        Datafly(outliers=-1)
    with pytest.raises(ColumnError, match="no quasi-identifier 'Beruf' to weigh"):
        published("13.08.1964", change_weights={"Beruf": 0.5})


def test_more_outliers_may_be_allowed_within_the_limit() -> None:
    result = published("13.08.1965", limit=0.4, outliers=4)
    assert result.levels == dict(zip(COLUMNS, (0, 1, 0, 0), strict=True))
    assert result.suppressed == 4


def test_every_loss_can_measure_it_since_it_chooses_one_node() -> None:
    table = people()
    result = tarnkappe.anonymize(
        table,
        privacy=[k_anonymity(2)],
        hierarchies=hierarchies(table),
        algorithm="datafly",
        suppression_limit=0.2,
        loss="height",
    )
    assert result.loss == 1
    assert not result.solution.optimal
