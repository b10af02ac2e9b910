from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy import BUILDERS, Intervals


def labels(builder: Intervals, values: list, data_type: pa.DataType | None = None) -> list[list[str]]:
    """The labels below the root, one list a value."""
    hierarchy = builder.build(pa.array(values, data_type))
    return [[hierarchy.label(str(v), level) for level in range(1, hierarchy.height)] for v in values]


def test_whole_numbers_read_as_ranges_and_others_as_half_open_intervals() -> None:
    assert labels(Intervals(width=10), [20, 29, 30, 0]) == [["20-29"], ["20-29"], ["30-39"], ["0-9"]]
    assert labels(Intervals(width=10), [20.5, 29.25]) == [["[20, 30)"], ["[20, 30)"]]
    assert labels(Intervals(width=2.5), [1, 3]) == [["[0, 2.5)"], ["[2.5, 5)"]]
    assert labels(Intervals(width=1), [7]) == [["7"]]


def test_negative_numbers_cannot_be_misread() -> None:
    assert labels(Intervals(width=10), [-1, -10, -11, 0]) == [
        ["-10 to -1"], ["-10 to -1"], ["-20 to -11"], ["0-9"],
    ]  # fmt: skip
    assert labels(Intervals(width=10, origin=-5), [-1, 4]) == [["-5 to 4"], ["-5 to 4"]]
    assert labels(Intervals(cuts=[-5, 5]), [-6, -5, 5]) == [["<-5"], ["-5 to 4"], [">=5"]]
    assert labels(Intervals(width=0.5), [-0.25]) == [["[-0.5, 0)"]]


def test_widths_per_level_as_a_list_or_by_a_factor() -> None:
    assert labels(Intervals(width=[5, 10, 20]), [34]) == [["30-34", "30-39", "20-39"]]
    assert labels(Intervals(width=5, factor=2, levels=3), [34]) == [["30-34", "30-39", "20-39"]]
    assert Intervals(width=5, levels=3).height == 4
    assert labels(Intervals(width=20, origin=1), [20, 21]) == [["1-20"], ["21-40"]]


def test_bottom_and_top_coding_holds_on_every_level() -> None:
    coded = Intervals(width=[5, 20], bottom=18, top=90)
    assert labels(coded, [17, 18, 19, 20, 85, 90, 120]) == [
        ["<18", "<18"],
        ["18-19", "18-19"],
        ["18-19", "18-19"],
        ["20-24", "20-39"],
        ["85-89", "80-89"],
        [">=90", ">=90"],
        [">=90", ">=90"],
    ]


def test_decimal_fractions_fall_into_the_interval_that_they_begin() -> None:
    assert labels(Intervals(width=0.1), [0.3, 0.7, 0.6]) == [["[0.3, 0.4)"], ["[0.7, 0.8)"], ["[0.6, 0.7)"]]


@settings(max_examples=100)
@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda n: round(n, 3)) | st.integers(-(10**18), 10**18), min_size=1),
    st.decimals("0.001", "1000", places=3),
    st.decimals("-10", "10", places=3),
)
def test_intervals_agree_with_exact_fractions(values, width, origin) -> None:
    texts = [str(value) for value in values]
    hierarchy = Intervals(width=float(width), origin=float(origin)).build(pa.array(texts))
    ends: dict[str, Fraction] = {}
    for text in texts:
        index = math.floor((Fraction(text) - Fraction(str(float(origin)))) / Fraction(str(float(width))))
        assert ends.setdefault(hierarchy.label(text, 1), index) == index
    assert len(set(ends.values())) == len(ends)


def test_whole_numbers_beyond_the_precision_of_floats_are_exact() -> None:
    assert labels(Intervals(width=2), [2**60 + 1, 2**60 + 2]) == [
        ["1152921504606846976-1152921504606846977"], ["1152921504606846978-1152921504606846979"],
    ]  # fmt: skip


def test_the_ages_of_the_worked_example() -> None:
    assert labels(Intervals(cuts=[1, 20, 61, 100]), [18, 34, 70]) == [["1-19"], ["20-60"], ["61-99"]]
    assert labels(Intervals(cuts=[20, 61]), [18, 34, 70]) == [["<20"], ["20-60"], [">=61"]]


def test_cuts_per_level() -> None:
    cut = Intervals(cuts=[[18, 40, 65], [18, 65], [65]])
    assert labels(cut, [17, 18, 40, 65]) == [
        ["<18", "<18", "<65"], ["18-39", "18-64", "<65"], ["40-64", "18-64", "<65"], [">=65", ">=65", ">=65"],
    ]  # fmt: skip


def test_quantiles_have_equally_many_rows_and_nest() -> None:
    values = [*range(1, 9), *[100] * 8]
    assert labels(Intervals(quantiles=[4, 2]), values)[:8] == [["<5", "<100"]] * 4 + [["5-99", "<100"]] * 4
    assert labels(Intervals(quantiles=[4, 2]), values)[8] == [">=100", ">=100"]
    assert labels(Intervals(quantiles=3), [5, 5, 5]) == [["*"]] * 3


@settings(max_examples=60)
@given(st.lists(st.integers(0, 1000), min_size=8, max_size=80, unique=True))
def test_quantiles_of_distinct_values_differ_by_at_most_one_row(values) -> None:
    sizes: dict[str, int] = {}
    for (label,) in labels(Intervals(quantiles=4), values):
        sizes[label] = sizes.get(label, 0) + 1
    assert len(sizes) == 4
    assert max(sizes.values()) - min(sizes.values()) <= 1


def test_what_is_no_finite_number_keeps_its_own_label() -> None:
    hierarchy = Intervals(width=5).build(pa.array([1.0, math.nan, math.inf, -math.inf, None]))
    assert [hierarchy.label(v, 1) for v in ("1", "nan", "inf", "-inf", None)] == [
        "0-4", "nan", "inf", "-inf", "(missing)",
    ]  # fmt: skip


def test_numbers_as_text_are_numbers_and_other_texts_are_refused() -> None:
    assert labels(Intervals(width=10), ["9", "10", "-3"]) == [["0-9"], ["10-19"], ["-10 to -1"]]
    for values in (pa.array(["9", "n/a"]), pa.array([True])):
        with pytest.raises(
            HierarchyError, match=r"intervals needs numbers, but the data has the value '(n/a|true)'"
        ):
            Intervals(width=10).build(values)


def test_widths_that_do_not_nest_are_refused_with_the_interval_that_is_torn() -> None:
    with pytest.raises(HierarchyError) as refused:
        Intervals(width=[15, 20], origin=1)
    assert (
        "'16-30' of level 1 (width 15) lies partly in '1-20' and partly in '21-40' of level 2 (width 20)"
        in str(refused.value)
    )


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({}, ParameterError, "exactly one of width, quantiles and cuts"),
        ({"width": 5, "cuts": [1]}, ParameterError, "exactly one of"),
        ({"quantiles": 4, "top": 9}, ParameterError, "top: intervals takes it only together with width"),
        (
            {"width": [5, 10], "factor": 3},
            ParameterError,
            "factor: intervals takes it only with a single width",
        ),
        ({"width": 0}, ParameterError, "width: a number above 0 is needed, not 0"),
        ({"width": []}, ParameterError, "width: too few entries: 0, at least 1 needed"),
        ({"width": "wide"}, ParameterError, "width: a number or a list of numbers is needed, not 'wide'"),
        ({"width": True}, ParameterError, "width: a number or a list of numbers is needed, not True"),
        ({"width": math.nan}, ParameterError, "width: a finite number is needed, not nan"),
        ({"width": 5, "levels": 0}, ParameterError, "levels: at least 1 is needed, not 0"),
        ({"width": 5, "factor": 1.5}, ParameterError, r"factor: a whole number is needed, not 1\.5"),
        ({"width": 5, "bottom": 9, "top": 9}, ParameterError, "a bottom below the top, not 9 and 9"),
        (
            {"width": [10, 5]},
            HierarchyError,
            "width 5 of level 2 is not greater than the width 10 of level 1",
        ),
        ({"width": [0.2, 0.5]}, HierarchyError, r"'\[0.4, 0.6\)' of level 1 .* lies partly in '\[0, 0.5\)'"),
        ({"quantiles": 1}, ParameterError, "quantiles: at least 2 is needed, not 1"),
        ({"quantiles": []}, ParameterError, "quantiles: too few entries: 0, at least 1 needed"),
        ({"quantiles": [4, 3]}, HierarchyError, "3 quantiles of level 2 do not divide the 4 of level 1"),
        ({"quantiles": [4, 4]}, HierarchyError, "do not divide"),
        ({"cuts": []}, ParameterError, "cuts: too few entries: 0, at least 1 needed"),
        ({"cuts": [[1], []]}, ParameterError, "cuts 2: too few entries: 0, at least 1 needed"),
        ({"cuts": [[1], 2]}, ParameterError, "intervals needs a list of cuts on level 2, not 2"),
        ({"cuts": [2, 1]}, ParameterError, "intervals needs cuts in ascending order, not 2, 1 on level 1"),
        ({"cuts": [[1, 5], [1, 4]]}, HierarchyError, "level 2 cuts at 4, which level 1 does not"),
    ],
)
def test_impossible_parameters_are_refused(parameters, error, message) -> None:
    with pytest.raises(error, match=message):
        BUILDERS.create("intervals", parameters)
