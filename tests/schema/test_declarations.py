"""Every parameter is declared completely: bounds that keep computations small, and a sentence for people."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from tarnkappe.schema import Field, Problem, fields_of
from tarnkappe.schema.described import LISTED, alternatives
from tarnkappe.schema.problem import TEMPLATES
from tests.schema.families import DECLARED, FAMILIES, plausible

KINDS = ("", "column", "columns", "values", "file", "seconds", "bytes", "share")
every_parameter = pytest.mark.parametrize(
    "field",
    [
        pytest.param(field, id=f"{kind.__name__}.{field.name}")
        for kind in DECLARED
        for field in fields_of(kind)
    ],
)
each_kind = pytest.mark.parametrize("kind", DECLARED, ids=lambda kind: kind.__name__)


def parts(info: inspect.Type) -> Iterator[inspect.Type]:
    """A type and everything in it."""
    yield info
    inner: list[Any] = [
        getattr(info, name) for name in ("type", "item_type", "key_type", "value_type") if hasattr(info, name)
    ]
    for each in [*inner, *getattr(info, "types", ()), *getattr(info, "item_types", ())]:
        yield from parts(each)


@every_parameter
def test_every_number_has_two_bounds_and_every_text_and_list_a_largest_length(field: Field) -> None:
    for part in parts(field.info):
        if isinstance(part, inspect.IntType | inspect.FloatType):
            assert (part.ge, part.gt) != (None, None), "how small may it be?"
            assert (part.le, part.lt) != (None, None), "how large may it be?"
        elif hasattr(part, "max_length"):
            assert part.max_length is not None, "how long may it be?"
        else:
            assert not isinstance(part, inspect.AnyType), "what may it be?"


@every_parameter
def test_every_parameter_has_a_sentence_and_a_start_that_fits(field: Field) -> None:
    assert 10 < len(field.help) < 120, field.help
    assert not field.help.endswith(".")
    assert field.kind in KINDS
    if field.start not in (None, {}):
        field.converted(field.start)
    if not field.required and field.default is not None:
        field.converted(field.default)


@pytest.mark.parametrize("family", FAMILIES)
def test_bounds_that_cost_time_are_small(family: str) -> None:
    most = {"levels": 64, "quantiles": 10_000, "most_exact": 20, "threads": 1_024}
    for kind in FAMILIES[family]:
        for field in fields_of(kind):
            numbers = [part.le for part in parts(field.info) if isinstance(part, inspect.IntType)]
            assert all(number <= most.get(field.name, number) for number in numbers), (kind.name, field.name)


@each_kind
def test_members_can_be_copied_sent_compared_and_hashed(kind: type) -> None:
    if kind.__name__ in {member.__name__ for member in (*FAMILIES["strategy"], *FAMILIES["repair"])}:
        return  # they have a memory, or nothing at all
    made = kind(**plausible(kind))
    for again in (
        copy.copy(made),
        copy.deepcopy(made),
        pickle.loads(pickle.dumps(made)),
        kind(**plausible(kind)),
    ):
        assert again == made
        assert hash(again) == hash(made)
        assert repr(again) == repr(made)
    with pytest.raises(AttributeError):
        made.name = "other"


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in ("strategy", "repair")])
def test_a_family_is_a_tagged_union_with_a_schema_for_editors(family: str) -> None:
    members = FAMILIES[family]
    described = msgspec.json.schema(members.union)
    for kind in members:
        made = kind(**plausible(kind))
        document = msgspec.to_builtins(made)
        assert msgspec.convert(document, members.union) == made
        listed = set(described["$defs"][kind.__name__]["properties"])
        assert listed == {kind.__struct_config__.tag_field, *(field.name for field in fields_of(kind))}


@pytest.mark.parametrize("code", TEMPLATES)
def test_every_code_says_something_with_its_arguments(code: str) -> None:
    names = (*["what", "hint", "expected", "got", "least", "most", "bound", "known", "problems", "rest"],)
    assert len(Problem(code, ("k",), dict.fromkeys(names, "ARG")).text) > len("k: ")


def test_no_text_with_a_pattern_is_united_with_a_list_or_a_table() -> None:
    """msgspec 0.22 ends the process over such a union."""
    found = [
        f"{kind.__name__}.{field.name}"
        for kind in DECLARED
        for field in fields_of(kind)
        if ends_the_process(field.info)
    ]
    assert found == []


def ends_the_process(info: inspect.Type) -> bool:
    """Whether a text with a pattern is united with a list or a table somewhere in a type."""
    kinds = list(alternatives(info))
    patterned = any(isinstance(each, inspect.StrType) and each.pattern for each in kinds)
    many = [each for each in kinds if isinstance(each, (*LISTED, inspect.TupleType, inspect.DictType))]
    inner = [
        getattr(each, name)
        for each in many
        for name in ("item_type", "key_type", "value_type")
        if hasattr(each, name)
    ]
    return bool(patterned and many) or any(map(ends_the_process, inner))
