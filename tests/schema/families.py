"""All families with parameters, and values that are wrong for most of them."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec import inspect

from tarnkappe.gate import STRATEGIES
from tarnkappe.hierarchy import BUILDERS
from tarnkappe.lattice import SEARCHES
from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.recoding import BUCKETIZATIONS, METHODS
from tarnkappe.recoding.perturbation import PERTURBATIONS
from tarnkappe.risk.attacks import ATTACKS
from tarnkappe.risk.measures import MEASURES
from tarnkappe.risk.repairs import REPAIRS
from tarnkappe.schema import Family, Field, fields_of
from tarnkappe.schema.described import alternatives

FAMILIES: dict[str, Family[Any]] = {
    family.family: family
    for family in (
        MODELS, LOSSES, SEARCHES, BUILDERS, METHODS, BUCKETIZATIONS, PERTURBATIONS, ATTACKS, MEASURES, REPAIRS,
        STRATEGIES,
    )
}  # fmt: skip
MEMBERS = [(family, name) for family, members in FAMILIES.items() for name in members.names]
DECLARED = [*(kind for members in FAMILIES.values() for kind in members), EvaluationSettings]
"""Every class with declared parameters."""

deep: list[Any] = []
for _ in range(2_000):
    deep = [deep]
itself: list[Any] = []
itself.append(itself)

WRONG: tuple[Any, ...] = (
    None, True, False, float("nan"), float("inf"), float("-inf"), -1, 0, 1, 2, 0.5, -0.5, 1e308, 10**8, 10**30,
    10**400, -(10**400), 10**5000, "", "x", "1/0", "1/3", "nan", "-1", "\0", "x" * 10_000, "x" * 1_000_000, b"x",
    bytearray(b"x"), [], [None], [1, 2], [2, 1], [[]], ["a", "a"], [["a"], ["a"]], [float("nan")], ["x", 1, None],
    (), ("a",), ["a"] * 200_000, deep, itself, {}, {"a": None}, {"a": float("nan")}, {"a": 1}, {1: 2}, {"a": [1]},
    {"a": ("0", "1")}, {"a": ("x", "1/0")}, {"a": {"a": {"a": {}}}}, dict.fromkeys(map(str, range(150_000)), 1),
    set(), {"a"}, frozenset({1}), object(), Fraction(1, 2), Fraction(10**400), decimal.Decimal("NaN"),
    decimal.Decimal(1), np.float64("nan"), np.int64(3), np.array([1, 2]), np.bool_(True), 1j,
    datetime.date(2020, 1, 1), lambda: None, int, Ellipsis, range(10**9),
)  # fmt: skip
"""None, truth, numbers that are none, too small, too large or whole, texts of all lengths and with zero characters,
bytes, lists and tables that are empty, huge, deep, endless or of the wrong things, fractions, numbers of NumPy, dates,
functions, classes, ranges."""


TOGETHER: dict[str, dict[str, Any]] = {
    "intervals": {"width": 5},
    "groups": {"groups": {"a": ["b"]}},
    "population-uniqueness": {"sampling_fraction": 0.5},
    "negative-disclosure-recursive-diversity": {"must_not_be_excluded": ["flu"]},
}
"""What a member needs beside the parameters that must be given."""


def plausible(kind: type) -> dict[str, Any]:
    """Values for the parameters that must be given."""
    found = {field.name: _plausible(field) for field in fields_of(kind) if field.required}
    return found | TOGETHER.get(getattr(kind, "name", ""), {})


def _plausible(field: Field) -> Any:
    if field.start is not None:
        return field.start
    kinds = list(alternatives(field.info))
    for kind in kinds:
        if isinstance(kind, inspect.DictType):
            pair = any(isinstance(each, inspect.TupleType) for each in alternatives(kind.value_type))
            return {"x": (0.1, 0.5) if pair else 0.5}
        if isinstance(kind, inspect.VarTupleType):
            return ("b",)
    return "c" if field.name != "column" else "a"


def constructions(kind: type, extra: int = 40) -> Iterator[dict[str, Any]]:
    """Every wrong value for every parameter, and some for several at once."""
    base, names = plausible(kind), [field.name for field in fields_of(kind)]
    for name in names:
        for value in WRONG:
            yield {**base, name: value}
    chance = random.Random(kind.__name__)
    for _ in range(extra if names else 0):
        some = chance.sample(names, chance.randint(1, len(names)))
        yield {**base, **{name: chance.choice(WRONG) for name in some}}
