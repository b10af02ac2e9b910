"""Builders for categories: groups by hand, by order, by frequency."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy import BUILDERS, Builder, Frequent, GroupsBuilder, Ordered, read_hierarchy
from tests.conftest import FIXTURES


def lines(builder: Builder, values: list) -> list[str]:
    return [";".join(map(str, row)) for row in builder.build(pa.array(values)).rows()]


# ------------------------------------------------------------------ groups


def test_recoding_keeps_the_names_of_the_categories() -> None:
    jobs = read_hierarchy(FIXTURES / "hierarchies" / "job.csv")
    merged = [["Statistiker", "Mathematiker"]]
    built = GroupsBuilder(merged, others="keep", joined_with=" oder ").build(pa.array(jobs.values))
    assert list(built.rows()) == list(jobs.rows())
    assert GroupsBuilder(merged).build(pa.array(["Statistiker"])).labels(1) == (
        "Statistiker or Mathematiker",
    )


def test_several_levels_group_the_labels_of_the_level_before() -> None:
    regions = GroupsBuilder(
        levels=[
            {"Austria": ["Wien", "Graz"], "Germany": ["Ulm"], "Japan": ["Kobe"]},
            {"Europe": ["Austria", "Germany"], "Asia": ["Japan"]},
        ]
    )
    assert lines(regions, ["Ulm", "Kobe"]) == [
        "Graz;Austria;Europe;*", "Kobe;Japan;Asia;*", "Ulm;Germany;Europe;*", "Wien;Austria;Europe;*",
    ]  # fmt: skip


def test_values_that_are_not_listed_are_refused_kept_or_merged() -> None:
    groups = {"ab": ["a", "b"]}
    with pytest.raises(HierarchyError, match="groups lacks 'c' of the data on level 1: add it to a group"):
        GroupsBuilder(groups).build(pa.array(["a", "c"]))
    assert lines(GroupsBuilder(groups, others="keep"), ["c"])[-1] == "c;c;*"
    assert lines(GroupsBuilder(groups, others="merge"), ["c"])[-1] == "c;other;*"
    assert lines(GroupsBuilder(groups, others="merge", other="rest"), ["c"])[-1] == "c;rest;*"


def test_the_missing_value_is_grouped_where_it_is_listed() -> None:
    unknown = GroupsBuilder({"unknown": ["?", "(missing)"], "known": ["a"]})
    assert lines(unknown, ["?", None, "a"]) == ["?;unknown;*", "a;known;*", "None;unknown;*"]
    apart = GroupsBuilder(levels=[{"known": ["a", "b"]}, {"all": ["known", "(missing)"]}])
    assert lines(apart, ["a", None])[-1] == "None;(missing);all;*"
    merged = GroupsBuilder(levels=[{"unknown": ["(missing)", "?"]}, {"rare": ["unknown"]}], others="merge")
    assert lines(merged, [None, "a"])[-1] == "None;unknown;rare;*"


def test_members_may_be_numbers_and_truth_values() -> None:
    assert lines(GroupsBuilder({"low": [1, 2.0], "high": [3]}), [1, 3]) == ["1;low;*", "2;low;*", "3;high;*"]
    assert lines(GroupsBuilder({"yes": [True], "no": [False]}), [True, False]) == ["false;no;*", "true;yes;*"]


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({}, ParameterError, "either groups or levels"),
        ({"groups": {"a": ["b"]}, "levels": [{"a": ["b"]}]}, ParameterError, "either groups or levels"),
        (
            {"groups": {"a": ["b"]}, "others": "drop"},
            ParameterError,
            "others: one of keep, merge, refuse is needed, not 'drop'",
        ),
        (
            {"groups": {"a": ["b"]}, "other": ""},
            ParameterError,
            "other: too few characters: 0, at least 1 needed",
        ),
        ({"groups": {"a": []}}, ParameterError, r"groups\.a: too few entries: 0, at least 1 needed"),
        ({"groups": {"": ["b"]}}, ParameterError, r"groups\.: too few characters: 0, at least 1 needed"),
        ({"groups": {"a": 3}}, ParameterError, r"groups\.a: a list of texts is needed, not 3"),
        ({"groups": [["a", ""]]}, ParameterError, "groups 1 2: too few characters: 0, at least 1 needed"),
        ({"groups": {"a": ["x"], "b": ["x"]}}, HierarchyError, "'x' twice on level 1: under 'a' and 'b'"),
    ],
)
def test_impossible_groups_are_refused(parameters, error, message) -> None:
    with pytest.raises(error, match=message):
        BUILDERS.create("groups", parameters)


def test_a_member_that_is_no_label_of_the_level_before_is_refused_with_the_nearest() -> None:
    typing_error = GroupsBuilder(levels=[{"Europe": ["Ulm"]}, {"World": ["Europa"]}], others="keep")
    with pytest.raises(HierarchyError, match=r"'Europa' on level 2, .* did you mean 'Europe'"):
        typing_error.build(pa.array(["Ulm"]))


# ------------------------------------------------------------------ order


def test_neighbours_are_grouped_by_the_given_order() -> None:
    schooling = Ordered(size=[2, 2], order=["none", "primary", "secondary", "degree", "doctorate"])
    built = schooling.build(pa.array(["degree", "none"]))
    assert [built.label("degree", level) for level in (1, 2, 3)] == [
        "secondary to degree", "none to degree", "*",
    ]  # fmt: skip
    assert built.label("doctorate", 1) == "doctorate"
    with pytest.raises(HierarchyError, match="ordered lacks the value 'college' of the data: add it"):
        schooling.build(pa.array(["college"]))


def test_the_natural_order_reads_numbers_in_texts() -> None:
    assert lines(Ordered(size=2), ["10th", "9th", "11th", "1st"]) == [
        "10th;10th to 11th;*", "11th;10th to 11th;*", "1st;1st to 9th;*", "9th;1st to 9th;*",
    ]  # fmt: skip
    assert Ordered(size=2).build(pa.array([10, 9, 2, 100])).labels(1) == ("2 to 9", "10 to 100")
    assert Ordered(size=2).build(pa.array(["10", "9", "-2", "100"])).labels(1) == ("-2 to 9", "10 to 100")


def test_groups_whose_names_would_be_the_same_stay_apart() -> None:
    values = ["a", "b to c", "a to b", "c"]
    built = Ordered(size=[2, 2], order=values).build(pa.array(values))
    assert [built.label(value, 1) for value in values] == [
        "a to b to c", "a to b to c", "a to b to c (2)", "a to b to c (2)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"size": 1}, "size: at least 2 is needed, not 1"),
        ({"size": []}, "size: too few entries: 0, at least 1 needed"),
        ({"size": 2, "order": ["a", "b", "a"]}, "order: the value 'a' is listed twice"),
        ({"size": 2, "order": ["a", ["b"]]}, "order 2: a text is needed, not a list"),
    ],
)
def test_impossible_orders_are_refused(parameters, message) -> None:
    with pytest.raises(ParameterError, match=message):
        BUILDERS.create("ordered", parameters)


# ------------------------------------------------------------------ frequency


def test_frequent_values_keep_their_names_and_ties_go_to_the_first() -> None:
    towns = ["Ulm"] * 3 + ["Hof"] * 2 + ["Au"] * 2 + ["Bad"]
    assert lines(Frequent(keep=[2, 1]), towns) == [
        "Au;Au;other;*", "Bad;other;other;*", "Hof;other;other;*", "Ulm;Ulm;Ulm;*",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"keep": 0}, ParameterError, "keep: at least 1 is needed, not 0"),
        ({"keep": []}, ParameterError, "keep: too few entries: 0, at least 1 needed"),
        ({"keep": 2, "other": ""}, ParameterError, "other: too few characters: 0, at least 1 needed"),
        ({"keep": [2, 2]}, HierarchyError, "it must keep fewer values on every level, not 2, 2"),
    ],
)
def test_impossible_frequencies_are_refused(parameters, error, message) -> None:
    with pytest.raises(error, match=message):
        BUILDERS.create("frequent", parameters)
