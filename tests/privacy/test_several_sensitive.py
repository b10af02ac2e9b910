"""Several sensitive columns: the method, the attack it is against, and the rule that detects it."""

from __future__ import annotations

import csv
from collections import Counter
from math import ceil, floor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, GuaranteeError, InputError, ParameterError
from tarnkappe.privacy.several_sensitive import Rounding, cells_to_suppress, detect, protect_several
from tests.conftest import FIXTURES
from tests.privacy.test_documents import read

SENSITIVE = ("Diagnose", "Medikation")


def one_group(name: str) -> tuple[pa.Table, list[int]]:
    table = read(FIXTURES / "release-check" / f"{name}.csv")
    return table, [7] * table.num_rows


def medications_left(table: pa.Table, excluded: str) -> Counter[str]:
    """What an attacker is left with who can rule out one diagnosis."""
    return Counter(row["Medikation"] for row in table.to_pylist() if row["Diagnose"] != excluded)


def test_excluding_one_diagnosis_discloses_the_medication_only_in_the_corrected_table() -> None:
    printed, corrected = one_group("f-t15")[0], one_group("f-t15b")[0]
    assert medications_left(printed, "Manisch Depressiv") == {"Medikament B": 1, "Medikament C": 2}
    assert medications_left(corrected, "Manisch Depressiv") == {"Medikament C": 2}


@pytest.mark.parametrize("name", ["f-t15", "f-t15b"])
def test_the_rule_detects_both_tables(name: str) -> None:
    table, ids = one_group(name)
    found = detect(table, ids, SENSITIVE, 2)
    assert [detection.model.column for detection in found] == list(SENSITIVE)
    assert [detection.model.given for detection in found] == [("Medikation",), ("Diagnose",)]
    assert all(detection.groups == (7,) for detection in found)


@pytest.mark.parametrize("name", ["f-t15", "f-t15b"])
def test_the_ceiling_protects_both_tables(name: str) -> None:
    table, ids = one_group(name)
    result = protect_several(table, ids, "Diagnose", ["Medikation"], 3)
    assert result.safe
    assert result.suppressed.all()
    assert result.data["Medikation"].to_pylist() == ["*"] * 4
    assert result.data["Diagnose"] == table["Diagnose"]


@pytest.mark.parametrize(("name", "suppressed"), [("f-t15", 0), ("f-t15b", 1)])
def test_the_floor_leaves_values_that_occur_once_and_the_rule_says_so(name: str, suppressed: int) -> None:
    table, ids = one_group(name)
    result = protect_several(table, ids, "Diagnose", ["Medikation"], 3, rounding=Rounding.FLOOR)
    assert result.suppressed.sum() == suppressed
    assert not result.safe
    assert result.detected[0].groups == (7,)


def test_how_many_cells_are_suppressed() -> None:
    path = FIXTURES / "release-check" / "cells-to-suppress.csv"
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter=";"):
            values, rows = int(row["l"]), int(row["rows"])
            assert cells_to_suppress(values, rows, Rounding.FLOOR) == int(row["floor"])
            assert cells_to_suppress(values, rows, Rounding.CEILING) == int(row["ceiling"])


tables = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from("ABC"), st.sampled_from(["x", "y", None]), st.integers(0, 3)
    ),
    max_size=25,
)


@given(rows=tables, values=st.integers(2, 3), rounding=st.sampled_from(Rounding), seed=st.integers(0, 5))
def test_each_main_value_of_a_group_loses_its_share_of_cells_and_nothing_else_changes(
    rows: list[tuple[int, str, str | None, int]], values: int, rounding: Rounding, seed: int
) -> None:
    whole = [*rows, *((group, main, "z", 9) for group in {row[0] for row in rows} for main in "ABC")]
    ids = [row[0] for row in whole]
    table = pa.table(
        {
            "main": [row[1] for row in whole],
            "text": [row[2] for row in whole],
            "number": [row[3] for row in whole],
        },
        schema=pa.schema([("main", pa.string()), ("text", pa.string()), ("number", pa.int64())]),
    )
    if not whole:
        return
    result = protect_several(table, ids, "main", ["text", "number"], values, rounding=rounding, seed=seed)
    again = protect_several(table, ids, "main", ["text", "number"], values, rounding=rounding, seed=seed)
    assert result.data == again.data
    lost = Counter((row[0], row[1]) for row, gone in zip(whole, result.suppressed, strict=True) if gone)
    for key, rows_with_value in Counter((row[0], row[1]) for row in whole).items():
        share = (1 - 1 / values) * rows_with_value
        assert lost[key] == (ceil if rounding is Rounding.CEILING else floor)(round(share, 9))
    for before, after, gone in zip(
        table.to_pylist(), result.data.to_pylist(), result.suppressed, strict=True
    ):
        kept = {"text": before["text"], "number": str(before["number"])}
        assert after == {"main": before["main"], **(dict.fromkeys(kept, "*") if gone else kept)}


def test_without_a_seed_the_choice_differs() -> None:
    table = pa.table({"main": ["A", "B"] * 50, "other": ["x"] * 100})
    choices = {protect_several(table, [0] * 100, "main", ["other"], 2).suppressed.tobytes() for _ in range(3)}
    assert len(choices) == 3


def test_what_cannot_work_is_refused() -> None:
    table = pa.table({"main": ["A", "B", "A"], "other": ["x", "y", "z"]})
    with pytest.raises(GuaranteeError, match="1 group has fewer than 2 values of 'main'"):
        protect_several(table, [0, 0, 1], "main", ["other"], 2)
    with pytest.raises(InputError, match="2 group ids for 3 rows"):
        protect_several(table, [0, 0], "main", ["other"], 2)
    with pytest.raises(ColumnError, match="no column 'third'"):
        protect_several(table, [0, 0, 0], "main", ["third"], 2)
    with pytest.raises(ColumnError, match="twice"):
        protect_several(table, [0, 0, 0], "main", ["main"], 2)
    with pytest.raises(ParameterError, match="other sensitive columns"):
        protect_several(table, [0, 0, 0], "main", [], 2)
    with pytest.raises(ParameterError, match="at least 2"):
        protect_several(table, np.zeros(3), "main", ["other"], 1)
