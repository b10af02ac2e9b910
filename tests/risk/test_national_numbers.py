"""National numbers are told by form and check digit, in columns of their own and inside of texts."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tarnkappe.risk import Kind, find_identifiers
from tarnkappe.risk.identifiers.national_numbers import PROVED_ALONE, PROVED_TOGETHER, national_number
from tarnkappe.table import Table

PUBLISHED = [
    "12345678Z",
    "X1234567L",
    "RSSMRA85T10A562S",
    "2 55 08 14 168 025 38",
    "811228-9874",
    "131052-308T",
    "111.444.777-35",
    "11010519491231002X",
    "85.07.30-033 28",
]
"""Examples by which the countries explain their numbers; each is proved by itself."""
PLAIN = [
    "86095742719",
    "44051401359",
    "8112289874",
    "1800101221144",
    "943 476 5919",
    "111222333",
    "10000000146",
]


@pytest.mark.parametrize("number", PUBLISHED)
def test_a_published_example_is_known_alone_and_in_a_text(number: str) -> None:
    assert national_number(number)
    cells = ["stable, no change", "slept well and ate"] * 40
    assert not find_identifiers(Table(pa.table({"remarks": cells}))).kinds
    scan = find_identifiers(Table(pa.table({"remarks": [*cells, f"has the number {number} since"]})))
    assert Kind.SOCIAL_SECURITY in scan.kinds


@pytest.mark.parametrize("number", PLAIN)
def test_plain_digits_are_known_by_the_scheme_of_one_country(number: str) -> None:
    assert any(scheme.holds(number) for scheme in PROVED_TOGETHER)


@pytest.mark.parametrize("number", [*PUBLISHED, *PLAIN])
def test_one_wrong_digit_is_noticed(number: str) -> None:
    """The first character is left as it is: that of some countries is no digit."""
    schemes = [scheme for scheme in (*PROVED_ALONE, *PROVED_TOGETHER) if scheme.holds(number)]
    for scheme in schemes:
        for place, character in enumerate(number):
            if character.isdigit() and place:
                wrong = number[:place] + str((int(character) + 1) % 10) + number[place + 1 :]
                assert not scheme.holds(wrong), (number, wrong)


@pytest.mark.parametrize("digits", [9, 10, 11, 13])
def test_random_digits_are_no_national_numbers(digits: int) -> None:
    chance = random.Random(digits)
    cells = ["".join(chance.choices("0123456789", k=digits)) for _ in range(400)]
    (column,) = find_identifiers(Table(pa.table({"x": cells}))).columns
    assert Kind.SOCIAL_SECURITY not in {kind for found in column.findings for kind in found.kinds}
