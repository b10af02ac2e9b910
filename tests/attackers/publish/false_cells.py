"""Somebody who has the originals and looks for a cell of the release that is not true of its row."""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class ReleaseOf:
    """A release, the originals it was made from, and the columns that both have."""

    originals: Path
    release: Path
    columns: tuple[str, ...]


class FalseCells(Attacker[ReleaseOf]):
    """Gives every released row an original of its own that all of its cells are true of, or shows that none is left."""

    name = "false cells"
    promise = "true_cells"
    knows = "All originals."
    sees = "The release."
    does = "Seeks an original of its own for every released row, such that each cell is true of it."

    def attack(self, target: ReleaseOf) -> Iterator[Victim]:
        originals = _rows(target.originals, target.columns)
        released = _rows(target.release, target.columns)
        fits = np.ones((len(released), len(originals)), dtype=bool)
        for place in range(len(target.columns)):
            values, value_of = np.unique([row[place] for row in originals], return_inverse=True)
            labels, label_of = np.unique([row[place] for row in released], return_inverse=True)
            true = np.array([[is_true(str(label), str(value)) for value in values] for label in labels])
            fits &= true[label_of][:, value_of]
        found = maximum_bipartite_matching(csr_array(fits), perm_type="column")
        for row, original in zip(released, found, strict=True):
            if original < 0:
                yield Victim("a row", f"says {dict(zip(target.columns, row, strict=True))} of nobody")


def is_true(label: str, value: str) -> bool:
    """Whether what is written stands for a value, as a reader understands it."""
    if label in (value, "*"):
        return True
    if label.startswith("{") and label.endswith("}"):
        return any(is_true(part.strip(), value) for part in label[1:-1].split(","))
    if not value:  # a missing value: its own word, or a mask without a single character
        return label == "(missing)" or set(label) == {"*"}
    if (span := re.fullmatch(r"([\[\]])(.+), (.+)([\[\]])", label)) is not None:
        opening, low, high, closing = span.groups()
        if is_true(low, value) or is_true(high, value):  # a run from one label to another
            return opening == "[" and closing == "]"
        if value.isdigit():
            low, high = _end(low, 0), _end(high, -1)
        above = _order(low) <= _order(value) if opening == "[" else _order(low) < _order(value)
        below = _order(value) <= _order(high) if closing == "]" else _order(value) < _order(high)
        return above and below
    if (span := re.fullmatch(r"(\d+)-(\d+)", label)) is not None and value.isdigit():
        return int(span[1]) <= int(value) <= int(span[2])
    if re.fullmatch(r"(<|>=)\d+", label) and value.isdigit():
        return int(value) < int(label[1:]) if label[0] == "<" else int(value) >= int(label[2:])
    if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        year, month = value[:4], int(value[5:7])
        return label in (year, value[:7], f"{year}-Q{(month + 2) // 3}")
    if "*" in label:
        return re.fullmatch(re.escape(label).replace(r"\*", "."), value) is not None
    return False


def _end(text: str, which: int) -> str:
    """One end of the interval that a label stands for, or the text itself."""
    if re.fullmatch(r"(<|>=)\d+", text):  # open to one side: whatever is beyond belongs to it
        return "-999999999" if text[0] == "<" else "999999999"
    span = re.fullmatch(r"(\d+)-(\d+)", text)
    return span.groups()[which] if span else text


def _order(text: str) -> tuple[float, str]:
    # Dates in ISO form compare as text, everything else here is a number.
    return (float(text), "") if re.fullmatch(r"-?\d+(\.\d+)?", text) else (0.0, text)


def _rows(path: Path, columns: Sequence[str]) -> list[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [tuple(row[name] for name in columns) for row in csv.DictReader(file, delimiter=";")]
