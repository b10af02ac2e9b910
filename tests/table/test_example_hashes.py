"""What the example data are made from may change its form; the tables, hierarchies and descriptions do not."""

from __future__ import annotations

import hashlib
import json

from tarnkappe.table.examples import SHAPE_NAMES, ExampleData, hospital, shaped, wide
from tests.table.example_checks import fingerprint

EXAMPLES = {
    "hospital": lambda: hospital(20_000, 7),
    **{name: lambda name=name: shaped(name, 20_000, 7) for name in SHAPE_NAMES},
    "wide": lambda: wide(20, 2_000, 7),
}


def digest(example: ExampleData) -> str:
    """The rows with their roles, every row of every hierarchy, and the description."""
    told = [
        fingerprint(example),
        {name: str(role) for name, role in example.table.roles.items()},
        example.hierarchies,
        example.description,
    ]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()[:24]


def test_the_examples_are_what_they_always_were() -> None:
    assert {name: digest(make()) for name, make in EXAMPLES.items()} == {
        "hospital": "18ea69763558b4fc3bdfd48c",
        "ADULT": "9dbe50a53791173e45c01d77",
        "CUP": "f034f103a817f820e922562e",
        "FARS": "3fb886e12c8d9fbe75c39f3a",
        "ATUS": "a4869a0bb3782993da67ee4d",
        "IHIS": "8febad6bf1250aaa3d392a9f",
        "wide": "4068857774e06b50102e4555",
    }
