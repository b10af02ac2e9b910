"""Reading says the same however little it looks at, and looks at no text more often than it must."""

from __future__ import annotations

import collections
import random
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tarnkappe.hierarchy import propose
from tarnkappe.hierarchy.code_systems import System, is_known, steps_of
from tarnkappe.hierarchy.dates import SAYS, DatesBuilder
from tarnkappe.job.propose import propose as propose_release
from tarnkappe.risk.identifiers import names
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.table import Table
from tarnkappe.table.encoding import encode_column, spelled_numbers
from tarnkappe.table.reading import Reading
from tarnkappe.table.spelling import moments, numbers
from tarnkappe.table.spelling.columns import Stated, spell
from tarnkappe.table.spelling.dates import find_dates
from tarnkappe.table.spelling.numbers import find_numbers

DATES = st.from_regex(
    r"(?:[0-9]{1,4}[-/. ](?:[0-9]{1,2}|Jan|März|Mon)[-/. ][0-9]{1,4}|[A-Z][a-z]{2} [ 0-9]?[0-9])"
    r"(?:[T ,]{0,2}[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: [AP]M|Z)?)?(?: [0-9]{4})?",
    fullmatch=True,
)
NUMBERS = st.from_regex(
    r"-?(?:€ ?|\$)?[0-9]{1,4}(?:[.,'][0-9]{1,4}){0,2}(?:e[0-9]|K|%)?|0[0-9]{3}|\+[0-9]{4}", fullmatch=True
)
CELLS = st.dictionaries(
    DATES | NUMBERS | st.sampled_from(["", "x", "a1", "?"]), st.integers(1, 60), max_size=12
)


@given(DATES | NUMBERS | st.text("0123456789-/.: ,JanMarTZPM²", max_size=14))
@example("Mar 45 12:00:00 2020")
@example("²")
def test_a_text_has_the_first_shape_that_fits_it(text: str) -> None:
    slow = None
    for shape, pattern in moments._SHAPES.items():
        found = pattern.fullmatch(text)
        if found is not None and (text.isascii() or "B" in shape):
            mark = found.groupdict().get("mark")
            slow = shape.format((mark or "").strip() or mark)
            break
    fast = moments._shaped(text)
    assert (None if fast is None else fast.shape) == slow


@given(NUMBERS)
@example("-0")
@example("0." + "1" * 40)
def test_the_short_way_to_a_number_gives_what_the_long_way_gives(text: str) -> None:
    fast = numbers._parts(text)
    found = numbers._NUMBER.fullmatch(text)
    if fast is None or found is None:
        assert fast is None
        return
    sign = "-" if found["sign"] or found["inner"] else ""
    assert (fast.sign, fast.digits) == (sign, found["digits"])
    for mark in ".,":
        value = fast.value(mark)
        if value is not None and not fast.power and fast.multiple == 1:
            whole, _, fraction = (
                fast.digits.rpartition(mark) if mark in fast.digits else (fast.digits, "", "")
            )
            plain = Decimal(f"{sign}{re.sub('[^0-9]', '', whole) or '0'}.{fraction or '0'}") * 1
            assert str(value) == (str(plain) if fraction else str(Decimal(int(plain))))


@given(CELLS, st.sampled_from([0.5, 0.9, 0.99]))
def test_looking_at_a_part_decides_as_looking_at_all(cells: dict[str, int], share: float) -> None:
    least = share * sum(cells.values())
    numbers_, some = find_numbers(cells), find_numbers(cells, None, least)
    assert some == numbers_ or (some.fitting == 0 and numbers_.fitting + numbers_.codes < least)
    dates, few = find_dates(cells, "day", 2026), find_dates(cells, "day", 2026, None, least)
    assert few == dates or (few.fitting == 0 and dates.fitting < least)


@given(CELLS)
def test_dates_decide_without_a_look_at_numbers(cells: dict[str, int]) -> None:
    """A column whose cells are nearly all dates says nothing about the decimal mark of its file."""
    least = 0.99 * sum(cells.values())
    if find_dates(cells, "day", 2026).fitting >= least and cells:
        found = find_numbers(cells)
        shown = any(numbers.shows_decimal_mark(text, found.format.decimal) for text in cells)
        assert found.fitting < least or not shown


@given(st.lists(st.sampled_from(["Ann", "12", "x@y.org", "Bob Ray", "7-A"]), min_size=1), st.floats(0.01, 1))
def test_a_share_that_is_large_enough_is_counted_to_its_end(cells: list[str], least: float) -> None:
    column = ColumnView("v", pa.chunked_array([cells]))
    exact = column.share_of(str.isalpha)
    assert column.share_of(str.isalpha, least) == (exact if exact >= least else 0.0)
    assert column.shares_of(str.isalpha) == (exact, column.cell_share(str.isalpha))


def test_a_share_of_many_values_stops_where_it_cannot_be_reached() -> None:
    column = ColumnView("v", pa.chunked_array([[f"{n}" for n in range(2000)]]))
    looked: list[str] = []

    def never(text: str) -> bool:
        looked.append(text)
        return False

    assert column.share_of(never, 0.6) == 0.0
    assert len(looked) <= 900


_LETTER = r"[^\W\d_]"
_SLOW_LOOKS = re.compile(rf"{_LETTER}+(?:[.'’-]?[ ,]*{_LETTER}+\.?){{0,5}}")


@given(st.text("abÉ.'- ,1", max_size=12))
def test_what_looks_like_a_name_is_the_same_in_any_time(text: str) -> None:
    assert bool(names._LOOKS.fullmatch(text)) == bool(_SLOW_LOOKS.fullmatch(text))


@given(
    st.lists(st.sampled_from(["DE", "Schweiz", "J45.0", "12:30", "5'11\"", "?"])), st.sampled_from([*System])
)
def test_a_system_knows_a_share_or_not(texts: list[str], system: System) -> None:
    share = sum(steps_of(system, text) is not None for text in texts) / max(len(texts), 1)
    assert is_known(system, texts, 0.6) == (share >= 0.6)


@given(st.lists(DATES, min_size=1, max_size=15), st.sampled_from(list(SAYS)))
def test_labels_of_many_dates_are_those_of_each(texts: list[str], period: str) -> None:
    table, spellings = spell(
        pa.table({"day": pa.array(texts).dictionary_encode()}), Stated(dates=moments.DateOrder.DAY_FIRST)
    )
    spelling = spellings["day"]
    if spelling.date is None:
        return
    column = encode_column("day", table.column("day"), spelling)
    hierarchy = DatesBuilder((period,)).build_column(column)
    for value, label, _ in hierarchy.rows():
        if value:
            alone = encode_column("day", pa.chunked_array([pa.array([value])]), spelling)
            assert label == next(iter(DatesBuilder((period,)).build_column(alone).rows()))[1]
    again = spelled_numbers(spelling, column.values.to_pylist())
    known = column.numbers
    assert (again is None) == (known is None)
    assert known is None or again is None or np.array_equal(again, known, equal_nan=True)


def _table(rows: int) -> pa.Table:
    r = random.Random(1)
    days = [f"{r.randrange(1, 29):02}.{r.randrange(1, 13):02}.{r.randrange(1930, 2020)}" for _ in range(rows)]
    sums = [f"{r.randrange(10**6)},{r.randrange(100):02}" for _ in range(rows)]
    sexes = [r.choice("mf") for _ in range(rows)]
    return pa.table({"day": days, "sum": sums, "sex": sexes})


def test_no_text_is_read_more_than_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a column of texts to its role and hierarchy: once for its spelling, once for its order."""
    looked: collections.Counter[str] = collections.Counter()

    def counting(module: object, name: str) -> None:
        read = getattr(module, name)

        def call(text: str) -> object:
            looked[text] += 1
            return read(text)

        monkeypatch.setattr(module, name, call)

    counting(moments, "_shaped")
    counting(numbers, "_parts")
    data = _table(3000)
    encoded = pa.table(
        {name: data.column(name).combine_chunks().dictionary_encode() for name in data.column_names}
    )
    columns, spellings = spell(encoded, Stated(semicolons=True))
    propose_release(Table(columns, reading=Reading("csv", columns=spellings)))
    for name in ("day", "sum"):
        texts = set(data.column(name).to_pylist())
        assert sum(looked[text] for text in texts) <= 4.5 * len(texts)


def test_choosing_a_hierarchy_reads_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _table(500)
    columns, spellings = spell(
        pa.table({"day": data.column("day").combine_chunks().dictionary_encode()}), Stated()
    )
    column = encode_column("day", columns.column("day"), spellings["day"])
    monkeypatch.setattr(moments, "_shaped", None)
    assert str(propose(column).builder).startswith('{builder = "dates", levels = ["month"')
