"""Words that stand for a missing value, and where they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

ALWAYS = ("NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "#N/A", "#NV")
"""Missing wherever they stand alone, exactly so: `Na` and `Null` are names of people."""

AMONG_NUMBERS = (
    "-",
    "--",
    ".",
    "?",
    "none",
    "None",
    "unknown",
    "Unknown",
    "k.A.",
    "keine Angabe",
)
"""Missing only where nearly everything else is a number or a date: elsewhere they are values."""

MARKS = (*ALWAYS, *AMONG_NUMBERS)

NAMIBIA = "NA"
COUNTRY_CODES = 3
"""Beside so many other codes of two letters, `NA` is Namibia."""


def always_missing(texts: Iterable[str]) -> tuple[str, ...]:
    """The marks among the distinct texts of a column that are missing whatever else it holds.

    >>> always_missing(["1", "NA", "n/a"]), always_missing(["DE", "FR", "NA", "AT"])
    (('NA', 'n/a'), ())
    """
    distinct = set(texts)
    found = [mark for mark in ALWAYS if mark in distinct]
    codes = sum(len(text) == 2 and text.isascii() and text.isalpha() and text.isupper() for text in distinct)
    if NAMIBIA in found and codes > COUNTRY_CODES:
        found.remove(NAMIBIA)
    return tuple(found)


def most_frequent(marks: Mapping[str, int]) -> str:
    """The mark by which missing values are written back; of equally frequent ones the first by alphabet."""
    return min(marks, key=lambda mark: (-marks[mark], mark)) if marks else ""
