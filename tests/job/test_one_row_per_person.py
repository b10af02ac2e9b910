"""One row, one person."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tarnkappe.errors import InputError
from tarnkappe.job.one_row_per_person import refuse_repeated_people
from tarnkappe.table import Table


def people(**identifiers: list[str | None]) -> Table:
    return Table(pa.table(identifiers)).with_roles(identifiers=list(identifiers))


def test_a_repeated_identifier_is_refused_without_being_quoted() -> None:
    with pytest.raises(
        InputError, match=r"1 row repeats the number of an earlier row \(row 3 that of row 1\)"
    ) as caught:
        refuse_repeated_people(people(number=["S3CR3T", "B", "S3CR3T"]))
    assert "S3CR3T" not in str(caught.value)


def test_namesakes_with_different_numbers_are_different_people() -> None:
    refuse_repeated_people(people(name=["Kim", "Kim"], number=["1", "2"]))


def test_people_without_any_identifier_are_different_people() -> None:
    refuse_repeated_people(people(name=[None, None, "Kim"]))


def test_a_table_without_identifiers_is_taken_as_it_is() -> None:
    refuse_repeated_people(Table(pa.table({"age": [1, 1]})))
