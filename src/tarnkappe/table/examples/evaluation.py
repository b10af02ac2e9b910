"""The evaluation data sets as shapes: `data/shapes.toml` says what of them is published and what made up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from tarnkappe.table.examples.domains import ExampleDomain, masked, named, numbered, numbers
from tarnkappe.table.examples.draw import Weights, zipf
from tarnkappe.table.examples.lists import read_toml
from tarnkappe.table.examples.model import (
    Affinity,
    ColumnDependence,
    ColumnModel,
    TableShape,
    dominated,
    hill,
    near,
    only_in,
    scattered,
    uneven,
)

SHAPE_NAMES = ("ADULT", "CUP", "FARS", "ATUS", "IHIS")


@cache
def shape(name: str) -> TableShape:
    """One of `SHAPE_NAMES`."""
    said = _shapes()[name]
    return TableShape(name, said["text"], said["rows"], tuple(map(_attribute, said["columns"])))


@cache
def _shapes() -> dict[str, Any]:
    return read_toml("shapes")


def _attribute(said: Mapping[str, Any]) -> ColumnModel:
    domain = _domain(said)
    links = tuple(
        ColumnDependence(each["column"], each["level"], _affinity(each)) for each in said.get("links", ())
    )
    weights = _weights(said["weights"], domain.distinct)
    return ColumnModel(said["name"], domain, weights, links, said.get("sensitive", False))


def _domain(said: Mapping[str, Any]) -> ExampleDomain:
    if "named" in said:
        return named(said["named"])
    if "numbered" in said:
        return numbered(said["numbered"]["label"], said["numbered"]["count"], *said["numbered"]["groups"])
    if "numbers" in said:
        return numbers(said["name"], **said["numbers"])
    first, last, count = (said["masked"][key] for key in ("first", "last", "count"))
    return masked(f"{first + index * (last - first) // (count - 1):05}" for index in range(count))


def _weights(said: Mapping[str, Any], count: int) -> Weights:
    if "shares" in said:
        return np.array(said["shares"], dtype=np.float64)
    if "equal" in said:
        return np.ones(count)
    if "hill" in said:
        return hill(count, *said["hill"])
    weights = zipf(count, said["zipf"]) if "zipf" in said else dominated(count, *said["dominated"])
    return scattered(weights) if said.get("scattered") else weights


def _affinity(said: Mapping[str, Any]) -> Affinity:
    if "uneven" in said:
        return uneven(said["uneven"])
    if "near" in said:
        return near(said["near"])
    return only_in(said["only_in"], said["otherwise"])
