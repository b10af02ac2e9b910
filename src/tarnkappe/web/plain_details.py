"""The details of a log entry without the signs of a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain_details(value: Any) -> str:
    """Details in one line; what is not there is not mentioned.

    >>> plain_details({"user": "eve", "columns": ["age", "sex"], "refused": None, "least": {"age": 2}})
    'user: eve, columns: age sex, least: age: 2'
    """
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key}: {plain_details(each)}" for key, each in value.items() if each not in (None, {}, [])
        )
    return " ".join(map(plain_details, value)) if isinstance(value, list | tuple) else str(value)
