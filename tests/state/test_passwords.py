"""Passwords that are tried first are refused, wherever somebody chooses one; long ones of any kind are taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.gate.server.users import Users
from tarnkappe.service.people import Accounts
from tarnkappe.state import Store
from tarnkappe.state.passwords import require_password

TRIED_FIRST = [
    "",
    "short",
    "aaaaaaaaaaaa",
    "121212121212",
    "AaAaAaAaAaAa",
    "stephanie1",
    "Stephanie2024",
    "x" * 1001,
]


@pytest.mark.parametrize("password", TRIED_FIRST)
def test_what_is_tried_first_is_no_password_of_anybody(password: str, tmp_path: Path) -> None:
    people = Accounts(Store.in_memory())
    people.add("ann", ["steward"], "correct horse battery")
    with pytest.raises(ParameterError, match="a password"):
        people.add("stephanie", ["steward"], password)
    with pytest.raises(ParameterError, match="a password"):
        Users(tmp_path / "users.toml").put("stephanie", password)
    with pytest.raises(ParameterError, match="a password"):
        people.change("ann", password=password if "tephanie" not in password else "ann-ann-ann-1")


@given(st.text(st.characters(codec="utf-8"), min_size=12, max_size=60), st.text("abc", max_size=5))
def test_length_is_enough_where_characters_vary(text: str, name: str) -> None:
    password = "mwxyzq" + text
    require_password(password, name, 10)
