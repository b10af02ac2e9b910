"""Columns of numbers: what decides about the decimal mark, against a slow twin that follows the rules literally."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.table.spelling.numbers import COMMA, POINT, NumberFormat, find_numbers


@pytest.mark.parametrize(
    ("texts", "decimal", "values"),
    [
        (["1.113,71", "5"], COMMA, ["1113.71", "5"]),
        (["1,113.71", "5"], POINT, ["1113.71", "5"]),
        (["0,449"], COMMA, ["0.449"]),
        (["1.000.000", "2.500"], COMMA, ["1000000", "2500"]),
        (["1,5", "1,500"], COMMA, ["1.5", "1.5"]),
        (["7.0", "12.50"], POINT, ["7", "12.5"]),
        (["$56.7M", "$4,000", "$5K"], POINT, ["56700000", "4000", "5000"]),
        (["12 %", "3 %"], POINT, ["12", "3"]),
        (["1'234'567.5", "5"], POINT, ["1234567.5", "5"]),
        (["1\u00a0234,5", "7,25"], COMMA, ["1234.5", "7.25"]),
        (["€ 5,20", "-€3,10", "3,10 €"], COMMA, ["5.2", "-3.1", "3.1"]),
        (["5'10\"", "6'0\""], POINT, ["70", "72"]),
        (["1e-7", "2.5"], POINT, ["1E-7", "2.5"]),
    ],
)
def test_the_column_decides_what_its_numbers_are(texts: list[str], decimal: str, values: list[str]) -> None:
    found = find_numbers(dict.fromkeys(texts, 1))
    assert (found.format.decimal, found.format.open) == (decimal, False)
    assert found.fitting == len(texts)
    assert [found.format.parse(text) for text in texts] == list(map(Decimal, values))


@pytest.mark.parametrize("text", ["01067", "+5", "1234567890123456", "00.5"])
def test_a_code_is_no_number(text: str) -> None:
    found = find_numbers({text: 1})
    assert (found.fitting, found.codes) == (0, 1)


@pytest.mark.parametrize(
    "text", ["", "x", "1.2.3", "1,23,4", "12:30", "5 kg", "$5 €", "nan", "1 2", "--5", "M5", "5M"]
)
def test_what_is_no_number(text: str) -> None:
    assert find_numbers({text: 1}).fitting == 0


def test_three_digits_behind_the_only_mark_leave_it_open() -> None:
    assert find_numbers({"1,449": 2, "12,345": 1}).format.open
    assert find_numbers({"1.449": 2}).format.open
    assert not find_numbers({"12": 1}).format.open
    assert NumberFormat(COMMA).parse("1,449") == Decimal("1.449")
    assert NumberFormat(POINT).parse("1,449") == Decimal(1449)


numbers = st.builds(
    "{}{}".format,
    st.sampled_from(["", "-"]),
    st.from_regex(r"\A[0-9]{1,4}([.,][0-9]{1,4}){0,3}\Z"),
)


def evidence(text: str) -> set[str]:
    """What one value says of the decimal mark by the rules for people; both marks if it says nothing."""
    digits = text.removeprefix("-")
    found = set()
    for decimal, thousands in ((POINT, COMMA), (COMMA, POINT)):
        whole, _, fraction = digits.partition(decimal)
        if fraction and (decimal in fraction or thousands in fraction):
            continue  # the decimal mark occurs once, and nothing but digits behind it
        groups = whole.split(thousands)
        if len(groups) > 1 and (not 1 <= len(groups[0]) <= 3 or any(len(group) != 3 for group in groups[1:])):
            continue  # between thousands are three digits
        if len(groups[0]) > 1 and groups[0][0] == "0":
            continue  # a code
        if len(groups) > 1 and groups[0] == "0":
            continue  # no thousand begins with zero
        found.add(decimal)
    return found


@given(st.dictionaries(numbers, st.integers(1, 5), min_size=1, max_size=6))
def test_the_decimal_mark_is_the_one_that_the_twin_finds(counts: dict[str, int]) -> None:
    fitting = {
        mark: sum(n for text, n in counts.items() if mark in evidence(text)) for mark in (POINT, COMMA)
    }
    found = find_numbers(counts)
    assert found.fitting == max(fitting.values())
    if fitting[POINT] != fitting[COMMA]:
        assert found.format.decimal == max(fitting, key=lambda mark: fitting[mark])
        assert not found.format.open


@given(st.text(max_size=70), st.sampled_from([POINT, COMMA]), st.sampled_from(["", "%", "$", "ft"]))
def test_any_text_is_a_number_or_none(text: str, decimal: str, unit: str) -> None:
    value = NumberFormat(decimal, unit).parse(text)
    assert value is None or value.is_finite()


@given(st.decimals(-(10**9), 10**9, places=2), st.booleans(), st.sampled_from([POINT, COMMA]))
def test_a_number_is_read_as_it_was_spelled(number: Decimal, grouped: bool, decimal: str) -> None:
    text = f"{number:,.2f}" if grouped else f"{number:.2f}"
    if decimal == COMMA:
        text = text.translate(str.maketrans(".,", ",."))
    assert NumberFormat(decimal).parse(text) == number
