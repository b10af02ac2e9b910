"""Tables with many columns."""

from __future__ import annotations

import math

import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.table.examples import shaped, wide


def test_a_wide_table_holds_the_columns_of_several_shapes() -> None:
    example = wide(24, rows=300, seed=2)
    names = example.table.column_names
    assert len(names) == 24
    assert example.table.quasi_identifiers == names
    adult = shaped("ADULT", 300, 2)
    for name in adult.table.column_names:
        own = example.table.data.column(f"adult {name}")
        assert own.to_pylist() == adult.table.data.column(name).to_pylist()
        assert example.hierarchies[f"adult {name}"] == adult.hierarchies[name]
    levels = [len(rows[0]) for rows in example.hierarchies.values()]
    assert example.description["lattice"] == math.prod(levels) > 1e11


def test_seeds_make_different_tables_and_the_same_seed_the_same() -> None:
    one, again, other = (wide(12, rows=50, seed=seed).table.data for seed in (1, 1, 2))
    assert one == again
    assert one != other


@pytest.mark.parametrize("columns", [0, 44])
def test_impossible_numbers_of_columns_are_refused(columns: int) -> None:
    with pytest.raises(ParameterError, match=f"1 to 43 columns, not {columns}"):
        wide(columns)
