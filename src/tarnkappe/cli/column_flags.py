"""Flags that say what to do with a column: `--level age=1..3`, `--weight age=2`, `--aggregate age=mean`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tarnkappe.cli.arguments import parse_column
from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.job.document import ColumnSection
from tarnkappe.schema.documents import parse
from tarnkappe.table import Role


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
    _refuse_twice("level", levels)
    _refuse_twice("weight", weights)
    _refuse_twice("aggregate", aggregates)
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


def roles_from_flags(content: dict[str, Any], roles: Mapping[Role, Sequence[str]]) -> None:
    """Write the roles that flags give to columns, as COLUMN or COLUMN=HIERARCHY, into a job file's content.

    A column with two roles is refused, whoever gave the first: no order decides which counts.

    >>> content = {}
    >>> roles_from_flags(content, {Role.QUASI_IDENTIFIER: ["age"]})
    >>> content
    {'columns': {'age': {'role': 'quasi-identifier'}}}
    """
    for role, columns in roles.items():
        for column in columns:
            name, file = parse_column(column)
            said = {"role": str(role)} | ({"hierarchy": str(Path(file).absolute())} if file else {})
            plan = _plan(content, name)
            if plan.get("role", role) != role:
                raise ColumnError(
                    "cli.column-given-two-roles",
                    "the column '{name}' is given two roles: {role} and {role_2}",
                    name=name,
                    role=plan["role"],
                    role_2=role,
                )
            if file and "hierarchy" in plan and plan["hierarchy"] != said["hierarchy"]:
                raise ColumnError(
                    "cli.column-given-two-hierarchies",
                    "the column '{name}' is given two hierarchies: leave one out",
                    name=name,
                )
            plan.update(said)


def accepted_plans(flags: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Which detectors are wrong about which columns, as COLUMN=DETECTOR, in the words of a job file.

    >>> accepted_plans(["shop=e-mail", "shop=name"])
    {'shop': {'accept': {'e-mail': 'accepted on the command line', 'name': 'accepted on the command line'}}}
    """
    plans: dict[str, dict[str, Any]] = {}
    for text in flags:
        name, detector = _assignment("accept", text)
        plans.setdefault(name, {"accept": {}})["accept"][detector] = "accepted on the command line"
        parse(ColumnSection, plans[name], name=f"'{name}'")
    return plans


def accept_too(content: dict[str, Any], plans: Mapping[str, Mapping[str, Any]]) -> None:
    """Write what flags accept into the content of a job file; what the file says already stays."""
    for name, plan in plans.items():
        said = _plan(content, name)
        if isinstance(said.setdefault("accept", {}), dict):  # else the job is refused, with the reason
            said["accept"] = {**plan["accept"], **said["accept"]}


def types_from_flags(content: dict[str, Any], types: Mapping[str, str]) -> None:
    """Write the types that flags give to columns into a job file's content.

    >>> content = {}
    >>> types_from_flags(content, {"birth": "date:%d.%m.%Y"})
    >>> content
    {'columns': {'birth': {'type': 'date', 'format': '%d.%m.%Y'}}}
    """
    for name, said in types.items():
        kind, colon, form = said.partition(":")
        _plan(content, name).update({"type": kind} | ({"format": form} if colon else {}))


def _plan(content: dict[str, Any], name: str) -> dict[str, Any]:
    plan = content.setdefault("columns", {}).setdefault(name, {})
    if not isinstance(plan, dict):
        raise ColumnError(
            "cli.columns-says-write-column",
            '[columns] says {name} = {plan!r}: write [columns."{name}"] for a column',
            name=name,
            plan=plan,
        )
    return plan


def _assignment(flag: str, text: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=")
    if not sign or not name or not value:
        raise ParameterError(
            "cli.write-column-value", "--{flag} {text}: write --{flag} COLUMN=VALUE", flag=flag, text=text
        )
    return name, value


def _refuse_twice(flag: str, texts: Sequence[str]) -> None:
    names = [_assignment(flag, text)[0] for text in texts]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                "cli.column-flags-given-twice-leave",
                "--{flag} is given twice for '{name}': leave one out",
                flag=flag,
                name=name,
            )


def _level(text: str, value: str) -> int:
    if not value.isdecimal():
        raise ParameterError(
            "cli.level-level-whole-number",
            "--level {text}: a level is a whole number from 0, or two of them: COLUMN=1..3",
            text=text,
        )
    return int(value)


def _number(text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ParameterError(
            "cli.weight-weight-number-column",
            "--weight {text}: a weight is a number, as in COLUMN=2.5",
            text=text,
        ) from None
