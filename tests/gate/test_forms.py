"""How answers look: generalized, permuted, Anatomy. The worked examples, and that no form links anybody."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from tarnkappe.gate.answer import Block
from tarnkappe.gate.forms import rows_shown
from tarnkappe.gate.question import AnswerRows
from tarnkappe.gate.source import SelectedPeople
from tests.conftest import FIXTURES
from tests.gate.clinic import ALL, RUNNING, between, keeper, policy, write

TYPES = {"age": "integer", "zip": "text", "sex": "text", "disease": "text", "pay": "integer"}
PEOPLE = SelectedPeople(
    tuple(row[0] for row in RUNNING[:4]),
    {name: tuple(row[place] for row in RUNNING[:4]) for place, name in ((1, "age"), (2, "zip"), (3, "sex"))},
    {},
)
NAMED = ["a", "b", "c", "d"]
REAL = Block(tuple(NAMED), ("Asthma", "Asthma", "Bronchitis", "Cholera"))


def shown(
    form: str, folder: Path, blocks: tuple[Block, ...] = (REAL,), order: bytes = b"1", **more: object
) -> AnswerRows:
    return rows_shown(
        policy(folder, two=True, answer={"form": form}),
        TYPES,
        ALL,
        PEOPLE,
        NAMED,
        {"disease": blocks, **more},
        order,
    )  # type: ignore[arg-type]


def test_the_running_example_generalized(tmp_path: Path) -> None:
    """Ages 20 to 22 of F3.1: four rows (20–22, 1****, *)."""
    rows = shown("generalized", tmp_path)
    assert rows.types == ("text", "text", "text", "text")
    assert {row[:3] for row in rows.rows} == {("20–22", "1****", "*")}
    assert sorted(row[3] for row in rows.rows) == list(REAL.values)


def test_the_running_example_permuted(tmp_path: Path) -> None:
    rows = shown("permuted", tmp_path)
    assert sorted(row[:3] for row in rows.rows) == sorted(row[1:4] for row in RUNNING[:4])
    assert sorted(row[3] for row in rows.rows) == list(REAL.values)
    assert len({shown("permuted", tmp_path, order=bytes([i])).rows for i in range(20)}) > 5


def test_the_running_example_as_anatomy(tmp_path: Path) -> None:
    rows = shown("anatomy", tmp_path)
    assert sorted(row[:3] for row in rows.rows) == sorted(row[1:4] for row in RUNNING[:4])
    lists = {row[3] for row in rows.rows}
    assert len(lists) == 1
    assert json.loads(lists.pop()) == {"Asthma": 2, "Bronchitis": 1, "Cholera": 1}


def test_three_groups_as_anatomy_and_permuted(tmp_path: Path) -> None:
    """F2.4: exact quasi-identifiers, and the values of each group with their numbers (E1: Clive has Diabetes)."""
    with (FIXTURES / "query-model" / "f2.1.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file, delimiter=";"))
    groups = [table[:3], table[3:7], table[7:]]
    blocks = tuple(Block(tuple(r["name"] for r in g), tuple(r["disease"] for r in g)) for g in groups)
    named = [row["name"] for row in table]
    people = SelectedPeople(
        tuple(named), {name: tuple(row[name] for row in table) for name in ("age", "zip", "sex")}, {}
    )
    counted = {}
    for form in ("anatomy", "permuted"):
        chosen = policy(tmp_path, answer={"form": form})
        rows = rows_shown(chosen, TYPES, ALL, people, named, {"disease": blocks}, b"1").rows
        own = {row[:3]: row[3] for row in rows}
        exact = [tuple(row[name] for name in ("age", "zip", "sex")) for row in table]
        assert sorted(own) == sorted(exact)
        counted[form] = [[own[cells] for cells in exact[a:b]] for a, b in ((0, 3), (3, 7), (7, 9))]
    wanted = [
        {"Asthma": 1, "Bronchitis": 1, "Diabetes": 1},
        {"Flu": 2, "Diabetes": 1, "Bronchitis": 1},
        {"Diabetes": 2},
    ]
    assert [[json.loads(text) for text in group] for group in counted["anatomy"]] == [
        [values] * len(group) for values, group in zip(wanted, groups, strict=True)
    ]
    assert [Counter(group) for group in counted["permuted"]] == wanted


def test_values_of_nobody_are_in_rows_that_look_like_others(tmp_path: Path) -> None:
    more = Block(REAL.people, (*REAL.values, "Diabetes", "Diabetes"))
    rows = shown("permuted", tmp_path, (more,))
    assert len(rows.rows) == 6
    assert {row[:3] for row in rows.rows} == {row[1:4] for row in RUNNING[:4]}
    assert None not in [cell for row in rows.rows for cell in row]
    with_artificial = Counter()
    for seed in range(60):
        last = shown("permuted", tmp_path, (more,), order=bytes([seed])).rows
        with_artificial.update(row[0] for row in last if row[3] == "Diabetes")
    assert set(with_artificial) == {20, 21, 22}, "an artificial value can be in anybody's row"


def test_a_value_is_dealt_only_inside_its_block(tmp_path: Path) -> None:
    blocks = (Block(("a", "c"), ("Asthma", "Bronchitis")), Block(("b", "d"), ("Asthma", "Cholera")))
    for seed in range(20):
        rows = shown("permuted", tmp_path, blocks, order=bytes([seed])).rows
        found = {row[:3]: row[3] for row in rows}
        assert found[20, "10140", "f"] != "Cholera"
        assert found[21, "10140", "m"] != "Bronchitis"


def test_numbers_stay_numbers_and_missing_values_missing(tmp_path: Path) -> None:
    plain = policy(tmp_path, two=True)
    block = Block(tuple(NAMED), ("(missing)", "2000", "2490", "2500"))
    rows = rows_shown(plain, TYPES, ("pay",), PEOPLE, NAMED, {"pay": (block,)}, b"1")
    assert rows.types == ("integer",)
    assert sorted((row[0] is None, row[0] or 0) for row in rows.rows) == [
        (False, 2000),
        (False, 2490),
        (False, 2500),
        (True, 0),
    ]


def test_a_column_with_fewer_values_than_another_has_gaps(tmp_path: Path) -> None:
    pay = (Block(tuple(NAMED), ("2000", "2490", "2500", "2510", "8000", "9000")),)
    plain = policy(tmp_path, two=True)
    rows = rows_shown(
        plain, TYPES, ("disease", "pay"), PEOPLE, NAMED, {"disease": (REAL,), "pay": pay}, b"1"
    ).rows
    assert sorted(row[1] for row in rows) == [2000, 2490, 2500, 2510, 8000, 9000]
    assert [row[0] for row in rows].count(None) == 2


def test_what_is_no_value_says_why(tmp_path: Path) -> None:
    """NULL is missing, a value that the list lacks, or a filler: the column of kinds tells which."""
    pay = (Block(tuple(NAMED), ("2000", "(missing)", "(other)", "2510", "(missing)", "9000")),)
    columns = ("disease", "disease_kind", "pay", "pay_kind")
    blocks = {"disease": (Block(tuple(NAMED), ("Asthma", "(missing)", "(other)", "Cholera")),), "pay": pay}
    rows = rows_shown(policy(tmp_path, two=True), TYPES, columns, PEOPLE, NAMED, blocks, b"1")
    assert rows.types == ("text", "text", "integer", "text")
    diseases = Counter(row[:2] for row in rows.rows)
    assert diseases == {
        ("Asthma", "value"): 1,
        ("Cholera", "value"): 1,
        ("(other)", "value"): 1,
        (None, "missing"): 1,
        (None, "padding"): 2,
    }
    pays = Counter((row[2] is None, row[3]) for row in rows.rows)
    assert pays == {(False, "value"): 3, (True, "missing"): 2, (True, "other"): 1}


def test_kinds_are_told_with_or_without_their_column_and_the_answer_is_the_same(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet")
    one = keeper(policy(tmp_path, two=True))
    alone = one.answer("ann", between(20, 22, ("pay_kind",)))
    both = one.answer("ann", between(20, 22, ("pay", "pay_kind")))
    assert isinstance(alone, AnswerRows)
    assert isinstance(both, AnswerRows)
    assert Counter(row[0] for row in alone.rows) == Counter(row[1] for row in both.rows)
    assert all((row[0] is None) == (row[1] != "value") for row in both.rows)
    assert policy(tmp_path, answer={"form": "anatomy"}).kinds == {}


@pytest.mark.parametrize("form", ["generalized", "permuted", "anatomy"])
def test_quasi_identifiers_do_not_depend_on_secrets(form: str, tmp_path: Path) -> None:
    """F5.1, the minimality attack: how far something is generalized tells nothing about sensitive values."""
    seen = set()
    for number, disease in enumerate(("Asthma", "Cholera")):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(
            folder / "t.parquet", [(*row[:4], row[4] if row[1] > 21 else disease, row[5]) for row in RUNNING]
        )
        answer = keeper(policy(folder, answer={"form": form})).answer("ann", between(20, 24))
        assert isinstance(answer, AnswerRows)
        seen.add(frozenset(row[:3] for row in answer.rows))
    assert len(seen) == 1


def test_nobody_asked_for(tmp_path: Path) -> None:
    nobody = SelectedPeople((), {"age": (), "zip": (), "sex": ()}, {})
    for form in ("generalized", "permuted", "anatomy"):
        assert (
            rows_shown(policy(tmp_path, answer={"form": form}), TYPES, ALL, nobody, [], {}, b"1").rows == ()
        )
