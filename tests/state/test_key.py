"""Keyed marks."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import InputError, OutputError
from tarnkappe.state import Key

texts = st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=3)


@given(texts, texts)
def test_marks_are_equal_just_if_the_values_are(one: list[str | None], other: list[str | None]) -> None:
    key = Key(bytes(range(32)))
    assert (key.mark("x", one) == key.mark("x", other)) == (one == other)


@given(texts)
def test_another_key_or_another_domain_gives_other_marks(values: list[str | None]) -> None:
    key = Key(bytes(32))
    assert key.mark("x", values) not in {key.mark("y", values), Key.new().mark("x", values)}
    assert key.marks("x", [values]).to_pylist() == [key.mark("x", values)]


def test_a_key_file_is_made_once_and_for_the_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "history.key"
    key = Key.load(path, create=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Key.load(path, create=True).fingerprint == key.fingerprint
    assert path.read_text().strip() not in repr(key)


def test_a_new_key_takes_the_place_of_none(tmp_path: Path) -> None:
    path = tmp_path / "new.key"
    made = Key.create(path)
    assert Key.load(path).fingerprint == made.fingerprint
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(OutputError, match="never overwritten"):
        Key.create(path)
    with pytest.raises(OutputError, match="cannot be written"):
        Key.create(tmp_path / "no folder" / "new.key")


@given(st.lists(st.text(max_size=3), max_size=3), st.lists(st.text(max_size=3), max_size=3))
def test_keys_for_other_purposes_are_other_keys(one: list[str], other: list[str]) -> None:
    key = Key(bytes(range(32)))
    assert (key.derived(*one) == key.derived(*other)) == (one == other)
    assert len(key.derived(*one)) == 64


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with pytest.raises(InputError, match="cannot be read"):
        Key.load(path)
    path.write_text("not hexadecimal")
    path.chmod(0o600)
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        Key.load(path)
    path.write_text("00" * 31)
    with pytest.raises(InputError, match="32 bytes"):
        Key.load(path)
    path.write_text("00" * 32)
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        Key.load(path)
