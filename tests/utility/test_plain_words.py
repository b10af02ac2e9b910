"""Words of releases by their form: whoever wrote them."""

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table.encoding import encode_column
from tarnkappe.utility import ColumnDomain
from tarnkappe.utility.columns import details_of, read_with_domains, read_words
from tarnkappe.utility.plain_words import detail_by_form, meaning_by_form

AGES = ["18", "20", "25", "29", "30", "60", "75"]
NUMBERS = np.array(list(map(float, AGES)))


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("20-29", ["20", "25", "29"]),
        ("[20, 29]", ["20", "25", "29"]),
        ("[20, 30[", ["20", "25", "29"]),
        ("[20, 30)", ["20", "25", "29"]),
        ("]18, 25]", ["20", "25"]),
        ("20..25", ["20", "25"]),
        (">= 60", ["60", "75"]),
        ("<20", ["18"]),
        ("{18, 75}", ["18", "75"]),
    ],
)
def test_ranges_and_sets_of_other_programs_are_read(word: str, meant: list[str]) -> None:
    found = meaning_by_form(word, AGES, NUMBERS)
    assert found is not None
    assert [AGES[i] for i in found] == meant
    assert detail_by_form(word) == "coarse"


@pytest.mark.parametrize("word", ["0,5", "1,234", "3,999", "-7,25", "1,234,567", "1.234,5", "2;3"])
def test_a_number_with_a_comma_is_no_range(word: str) -> None:
    """Files with decimal commas, or with commas at thousands, are told exactly as they are written."""
    assert detail_by_form(word) == "exact"
    outcome = read_words(pa.table({"factor": [word] * 3}), {})["factor"].outcome
    assert (outcome.exact, outcome.mean_width) == (1, None)
    assert meaning_by_form(word, AGES, NUMBERS) is None


def test_a_word_that_tells_nothing_by_its_form_is_not_guessed() -> None:
    assert meaning_by_form("young", AGES, NUMBERS) is None
    assert meaning_by_form("90-99", AGES, NUMBERS) is None, "a range without any value"
    assert meaning_by_form("*", AGES, NUMBERS) is None


def test_parts_of_dates_and_masks_are_read() -> None:
    days = ["1990-05-01", "1990-06-01", "1991-05-01"]
    assert meaning_by_form("1990", days, None).tolist() == [0, 1]  # type: ignore[union-attr]
    assert meaning_by_form("1990-05", days, None).tolist() == [0]  # type: ignore[union-attr]
    codes = ["53111", "53229", "60311"]
    assert meaning_by_form("53***", codes, None).tolist() == [0, 1]  # type: ignore[union-attr]


def test_a_public_reader_with_a_code_list_knows_labels() -> None:
    rows = [["a", "north", "*"], ["b", "north", "*"], ["c", "south", "*"], ["d", "south", "*"]]
    release = pa.table({"town": ["a", "north", "north", "*"]})
    found = read_words(release, {"town": Hierarchy.from_rows(rows)})["town"].outcome
    assert (found.exact, found.coarse, found.hidden, found.distinct) == (0.25, 0.5, 0.25, 3)
    assert found.loss == pytest.approx((0 + 1 / 3 + 1 / 3 + 1) / 4)


def test_with_the_original_a_range_that_holds_one_value_only_is_exact() -> None:
    domain = ColumnDomain(encode_column("age", pa.chunked_array([[18, 25, 40]])))
    release = pa.table({"age": ["20-29", "18-25", "*"]})
    found = read_with_domains(release, {"age": domain})["age"].outcome
    assert (found.exact, found.coarse, found.hidden) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert found.mean_width == 7
    assert found.loss == pytest.approx((0 + 1 / 2 + 1) / 3)


def test_a_label_that_is_also_a_value_counts_as_a_label() -> None:
    """Otherwise the public part would tell whether somebody has the value 30."""
    with_30 = Hierarchy.from_rows([["28", "30", "*"], ["30", "30", "*"], ["41", "40", "*"]])
    without = Hierarchy.from_rows([["28", "30", "*"], ["31", "30", "*"], ["41", "40", "*"]])
    assert details_of(with_30) == details_of(without)
    release = pa.table({"age": ["30", "40", "*"]})
    told = [str(read_words(release, {}, {"age": details_of(h)})["age"].outcome) for h in (with_30, without)]
    assert told[0] == told[1] == "coarser in 67%, hidden in 33%"
