"""An argument that is wrong in one place says which place, and what belongs there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import ParameterError
from tarnkappe.schema.arguments import fits, refuse_wrong

PEOPLE = pa.table({"age": [20 + row % 30 for row in range(60)], "ill": ["a", "b", "c"] * 20})


@pytest.mark.parametrize(
    ("value", "hint", "said"),
    [
        (["a", 5], Sequence[str], "x 2 is a text, not 5"),
        ([None], Sequence[str], "x 1 is a text, not None"),
        (("a", ["b"]), Sequence[str], "x 2 is a text, not a list"),
        ({"a": 5}, Mapping[str, str], "x.a is a text, not 5"),
        (
            {"a": {"b": [1, "2"]}},
            Mapping[str, Mapping[str, Sequence[int]]],
            "x.a.b 2 is a whole number, not '2'",
        ),
        ({5: "a"}, Mapping[str, str], "a name in x is a text, not 5"),
        ({"a": {5: 1}}, Mapping[str, Mapping[str, int]], "a name in x.a is a text, not 5"),
        ({"a": None}, Mapping[str, str | Sequence[str]] | None, "x.a is a text or a list of texts, not None"),
        ({"a": ["b", 1.5]}, Mapping[str, str | Sequence[str]] | None, "x.a 2 is a text, not 1.5"),
        (["a"], Mapping[str, int] | None, "x is a table of whole numbers or nothing, not a list"),
        ({"a": 1}, Sequence[str], "x is a list of texts, not a table"),
        ((1, 2, 3), tuple[int, int], "x is a list of whole numbers, not a list"),
        (10**20, int | None, "x is too large a number: at most 1,000,000,000,000,000,000"),
        (-(10**20), int, "x is too large a number"),
        (10**400, float, "x is too large a number: at most 1e+300"),
        ([1, 10**20], Sequence[int], "x 2 is too large a number"),
        (True, int | None, "x is a whole number or nothing, not True"),
        (float("nan"), float, "x is a finite number, not nan"),
    ],
)
def test_the_place_is_told_and_what_belongs_there(value: Any, hint: Any, said: str) -> None:
    assert not fits(value, hint)
    with pytest.raises(ParameterError) as refused:
        refuse_wrong("it", "x", value, hint)
    assert str(refused.value).lower().startswith(f"it: {said}".lower())


@pytest.mark.parametrize("use", [tarnkappe.propose, tarnkappe.anonymize])
@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ({"sensitive": ["ill", 5]}, "sensitive 2 is a text"),
        ({"hierarchies": {"age": 5}}, "hierarchies.age is a"),
        ({"k": 10**20}, "k is too large a number: at most"),
        ({"weights": {"age": "1"}}, "weights.age is a finite number"),
    ],
)
def test_so_do_the_functions(use: Any, argument: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said.replace(".", "[.]")):
        use(PEOPLE, **argument)
