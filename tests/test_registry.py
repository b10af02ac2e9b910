"""Families by name: what is refused, and in which words."""

from __future__ import annotations

import dataclasses

import pytest

from tarnkappe.errors import ParameterError, TarnkappeError
from tarnkappe.registry import Registry


@dataclasses.dataclass(frozen=True)
class Hat:
    name = "hat"
    size: int
    colour: str = "black"


@dataclasses.dataclass(frozen=True)
class Cap:
    name = "cap"


HATS: Registry[Hat | Cap] = Registry("head wear", Hat, Cap)


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
        ("hat", {}, "needs the parameter 'size'"),
        ("hat", {"size": 1, "age": 2}, r"has no parameter 'age' \(it takes size, colour\)"),
        ("cap", {"size": 1}, r"has no parameter 'size' \(it takes no parameters\)"),
    ],
)
def test_what_is_refused(name: str, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        HATS.create(name, parameters)


def test_two_members_of_one_name_are_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="share a name"):
        Registry("head wear", Hat, Hat)


def test_every_error_knows_its_exit_code() -> None:
    kinds = [TarnkappeError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        assert kind.exit_code in {1, 2}
