"""Streams of Java objects: what a writer of the specification writes is read; strangers' bytes do no harm."""

from __future__ import annotations

import contextlib
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import InputError
from tarnkappe.table.formats.java_stream import (
    DEEPEST,
    JavaEnum,
    JavaObject,
    java_date,
    java_list,
    java_mapping,
    read_java_stream,
    unboxed,
)
from tests.java_streams import (
    Array,
    Char,
    Constant,
    Long,
    Obj,
    array_list,
    boxed,
    boxed_long,
    hash_map,
    java_stream,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = st.text("abcdefgh", min_size=1, max_size=4)
LEAVES = st.one_of(
    st.none(),
    TEXTS,
    st.builds(Constant, NAMES, NAMES),
    st.integers(-(2**31), 2**31 - 1).map(boxed),
    st.floats(allow_nan=False).map(boxed),
    st.integers(-(2**63), 2**63 - 1).map(boxed_long),
)
PRIMITIVES = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1).map(Long),
    st.characters(max_codepoint=0xD000).map(Char),
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(NAMES, st.one_of(PRIMITIVES, inner), max_size=4)
    return st.one_of(
        st.lists(inner, max_size=4).map(lambda items: array_list(*items)),
        st.dictionaries(TEXTS, inner, max_size=3).map(hash_map),
        st.lists(inner, max_size=4).map(lambda items: Array("x.Thing", items)),
        st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4).map(lambda items: Array("J", items)),
        st.builds(Obj, NAMES.map(lambda name: f"own.{name}"), fields),
    )


VALUES = st.recursive(LEAVES, containers, max_leaves=12)


def expected(value: Any) -> Any:
    """What a written value is, in plain data."""
    if isinstance(value, Constant):
        return ("constant", value.kind, value.name)
    if isinstance(value, Long):
        return value.value
    if isinstance(value, Char):
        return value.text
    if isinstance(value, Array):
        return [expected(item) for item in value.items]
    if isinstance(value, Obj):
        if value.kind.startswith("java.lang."):
            return expected(value.fields["value"])
        if value.kind == "java.util.ArrayList":
            return [expected(item) for item in (value.written or [])[1:]]
        if value.kind == "java.util.HashMap":
            flat = [expected(item) for item in (value.written or [])[1:]]
            return dict(zip(flat[::2], flat[1::2], strict=True))
        return (value.kind, {name: expected(each) for name, each in value.fields.items()})
    return value


def found(value: Any) -> Any:
    value = unboxed(value)
    if isinstance(value, JavaEnum):
        return ("constant", value.kind, value.constant)
    if isinstance(value, list):
        return [found(item) for item in value]
    if isinstance(value, JavaObject):
        if value.kind == "java.util.ArrayList":
            return [found(item) for item in java_list(value)]
        if value.kind == "java.util.HashMap":
            return {key: found(each) for key, each in java_mapping(value).items()}
        return (value.kind, {name: found(each) for name, each in value.fields.items()})
    return value


@given(values=st.lists(VALUES, min_size=1, max_size=3))
@settings(max_examples=80)
def test_what_is_written_is_read(values: list[Any]) -> None:
    assert [found(each) for each in read_java_stream(java_stream(*values))] == [expected(v) for v in values]


@given(value=VALUES, data=st.data())
@settings(max_examples=80)
def test_damaged_streams_are_refused_or_read_and_nothing_else(value: Any, data: st.DataObject) -> None:
    content = bytearray(java_stream(value))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(4, len(content)))
    for damaged in (bytes(content), bytes(content[:cut])):
        with contextlib.suppress(InputError):
            read_java_stream(damaged)


def test_an_object_may_hold_itself() -> None:
    node = Obj("own.Node")
    node.fields["self"] = node
    (read,) = read_java_stream(java_stream(node))
    assert read.fields["self"] is read


def test_what_is_no_stream_nests_deeply_or_claims_length_is_refused() -> None:
    deep: Any = None
    for _ in range(DEEPEST + 1):
        deep = array_list(deep)
    endless = bytearray(java_stream(Array("J", [1])))
    endless[-12:-8] = struct.pack(">i", 2**31 - 1)
    for content, words in (
        (b"PK\x03\x04", "does not begin as one"),
        (java_stream(deep), "nests deeper"),
        (bytes(endless), "cut off or damaged"),
        (java_stream("x")[:-1], "cut off or damaged"),
    ):
        with pytest.raises(InputError, match=words):
            read_java_stream(content)


def test_dates_are_milliseconds() -> None:
    (read,) = read_java_stream(java_stream(Obj("java.util.Date", {}, [struct.pack(">q", 86_400_000)])))
    assert java_date(read) == 86_400_000
    assert java_date("no date") is None


def test_something_else_is_no_list_and_no_map() -> None:
    (text,) = read_java_stream(java_stream("text"))
    for wrong in (java_list, java_mapping):
        with pytest.raises(InputError, match="something else"):
            wrong(text)
        assert not wrong(None)
