"""Flags that say what to do with a column: `--level age=1..3`, `--weight age=2`, `--aggregate age=mean`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tarnkappe.errors import ParameterError


def plan_from_flags(
    content: dict[str, Any],
    levels: Sequence[str] = (),
    weights: Sequence[str] = (),
    aggregates: Sequence[str] = (),
    suppressed: Sequence[str] = (),
) -> None:
    """Write flags about columns into the content of a job file.

    >>> content = {}
    >>> plan_from_flags(content, ["age=1..3", "sex=0"], ["age=2"], ["bmi=mean"])
    >>> content["columns"]["age"], content["columns"]["bmi"]
    ({'min_level': 1, 'max_level': 3, 'weight': 2.0}, {'aggregate': 'mean'})
    """
    for text in levels:
        name, value = _assignment("level", text)
        least, dots, greatest = value.partition("..")
        keys = ("min_level", "max_level") if dots else ("level",)
        given = zip(keys, (least, greatest), strict=False)
        _plan(content, name).update({key: _level(text, number) for key, number in given if number})
    for text in weights:
        name, value = _assignment("weight", text)
        _plan(content, name)["weight"] = _number(text, value)
    for text in aggregates:
        name, value = _assignment("aggregate", text)
        _plan(content, name)["aggregate"] = value
    for name in suppressed:
        _plan(content, name)["suppressed"] = True


def _plan(content: dict[str, Any], name: str) -> dict[str, Any]:
    plan: dict[str, Any] = content.setdefault("columns", {}).setdefault(name, {})
    return plan


def _assignment(flag: str, text: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=")
    if not sign or not name or not value:
        raise ParameterError(f"--{flag} {text}: write --{flag} COLUMN=VALUE")
    return name, value


def _level(text: str, value: str) -> int:
    if not value.isdecimal():
        raise ParameterError(f"--level {text}: a level is a whole number from 0, or two of them: COLUMN=1..3")
    return int(value)


def _number(text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ParameterError(f"--weight {text}: a weight is a number, as in COLUMN=2.5") from None
