"""Importing published statistics from CSV and JSON.

A file is long (`attribute` and `value` in each line) or wide (a column for each attribute, an empty cell for
any value). Beside these, each line has `probability` or `count`, `population`, `source`, `valid_from` and,
for figures about the people with some condition, `condition_type` and `condition_value`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from tarnkappe.errors import InputError
from tarnkappe.exchange.statistics.store import PopulationFigure, Statistics
from tarnkappe.table import read
from tarnkappe.table.encoding import as_text
from tarnkappe.table.formats.text_read import read_text
from tarnkappe.table.spelling import Spelling

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
    if path.suffix not in READERS:
        raise InputError(
            "exchange.statistics-come",
            "{path}: statistics come as {readers}",
            path=path,
            readers=" or ".join(READERS),
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            "exchange.statistics-cannot-read",
            "{path}: the statistics cannot be read: {strerror}",
            path=path,
            strerror=error.strerror,
        ) from None
    facts = []
    for number, line in READERS[path.suffix](path):
        try:
            facts.append(_fact(line))
        except InputError as error:
            raise InputError(
                "exchange.path-number-error",
                "{path}, {number}: {error}",
                path=path,
                number=number,
                error=error,
            ) from None
    return statistics.add(facts, path.name, hashlib.sha256(content).hexdigest())


def _read_csv(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """The lines of a file as any program writes it: numbers may have a decimal comma."""
    table = read(path)
    assert table.reading is not None, "a file has a reading"
    columns = {name: as_text(table.data.column(name).combine_chunks()) for name in table.column_names}
    for name in (name for name in FIGURES if name in columns):
        spelling = table.reading.spelling(name)
        if spelling is not None and spelling.number is not None:
            texts = columns[name].to_pylist()
            columns[name] = pa.array([_plain(spelling, text) for text in texts], pa.string())
    rows = zip(*(column.to_pylist() for column in columns.values()), strict=True)
    first = table.reading.header + 1
    return [(f"line {first + n}", dict(zip(columns, row, strict=True))) for n, row in enumerate(rows)]


def _plain(spelling: Spelling, text: str | None) -> str | None:
    number = None if text is None else spelling.number_of(text)
    return text if number is None else str(number)


def _read_json(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(
            "exchange.line-no-json", "{path}, line {lineno}: this is no JSON", path=path, lineno=error.lineno
        ) from None
    if not isinstance(content, list) or not all(isinstance(line, dict) for line in content):
        raise InputError(
            "exchange.json-file-statistics-list",
            "{path}: a JSON file of statistics is a list of objects",
            path=path,
        )
    return [(f"object {number}", line) for number, line in enumerate(content, start=1)]


FIGURES = ("probability", "count", "population")
READERS = {".csv": _read_csv, ".json": _read_json}


def _fact(line: Mapping[str, Any]) -> PopulationFigure:
    said = {key: str(value).strip() for key, value in line.items() if value not in (None, "", [])}
    values = {key: value for key, value in said.items() if key not in RESERVED}
    if ("attribute" in said) != ("value" in said):
        raise InputError(
            "exchange.attribute-needs-value-value", "an attribute needs a value and a value an attribute"
        )
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
        raise InputError("exchange.say-either-probability-count", "say either the probability or the count")
    if "probability" in said:
        return _number(said, "probability")
    return _number(said, "count") / max(population, 1)


def _number(said: Mapping[str, str], name: str) -> float:
    try:
        return float(said[name])
    except KeyError:
        raise InputError("exchange.name-missing", "the {name} is missing", name=name) from None
    except ValueError:
        raise InputError("exchange.no-number", "the {name} is no number", name=name) from None


def _date(said: Mapping[str, str]) -> date:
    try:
        return date.fromisoformat(said["valid_from"])
    except (KeyError, ValueError):
        raise InputError(
            "exchange.valid-missing-no-date", "valid_from is missing, or no date such as 2024-01-31"
        ) from None
