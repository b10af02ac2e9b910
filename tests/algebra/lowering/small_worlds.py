"""Small tables with repeated rows and missing values, with hierarchies and noise for every column."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.expressions import Literal
from tarnkappe.algebra.nodes import Generalization, Plan
from tarnkappe.algebra.noise import Dynamic, Static
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.algebra.world import World
from tarnkappe.hierarchy import Hierarchy
from tests.algebra.random_plans import plans

TABLES = {"r": ("a", "b", "alter"), "s": ("a", "b", "alter"), "t": ("alter", "select")}
CELLS = ["u", "v", "w", None]
SIZES = ({"r": 0, "s": 2, "t": 1}, {"r": 4, "s": 5, "t": 3}, {"r": 12, "s": 9, "t": 6})

TALL = Hierarchy.from_rows([["u", "uv", "*"], ["v", "uv", "*"], ["w", "w-", "*"], [None, "w-", "*"]])
FLAT = Hierarchy.from_rows([["u", "*"], ["v", "*"], ["w", "*"], [None, "*"]])
HIERARCHIES = {"a": TALL, "b": FLAT, "alter": TALL, "select": FLAT}

COIN = Static({"u": Fraction(1, 3), "v": Fraction(2, 3)})
WITH_MISSING = Static({None: Fraction(1, 4), "w": Fraction(3, 4)})
STEPS = Dynamic(
    {
        "u": {"v": Fraction(1)},
        "v": {"u": Fraction(1, 2), "w": Fraction(1, 2)},
        "w": {"w": Fraction(1, 5), None: Fraction(4, 5)},
        None: {"u": Fraction(1, 7), None: Fraction(6, 7)},
    }
)
MANY = Static({f"{n:03}": Fraction(2 * (n + 1), 300 * 301) for n in range(300)})
"""More values than a statement lists."""
NOISE = {"a": COIN, "b": WITH_MISSING, "alter": STEPS, "select": MANY}
KEYS = [bytes([n]) * 32 for n in range(4)]

ALL = ("projection", "selection", "rename", "union", "intersection", "difference", "join", "theta-join")
ANONYMIZING = ("generalization", "slicing", "randomization")
DETERMINISTIC = (*ALL, "generalization")


def world(number: int) -> World:
    draw = random.Random(number)
    relations = {
        name: tuple(tuple(draw.choice(CELLS) for _ in columns) for _ in range(SIZES[number][name]))
        for name, columns in TABLES.items()
    }
    return World(relations, HIERARCHIES, NOISE, bucket=2)


WORLDS = [world(number) for number in range(len(SIZES))]
CATALOG = Catalog(TABLES, HIERARCHIES, NOISE, bucket=2)


def as_tables(world: World) -> dict[str, pa.Table]:
    return {
        name: pa.table(
            {c: pa.array([row[n] for row in world.rows(name)], pa.string()) for n, c in enumerate(columns)}
        )
        for name, columns in TABLES.items()
    }


def random_plans(operators: Iterable[str], depth: int = 3) -> st.SearchStrategy[Plan]:
    return plans(TABLES, depth, st.sampled_from(CELLS).map(Literal), tuple(operators)).map(with_small_k)


def with_small_k(plan: Plan) -> Plan:
    """The same plan with every k between 1 and 4."""
    plan = plan.with_children(*map(with_small_k, plan.children))
    return replace(plan, k=plan.k % 4 + 1) if isinstance(plan, Generalization) else plan


def whole(plan: Plan) -> ParsedQuery:
    return ParsedQuery(plan, plan.columns)


def bag(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> Counter[frozenset[tuple[str, Any]]]:
    names = list(columns)
    return Counter(frozenset(zip(names, row, strict=True)) for row in rows)


def bag_of(table: pa.Table) -> Counter[frozenset[tuple[str, Any]]]:
    return Counter(frozenset(row.items()) for row in table.to_pylist())
