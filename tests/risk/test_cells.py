"""What cells stand for, against slow twins."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.risk import Target
from tarnkappe.risk.attacks import Background, RegisterLinking
from tarnkappe.risk.cells import agreeing, covering, meet, read_cell, widen
from tarnkappe.table import Table

VALUES = [str(n) for n in range(10, 60)]
CELLS = {
    "*": set(VALUES),
    "3*": {v for v in VALUES if v[0] == "3"},
    "*5": {v for v in VALUES if v[1] == "5"},
    "20-29": {v for v in VALUES if 20 <= int(v) <= 29},
    "25–44": {v for v in VALUES if 25 <= int(v) <= 44},
    "[30, 40)": {v for v in VALUES if 30 <= int(v) < 40},
    "]30, 40]": {v for v in VALUES if 30 < int(v) <= 40},
    "< 30": {v for v in VALUES if int(v) < 30},
    "<=30": {v for v in VALUES if int(v) <= 30},
    "≥ 40": {v for v in VALUES if int(v) >= 40},
    ">40": {v for v in VALUES if int(v) > 40},
    "50+": {v for v in VALUES if int(v) >= 50},
    "{12, 34}": {"12", "34"},
    "-5 to 12": {"10", "11", "12"},
    "33": {"33"},
}
cells = st.sampled_from([*CELLS, *VALUES[::7]])


def stands_for(cell: str) -> set[str]:
    return CELLS.get(cell, {cell})


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_stands_for_what_a_reader_takes_it_for(cell: str) -> None:
    found = covering([cell], VALUES).toarray()[0]
    assert {value for value, under in zip(VALUES, found, strict=True) if under} == CELLS[cell]


@given(cells, cells)
def test_two_cells_agree_if_some_value_fits_both(ours: str, theirs: str) -> None:
    both = stands_for(ours) & stands_for(theirs)
    found = bool(agreeing([ours], [theirs]).toarray()[0, 0])
    assert found or not both  # never excludes what is possible
    if "*5" not in {ours, theirs}:  # numbers that end alike are no range, so more is taken to be possible
        assert found == bool(both), (ours, theirs)
    assert (meet(ours, theirs) is not None) == found


@given(cells, cells)
def test_what_two_cells_say_together_is_what_fits_both(ours: str, theirs: str) -> None:
    together = meet(ours, theirs)
    if together is None or "&" in together:
        return
    found = covering([together], VALUES).toarray()[0]
    assert {v for v, under in zip(VALUES, found, strict=True) if under} == stands_for(ours) & stands_for(
        theirs
    )


@given(st.lists(cells.filter(lambda cell: not cell.startswith("{")), min_size=1, max_size=4))
def test_a_wider_cell_stands_for_everything_that_some_cells_stand_for(some: list[str]) -> None:
    found = covering([widen(some)], VALUES).toarray()[0]
    under = {value for value, hit in zip(VALUES, found, strict=True) if hit}
    assert under >= set().union(*map(stands_for, some))


TREE = [["00", "0*", "*"], ["01", "0*", "*"], ["10", "1*", "*"], ["11", "1*", "*"]]
LABELS = ["00", "01", "10", "11", "0*", "1*", "*"]


@given(st.lists(st.sampled_from(LABELS), min_size=1), st.lists(st.sampled_from(LABELS), min_size=1))
def test_with_or_without_its_hierarchy_a_pattern_means_the_same(ours: list[str], theirs: list[str]) -> None:
    ours, theirs = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
    tree = Hierarchy.from_rows(TREE)
    values = [row[0] for row in TREE]
    assert (covering(ours, values).toarray() == covering(ours, values, tree).toarray()).all()
    assert (agreeing(ours, theirs).toarray() == agreeing(ours, theirs, tree).toarray()).all()
    assert meet(ours[0], theirs[0]) == meet(ours[0], theirs[0], tree)


def test_categories_need_a_hierarchy() -> None:
    towns = Hierarchy.from_rows([["Ulm", "south", "*"], ["Aalen", "south", "*"], ["Kiel", "north", "*"]])
    assert covering(["south", "Kiel"], ["Ulm", "Kiel"], towns).toarray().tolist() == [[1, 0], [0, 1]]
    release = Table(pa.table({"town": ["south", "north"], "ill": ["a", "b"]}))
    release = release.with_roles(quasi_identifiers=["town"], sensitive=["ill"])
    people = Table(pa.table({"town": ["Ulm", "Kiel"]}))
    with pytest.raises(ColumnError, match="give the hierarchy"):
        RegisterLinking().run(Target.of(release, Background(people=people)))
    background = Background(people=people, hierarchies={"town": towns})
    assert RegisterLinking().run(Target.of(release, background)).victims == 2


def test_dates_and_their_parts() -> None:
    days = ["1975-04-17", "1975-07-31", "1981-07-05"]
    found = covering(["1975", "1975-04", "1970-1979", "*"], days).toarray().tolist()
    assert found == [[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert (meet("1975", "1975-04"), meet("1975", "1981-07-05")) == ("1975-04", None)
    assert read_cell("1030").plain


def test_positions_of_the_worked_example() -> None:
    assert meet("**.**.75", "31.**.**") == "31.**.75"
    assert meet("7622*", "76***") == "7622*"
    assert meet("**.**.75", "05.07.8*") is None
    assert (meet("M", "*"), meet("M", "W")) == ("M", None)
