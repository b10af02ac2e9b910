from __future__ import annotations

import pyarrow as pa
import pytest

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy import BUILDERS, Masking, read_hierarchy
from tests.conftest import FIXTURES


def lines(builder: Masking, values: list, data_type: pa.DataType | None = None) -> list[str]:
    return [";".join(map(str, row)) for row in builder.build(pa.array(values, data_type)).rows()]


@pytest.mark.parametrize("file", ["zip", "plz"])
def test_postcodes_lose_their_last_characters_first(file) -> None:
    expected = read_hierarchy(FIXTURES / "hierarchies" / f"{file}.csv")
    assert list(Masking().build(pa.array(expected.values)).rows()) == list(expected.rows())


def test_masking_from_the_left_with_another_character() -> None:
    assert lines(Masking(side="left", character="#"), ["abc"]) == ["abc;#bc;##c;###"]


def test_shorter_texts_are_padded_where_masking_begins() -> None:
    assert lines(Masking(), ["AB", "ABCD"]) == ["AB;AB**;AB**;A***;****", "ABCD;ABC*;AB**;A***;****"]
    assert lines(Masking(side="left"), ["B", "AB"]) == ["AB;*B;**", "B;*B;**"]
    assert lines(Masking(pad=" ", pad_side="left"), ["B", "AB"]) == ["AB;A*;**", "B; *;**"]


def test_whole_numbers_are_padded_with_zeros_on_the_left() -> None:
    assert lines(Masking(), [1067, 10115]) == [
        "1067;0106*;010**;01***;0****;*****", "10115;1011*;101**;10***;1****;*****",
    ]  # fmt: skip
    assert lines(Masking(), [-5, 120]) == ["-5;-0*;-**;***", "120;12*;1**;***"]


def test_each_level_may_mask_several_characters() -> None:
    assert lines(Masking(step=2), ["82667"]) == ["82667;826**;8****;*****"]
    assert lines(Masking(step=9), ["82667"]) == ["82667;*****"]


def test_a_digit_may_be_given_as_a_number() -> None:
    assert BUILDERS.create("masking", {"pad": 0, "pad_side": "left"}) == Masking(pad="0", pad_side="left")


def test_missing_values_end_in_the_same_root() -> None:
    assert lines(Masking(), ["ab", None]) == ["ab;a*;**", "None;(missing);**"]


def test_very_long_values_are_refused_with_a_step_that_works() -> None:
    with pytest.raises(HierarchyError, match=r"would need 80 levels.* set step to 10"):
        Masking().build(pa.array(["x" * 80]))
    assert Masking(step=10).build(pa.array(["x" * 80])).height == 8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"side": "middle"}, "side: one of left, right is needed, not 'middle'"),
        ({"pad_side": "both"}, "pad_side: one of left, right is needed, not 'both'"),
        ({"character": ""}, "character: too few characters: 0, at least 1 needed"),
        ({"character": "**"}, "character: too many characters: 2, at most 1 allowed"),
        ({"pad": 10}, "pad: at most 9 is allowed, not 10"),
        ({"pad": True}, "pad: a text or a whole number is needed, not True"),
        ({"step": 0}, "step: at least 1 is needed, not 0"),
    ],
)
def test_impossible_parameters_are_refused(parameters, message) -> None:
    with pytest.raises(ParameterError, match=message):
        BUILDERS.create("masking", parameters)
