"""What the tests of the example data have in common."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

from tarnkappe.table import MISSING, encode
from tarnkappe.table.examples import ExampleData


def rows_of(example: ExampleData) -> list[dict[str, Any]]:
    return example.table.data.to_pylist()


def texts(example: ExampleData, column: str) -> set[str]:
    """The distinct values of a column in the text form that hierarchies use."""
    labels = encode(example.table, [column])[column].labels
    return {"" if label == MISSING else label for label in labels}


def fingerprint(example: ExampleData) -> str:
    lines = ("|".join(map(str, row.values())) for row in rows_of(example))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def check_hierarchy(rows: list[list[str]]) -> None:
    assert len({len(row) for row in rows}) == 1
    assert len({row[0] for row in rows}) == len(rows)
    for lower, upper in itertools.pairwise(zip(*rows, strict=True)):
        above: dict[str, str] = {}
        for label, parent in zip(lower, upper, strict=True):
            assert above.setdefault(label, parent) == parent, f"'{label}' has two parents"
        assert "*" not in lower, "a root below the top"
        assert len(set(lower)) > len(set(upper)), f"a level that does not generalize: {set(lower)}"
    assert {row[-1] for row in rows} == {"*"}
