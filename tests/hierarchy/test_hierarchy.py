from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.table import MISSING, Column
from tarnkappe.table.encoding import encode_column
from tests.conftest import FIXTURES
from tests.hierarchy.strategies import hierarchies

FILES = FIXTURES / "hierarchies"
AGES = [34, 45, 66, 70, 35, 21, 18, 19]
ZIPS = ["82667", "81775", "81925", "81931", "81951", "82451", "82931", "82004"]


def column(name: str, values: list, data_type: pa.DataType | None = None) -> Column:
    return encode_column(name, pa.chunked_array([pa.array(values, data_type)]))


# ------------------------------------------------------------------ the worked example


@pytest.mark.parametrize(
    ("file", "values", "expected"),
    [
        ("age", AGES, [8, 3, 1]),
        ("sex", ["Male", "Female", "Male"], [2, 1]),
        ("zip", ZIPS, [8, 8, 6, 2, 1, 1]),
        ("diagnosis", ["Pneumonia", "Gastritis"], [2, 2, 1]),
    ],
)
def test_distinct_labels_per_level_of_the_worked_example(file, values, expected) -> None:
    levels = read_hierarchy(FILES / f"{file}.csv").encode(column(file, values))
    assert [levels.distinct(level) for level in range(levels.height + 1)] == expected


def test_labels_of_the_worked_example() -> None:
    age, zips = read_hierarchy(FILES / "age.csv"), read_hierarchy(FILES / "zip.csv")
    assert [age.label(str(a), 1) for a in AGES] == [
        "20-60", "20-60", "61-99", "61-99", "20-60", "20-60", "1-19", "1-19",
    ]  # fmt: skip
    assert [zips.label("82667", level) for level in range(6)] == [
        "82667", "8266*", "826**", "82***", "8****", "*****",
    ]  # fmt: skip
    assert read_hierarchy(FILES / "zipcode-537.csv").root == "537**"


def test_leaves_and_bounds_count_values_that_are_not_in_the_data() -> None:
    levels = read_hierarchy(FILES / "age.csv").encode(column("age", AGES))
    assert levels.labels[1] == ("1-19", "20-60", "61-99")
    assert [leaves.tolist() for leaves in levels.leaves] == [[1] * 8, [19, 41, 39], [99]]
    assert levels.domain_size == 99
    assert levels.bounds is not None
    assert [bounds.tolist() for bounds in levels.bounds[1:]] == [[[1, 19], [20, 60], [61, 99]], [[1, 99]]]
    assert levels.bounds[0][0].tolist() == [18, 18]


def test_only_columns_of_numbers_have_bounds() -> None:
    zips = read_hierarchy(FILES / "zip.csv")
    assert zips.encode(column("zip", ZIPS)).bounds is None
    assert zips.encode(column("zip", [int(z) for z in ZIPS])).bounds is not None
    assert Hierarchy.from_rows([["1", "*"], ["n/a", "*"]]).encode(column("n", [1])).bounds is None


def test_the_missing_value_has_no_bounds() -> None:
    hierarchy = Hierarchy.from_rows([["1", "low", "*"], ["2", "low", "*"], [None, MISSING, "*"]])
    levels = hierarchy.encode(column("n", [2, None]))
    assert levels.bounds is not None
    np.testing.assert_equal(levels.bounds[1], [[1, 2], [np.nan, np.nan]])
    np.testing.assert_equal(levels.bounds[2], [[1, 2]])


# ------------------------------------------------------------------ what is refused


def test_widths_that_do_not_nest_are_refused_with_values_label_and_level() -> None:
    with pytest.raises(HierarchyError) as refused:
        read_hierarchy(FILES / "age-width-15-then-20.csv")
    message = str(refused.value)
    assert "on level 1 the values '16' and '21' share the label '16-30'" in message
    assert "on level 2 they have '1-20' and '21-40'" in message


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "the hierarchy is empty"),
        ([["a"]], "line 1 has no label, only the value 'a'"),
        ([["a", "x", "*"], ["b", "*"]], r"line 2 \('b'\) has 1 levels, line 1 has 2"),
        ([["a", "x", "*"], ["b", "", "*"]], "the value 'b' has no label on level 1"),
        ([["a", "x"], ["b", "y"]], "has 2 roots: 'a' ends in 'x', 'b' in 'y'"),
        (
            [["a", "x", "*"], ["a", "y", "*"]],
            "'a' occurs twice with different labels: on level 1 'x' and 'y'",
        ),
        ([["", "x", "*"], [None, "y", "*"]], "value of missing cells occurs twice"),
        (
            [["a", "x", "1", "*"], ["b", "x", "2", "*"]],
            "on level 1 the values 'a' and 'b' share the label 'x'",
        ),
    ],
)
def test_what_is_no_hierarchy_is_refused(rows, message) -> None:
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_rows(rows)


def test_a_line_may_occur_again_if_it_says_the_same() -> None:
    assert Hierarchy.from_rows([["a", "*"], ["b", "*"], ["a", "*"]]).values == ("a", "b")


def test_values_that_the_hierarchy_lacks_are_counted_and_the_first_is_shown() -> None:
    hierarchy = Hierarchy.from_rows([["a", "*"]])
    with pytest.raises(
        HierarchyError, match=r"lacks 2 of the 3 values of the column 'town', the first is 'b'"
    ):
        hierarchy.encode(column("town", ["a", "c", "b", "c"]))


def test_missing_values_without_a_line_are_refused_with_the_line_to_add() -> None:
    hierarchy = Hierarchy.from_rows([["a", "x", "any"]])
    with pytest.raises(HierarchyError, match=r"'town' has missing values.* add the line ;\(missing\);any"):
        hierarchy.encode(column("town", ["a", None]))
    with pytest.raises(HierarchyError, match=r"lacks 2 of the 3 values"):
        hierarchy.encode(column("town", ["a", "b", None]))


def test_unknown_values_and_levels_are_refused() -> None:
    hierarchy = Hierarchy.from_rows([["a", "*"]])
    with pytest.raises(HierarchyError, match="no line 'b'"):
        hierarchy.label("b", 1)
    for level in (-1, 2):
        with pytest.raises(ParameterError, match="levels 0 to 1"):
            hierarchy.label("a", level)
        with pytest.raises(ParameterError, match="levels 0 to 1"):
            hierarchy.labels(level)


# ------------------------------------------------------------------ properties


def test_an_empty_text_is_a_missing_value() -> None:
    hierarchy = Hierarchy.from_rows([["", "none", "*"], ["a", "some", "*"]])
    levels = hierarchy.encode(column("x", ["a", "", None]))
    assert [levels.labels[1][code] for code in levels.maps[1]] == ["none", "some", "none"]
    assert hierarchy.label("", 1) == hierarchy.label(None, 1) == "none"
    assert hierarchy.label(None, 0) == MISSING
    assert hierarchy.has_missing
    assert repr(hierarchy) == "Hierarchy(2 values, height 2)"


def test_values_are_in_ascending_order() -> None:
    assert Hierarchy.from_rows([[v, "*"] for v in ("10", "9", "-1", "1e1")]).values == (
        "-1",
        "9",
        "10",
        "1e1",
    )
    assert Hierarchy.from_rows([[v, "*"] for v in ("10", "9", None, "a")]).values == ("10", "9", "a", None)


@settings(max_examples=80)
@given(hierarchies(), st.randoms())
def test_the_order_of_lines_and_rows_does_not_matter(hierarchy, random) -> None:
    rows = list(hierarchy.rows())
    data = [value for value in hierarchy.values for _ in range(2)]
    random.shuffle(rows)
    shuffled = Hierarchy.from_rows(rows)
    assert list(shuffled.rows()) == list(hierarchy.rows())
    expected = hierarchy.encode(column("x", data, pa.string()))
    random.shuffle(data)
    got = shuffled.encode(column("x", data, pa.string()))
    assert got.labels == expected.labels
    for level in range(hierarchy.height + 1):
        np.testing.assert_array_equal(got.maps[level], expected.maps[level])
        np.testing.assert_array_equal(got.leaves[level], expected.leaves[level])


@settings(max_examples=80)
@given(hierarchies(), st.data())
def test_encoding_agrees_with_the_labels_of_each_value(hierarchy, data) -> None:
    chosen = data.draw(st.lists(st.sampled_from(hierarchy.values), min_size=1))
    encoded = hierarchy.attach(column("x", chosen, pa.string()))
    levels = encoded.levels
    assert levels is not None
    assert levels.height == hierarchy.height
    assert levels.maps[0].tolist() == list(range(encoded.cardinality))
    for level in range(1, levels.height + 1):
        shown = [levels.labels[level][levels.maps[level][code]] for code in encoded.codes]
        assert shown == [hierarchy.label(value, level) for value in chosen]
        assert len(set(levels.labels[level])) == levels.distinct(level)
        for label, leaves in zip(levels.labels[level], levels.leaves[level], strict=True):
            assert leaves == sum(hierarchy.label(value, level) == label for value in hierarchy.values)
        assert levels.parents(level - 1)[levels.maps[level - 1]].tolist() == levels.maps[level].tolist()


def test_a_hundred_thousand_values_encode_in_well_under_a_second() -> None:
    values = [str(number) for number in range(100_000)]
    levels = [[f"{int(v) // 10**power}" for v in values] for power in range(1, 6)]
    hierarchy = Hierarchy.from_levels(values, [*levels, ["*"] * len(values)])
    data = column("n", values)
    start = time.process_time()
    encoded = hierarchy.encode(data)
    assert time.process_time() - start < 0.8
    assert [encoded.distinct(level) for level in range(7)] == [100_000, 10_000, 1_000, 100, 10, 1, 1]


@pytest.mark.parametrize(
    "name",
    ["age", "education", "marital-status", "native-country", "occupation", "race", "sex", "workclass"],
)
def test_the_hierarchies_of_the_reference_data_cover_their_column(adult, name) -> None:
    lines = (adult / "adult.csv").read_text(encoding="utf-8").splitlines()
    position = lines[0].split(";").index(name)
    data = column(name, [line.split(";")[position] for line in lines[1:]])
    hierarchy = read_hierarchy(adult / f"adult_hierarchy_{name}.csv")
    assert hierarchy.encode(data).distinct(hierarchy.height) == 1
