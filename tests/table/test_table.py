"""Tables: roles and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tarnkappe.errors import ColumnError, InputError, ParameterError
from tarnkappe.table import Role, Table
from tarnkappe.table.row_tuples import row_tuples


@pytest.fixture
def table() -> Table:
    return Table(pa.table({"name": ["A", "B"], "age": [30, 40], "illness": ["flu", None]}))


def test_columns_without_a_role_are_not_published(table: Table) -> None:
    chosen = table.with_roles({"name": "identifier"}, quasi_identifiers=["age"])
    assert chosen.identifiers == ("name",)
    assert chosen.quasi_identifiers == ("age",)
    assert chosen.sensitive == ()
    assert chosen.columns_with(Role.UNSTATED) == ("illness",)
    assert chosen.published == ("age",)
    assert table.with_roles(quasi_identifiers=["age"], insensitive=["illness"]).published == (
        "age",
        "illness",
    )


def test_an_unknown_column_is_refused_with_the_nearest_name(table: Table) -> None:
    with pytest.raises(ColumnError, match="no column 'ilness': did you mean 'illness'"):
        table.with_roles(sensitive=["ilness"])


def test_two_roles_for_one_column_are_refused(table: Table) -> None:
    with pytest.raises(ColumnError, match="'age' is given two roles"):
        table.with_roles(quasi_identifiers=["age"], sensitive=["age"])


def test_an_unknown_role_is_refused(table: Table) -> None:
    with pytest.raises(ParameterError, match="unknown role 'secret'"):
        table.with_roles({"age": "secret"})


def test_duplicate_column_names_are_refused() -> None:
    data = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ColumnError, match="'a' occur more than once"):
        Table(data)


def test_roles_cannot_be_changed_behind_our_back(table: Table) -> None:
    with pytest.raises(TypeError):
        table.roles["age"] = Role.SENSITIVE  # type: ignore[index]


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(InputError, match="no rows"):
        row_tuples(Table(pa.table({"a": pa.array([], pa.int64())})), ["a"])


def test_a_population_counts_beside_the_table() -> None:
    table = Table(pa.table({"age": [30, 30], "illness": ["flu", "cold"]}))
    population = Table(pa.table({"age": [30, 40, 30, 30]}))
    tuples = row_tuples(table, ["age"], ["illness"], population=population).distinct()
    classes = tuples.classes(["age"], None, [("illness",)])
    assert dict(zip(classes.sizes.tolist(), classes.population.tolist(), strict=True)) == {2: 3, 0: 1}
    assert classes.distributions["illness",].totals.tolist() == [1, 1]
    assert classes.distributions["illness",].counts.tolist() == [1, 1]


def test_a_population_of_other_numbers_is_compared_as_the_table_is() -> None:
    table = Table(pa.table({"age": [30]}))
    population = Table(pa.table({"age": ["30", "40"]}))
    assert row_tuples(table, ["age"], population=population).columns["age"].labels == ("30", "40")


def test_a_table_outside_its_population_is_refused() -> None:
    table = Table(pa.table({"age": [30, 50]}))
    with pytest.raises(ParameterError, match="1 row of the table is not in the population"):
        row_tuples(table, ["age"], population=Table(pa.table({"age": [30, 40]})))


def test_a_population_without_a_quasi_identifier_is_refused() -> None:
    with pytest.raises(ColumnError, match="the population has no column 'age'"):
        row_tuples(Table(pa.table({"age": [1]})), ["age"], population=Table(pa.table({"x": [1]})))
