"""Words of releases that are read by their form alone, whoever wrote them.

Programs write ranges, sets and masks in similar ways: `[20, 29]`, `20-29`, `[20, 30[`, `>= 60`, `{a, b}`,
`53***`, `1990-05` for a day of that month. Where a hierarchy is known it decides (`recoding/labels.py`);
these forms are for releases of others, and for readers who have nothing but the release.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tarnkappe.table import SUPPRESSED

NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
RANGE = re.compile(
    rf"(?P<open>[\[\(\]])?\s*(?P<low>{NUMBER})\s*(?(open)(?:,|;|-|\.\.|to)|(?:-|\.\.|to))\s*(?P<high>{NUMBER})"
    r"\s*(?P<close>[\]\)\[]?)"
)
"""Without brackets a comma is no sign of a range: `1,234` is a number, written with a comma."""
ONE_SIDED = re.compile(rf"(?P<sign><=|>=|<|>)\s*(?P<end>{NUMBER})")
SET = re.compile(r"\{(.*)\}", re.DOTALL)
MASK = re.compile(r".*[^*]\*+|\*+[^*].*", re.DOTALL)
DATE = re.compile(r"\d{4}-\d\d-\d\d")
PART_OF_DATE = re.compile(r"\d{4}(?:-\d\d)?")
RUN = re.compile(r"\[.+, .+[\]\)]", re.DOTALL)
"""A range whose ends are labels or dates."""


class Detail(StrEnum):
    """How much a cell of a release tells."""

    EXACT = "exact"
    COARSE = "coarse"
    HIDDEN = "hidden"


def detail_by_form(word: str) -> Detail:
    """How much a word tells, as far as its form shows it: a label that looks like a value counts as exact.

    >>> [str(detail_by_form(word)) for word in ("34", "30-39", "53***", "{a, b}", "*", "1990-05-01")]
    ['exact', 'coarse', 'coarse', 'coarse', 'hidden', 'exact']
    """
    if word == SUPPRESSED:
        return Detail.HIDDEN
    if DATE.fullmatch(word) or PART_OF_DATE.fullmatch(word):
        return Detail.EXACT
    return Detail.COARSE if any(form.fullmatch(word) for form in FORMS) else Detail.EXACT


FORMS = (RANGE, ONE_SIDED, SET, MASK, RUN)


def ends_of(word: str) -> tuple[float, float] | None:
    """The least and the greatest number of a range, open ones without their ends; None if it is no range.

    >>> ends_of("[20, 29]"), ends_of("20-29"), ends_of("*")
    ((20.0, 29.0), (20.0, 29.0), None)
    """
    if found := RANGE.fullmatch(word):
        low, high = float(found["low"]), float(found["high"])
        if low <= high:
            low = math.nextafter(low, math.inf) if found["open"] in ("(", "]") else low
            high = math.nextafter(high, -math.inf) if found["close"] in (")", "[") else high
            return low, high
    if found := ONE_SIDED.fullmatch(word):
        end, sign = float(found["end"]), found["sign"]
        if sign in ("<", "<="):
            return -math.inf, math.nextafter(end, -math.inf) if sign == "<" else end
        return math.nextafter(end, math.inf) if sign == ">" else end, math.inf
    return None


def meaning_by_form(
    word: str, labels: Sequence[str], numbers: npt.NDArray[np.float64] | None
) -> npt.NDArray[np.int64] | None:
    """The places of the values that a word stands for by its form; None if the form tells nothing.

    >>> meaning_by_form("20-29", ["18", "25", "29", "40"], np.array([18.0, 25.0, 29.0, 40.0])).tolist()
    [1, 2]
    >>> meaning_by_form("53***", ["53111", "53229", "60311"], None).tolist()
    [0, 1]
    """
    if PART_OF_DATE.fullmatch(word) and any(DATE.match(label) for label in labels[:1]):
        return _where(label.startswith(word) for label in labels)
    ends = ends_of(word) if numbers is not None else None
    if ends is not None and numbers is not None:
        return _where((numbers >= ends[0]) & (numbers <= ends[1]))
    if found := SET.fullmatch(word):
        chosen = {each.strip() for each in found[1].split(",")}
        return _where(label in chosen for label in labels)
    if word != SUPPRESSED and MASK.fullmatch(word):
        form = re.compile(re.escape(word).replace(r"\*", "."), re.DOTALL)
        return _where(form.fullmatch(label) is not None for label in labels)
    return None


def _where(holds: Iterable[bool]) -> npt.NDArray[np.int64] | None:
    found = np.flatnonzero(np.fromiter(holds, bool))
    return found if len(found) else None
