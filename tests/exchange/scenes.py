"""The worked requests as a test can vary them."""

from __future__ import annotations

import json
import socket
from typing import Any

import pyarrow as pa

from tarnkappe.exchange import (
    Anchor,
    AttributeCatalogue,
    DataRequest,
    Institution,
    Network,
    NetworkMember,
    Purpose,
    SitePolicy,
    Surroundings,
    Wanted,
)
from tests.conftest import FIXTURES

FIXTURE = json.loads((FIXTURES / "exchange" / "f-req-1.json").read_text(encoding="utf-8"))
ASKED = ("age", "sex", "weight", "origin", "occupation", "diagnosis")


def patients(rows: list[list[Any]] | None = None, **changes: dict[str, Any]) -> pa.Table:
    """The patients of F-REQ-1; `P02={"diagnosis": "D1"}` changes one of them."""
    table = [dict(zip(FIXTURE["columns"], row, strict=True)) for row in rows or FIXTURE["rows"]]
    for row in table:
        row.update({"name": f"Name {row['id']}", "medication": "X", **changes.get(row["id"], {})})
    return pa.Table.from_pylist(table)


def with_others(table: pa.Table) -> pa.Table:
    """The same people, and two others who look like each of them and take something else."""
    rows = table.to_pylist()
    ill = sorted({row["diagnosis"] for row in rows})
    others = [
        {
            **row,
            "id": f"{row['id']}-{place}",
            "medication": f"other {place}",
            "diagnosis": ill[(ill.index(row["diagnosis"]) + place) % len(ill)],
        }
        for row in rows
        for place in (1, 2)
    ]
    return pa.Table.from_pylist([*rows, *others], schema=table.schema)


def surroundings(
    table: pa.Table | None = None, policy: dict[str, Any] | None = None, **other: Any
) -> Surroundings:
    said = {**FIXTURE["policy"], **(policy or {})}
    around = {
        "institution": Institution("B", with_others(patients() if table is None else table), "id"),
        "catalogue": AttributeCatalogue.from_dict(FIXTURE["catalogue"]),
        "policy": SitePolicy.from_dict(said),
        "network": Network([NetworkMember("A", frozenset(Purpose), bound_to_secrecy=True)]),
    }
    return Surroundings(**{**around, **other})


def request(*names: str, **changes: Any) -> DataRequest:
    values: dict[str, Any] = {
        "id": "r1",
        "requester": "Dr. Ask",
        "institution": "A",
        "purpose": Purpose.RESEARCH,
        "question": "Do working conditions explain the symptoms?",
        "anchor": Anchor("medication", ("X",)),
        "wanted": tuple(Wanted(name) for name in names or ASKED),
    }
    return DataRequest(**{**values, **changes})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
