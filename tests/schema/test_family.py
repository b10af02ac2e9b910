"""Families by name: what is refused, and in which words."""

from __future__ import annotations

from typing import Annotated, ClassVar

import pytest

from tarnkappe.errors import ParameterError, TarnkappeError
from tarnkappe.schema import Family, Name, Parameters, param


class Headwear(Parameters, tag_field="wear"):
    name: ClassVar[str]


class Hat(Headwear):
    name = "hat"
    size: Annotated[int, param("how large it is", ge=1, le=99)]
    colour: Annotated[Name, param("what colour it has")] = "black"


class Cap(Headwear):
    name = "cap"


HATS: Family[Headwear] = Family("head wear", Hat, Cap)


def test_members_are_made_by_name() -> None:
    assert HATS.create("hat", {"size": 3}) == Hat(3)
    assert HATS.names == ("hat", "cap")
    assert list(HATS) == [Hat, Cap]
    assert len(HATS) == 2
    assert "cap" in HATS


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("hut", {}, "unknown head wear 'hut': did you mean hat"),
        ("xyz", {}, "unknown head wear 'xyz': known are hat, cap"),
        ("hat", {}, "size: it is missing"),
        ("hat", {"size": 1, "age": 2}, "age: there is no such parameter: it takes size, colour"),
        ("cap", {"size": 1}, "size: there is no such parameter: it takes none"),
    ],
)
def test_what_is_refused(name: str, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        HATS.create(name, parameters)


def test_two_members_of_one_name_are_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="share a name"):
        Family("head wear", Hat, Hat)


def test_every_error_knows_its_exit_code() -> None:
    kinds = [TarnkappeError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        assert kind.exit_code in {1, 2}
