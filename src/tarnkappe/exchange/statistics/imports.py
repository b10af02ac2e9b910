"""Importing published statistics from CSV and JSON.

A file is long (`attribute` and `value` in each line) or wide (a column for each attribute, an empty cell for
any value). Beside these, each line has `probability` or `count`, `population`, `source`, `valid_from` and,
for figures about the people with some condition, `condition_type` and `condition_value`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from tarnkappe.errors import InputError
from tarnkappe.exchange.statistics.store import PopulationFigure, Statistics

RESERVED = frozenset(
    {
        "attribute",
        "value",
        "condition_type",
        "condition_value",
        "probability",
        "count",
        "population",
        "source",
        "valid_from",
    }
)


def import_file(statistics: Statistics, path: str | Path) -> int:
    """Import a file, whole or not at all; the number of the import.

    Raises:
        InputError: if a line is no figure; the error names it.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: the statistics cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: statistics are UTF-8 text") from None
    if path.suffix not in READERS:
        raise InputError(f"{path}: statistics come as {' or '.join(READERS)}")
    facts = []
    for number, line in READERS[path.suffix](text, path):
        try:
            facts.append(_fact(line))
        except InputError as error:
            raise InputError(f"{path}, {number}: {error}") from None
    return statistics.add(facts, path.name, hashlib.sha256(content).hexdigest())


def _read_csv(text: str, path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    delimiter = ";" if ";" in text.partition("\n")[0] else ","
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        lines = list(reader)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from None
    return [(f"line {number}", line) for number, line in enumerate(lines, start=2)]


def _read_json(text: str, path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: this is no JSON") from None
    if not isinstance(content, list) or not all(isinstance(line, dict) for line in content):
        raise InputError(f"{path}: a JSON file of statistics is a list of objects")
    return [(f"object {number}", line) for number, line in enumerate(content, start=1)]


READERS = {".csv": _read_csv, ".json": _read_json}


def _fact(line: Mapping[str, Any]) -> PopulationFigure:
    said = {key: str(value).strip() for key, value in line.items() if value not in (None, "", [])}
    if None in line:
        raise InputError("there are more fields than columns")
    values = {key: value for key, value in said.items() if key not in RESERVED}
    if ("attribute" in said) != ("value" in said):
        raise InputError("an attribute needs a value and a value an attribute")
    if "attribute" in said:
        values[said["attribute"]] = said["value"]
    population = int(_number(said, "population"))
    return PopulationFigure(
        condition=(said.get("condition_type", ""), said.get("condition_value", "")),
        values=values,
        probability=_probability(said, population),
        population=population,
        source=said.get("source", ""),
        valid_from=_date(said),
    )


def _probability(said: Mapping[str, str], population: int) -> float:
    if ("probability" in said) == ("count" in said):
        raise InputError("say either the probability or the count")
    if "probability" in said:
        return _number(said, "probability")
    return _number(said, "count") / max(population, 1)


def _number(said: Mapping[str, str], name: str) -> float:
    try:
        return float(said[name])
    except KeyError:
        raise InputError(f"the {name} is missing") from None
    except ValueError:
        raise InputError(f"the {name} is no number") from None


def _date(said: Mapping[str, str]) -> date:
    try:
        return date.fromisoformat(said["valid_from"])
    except (KeyError, ValueError):
        raise InputError("valid_from is missing, or no date such as 2024-01-31") from None
