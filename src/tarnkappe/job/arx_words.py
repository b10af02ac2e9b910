"""Words and numbers of a project of ARX, as a job file writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tarnkappe.algebra.xml_elements import Element
from tarnkappe.errors import (
    InputError,
)
from tarnkappe.hierarchy.builder import inline_table
from tarnkappe.job.arx_archive import texts_of


def _weights(settings: Element) -> dict[str, float]:
    found: dict[str, float] = {}
    for group in (child for child in settings.children if child.tag == "attributeWeights"):
        for said in map(texts_of, group.children):
            weight = _number(said.get("weight", ""))
            if weight is not None and weight >= 0:
                found[said.get("attribute", "")] = weight
    return found


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,30}(\.\d{1,30})?([eE][-+]?\d{1,3})?", text) else None


def _share(text: str) -> float:
    number = _number(text)
    if number is None or number > 1:
        raise InputError(
            "job.project-suppression-limit-no-share", "the project has a suppression limit that is no share"
        )
    return int(number) if number in (0, 1) else number


def _level(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\d{1,6}", text) else None


def _safe(name: str) -> str:
    """A name for a file that is no path and no device, whatever the column is called."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:40].strip("-") or "column"


def _keys(entry: Mapping[str, Any]) -> list[str]:
    return [inline_table({key: value})[1:-1] for key, value in entry.items()]


def _quoted(name: str) -> str:
    return inline_table({name: 0})[1 : -len(" = 0}")]
