"""What a released cell stands for: values, patterns, ranges, sets, categories.

A cell is read as a person reads it: `*` is anything, a star inside a text is any character
(`7622*`, `**.**.75`), `20-29`, `[0.5, 1)`, `<20`, `≥ 40` and `90+` are ranges, `{a, b}` is a set, a
year or a month (`1975`, `1975-04`) stands for its days, and everything else for itself. Where the
hierarchy of a column is known, its labels stand for the values under them.

Two cells about the same person can be true together if some value fits both; what they say together
is their `meet`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are used

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import MISSING, SUPPRESSED

Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

NUMBER = r"[-+]?\d+(?:\.\d+)?"
FROM_TO = re.compile(rf"({NUMBER})\s*(?:-|–|to|\.\.)\s*({NUMBER})")
BRACKETS = re.compile(rf"([\[\](])\s*({NUMBER})\s*[,;]\s*({NUMBER})\s*([\[\])])")
BOUND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({NUMBER})")
AND_MORE = re.compile(rf"({NUMBER})\s*\+")
DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


class Range(NamedTuple):
    """Numbers from low to high; an open end is not part of it."""

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    def holds(self, numbers: Numbers) -> npt.NDArray[np.bool_]:
        """Which numbers lie in the range (NaN never does)."""
        above = numbers > self.low if self.low_open else numbers >= self.low
        below = numbers < self.high if self.high_open else numbers <= self.high
        return np.asarray(above & below)

    def meet(self, other: Range) -> Range | None:
        """What both have in common."""
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, high_closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        empty = low > high or (low == high and (low_open or not high_closed))
        return None if empty else Range(low, high, low_open, not high_closed)


class Cell(NamedTuple):
    """A cell, read: the text, and at most one of the things that a text can mean beside itself."""

    text: str
    anything: bool = False
    pattern: bool = False
    range: Range | None = None
    members: frozenset[str] = frozenset()
    date: bool = False

    @property
    def plain(self) -> bool:
        """Whether the cell is a text like a value (a year or a month is one, though it stands for days)."""
        return not (self.anything or self.pattern or self.range or self.members)


@lru_cache(maxsize=1 << 16)
def read_cell(text: str) -> Cell:
    """Read a cell as a person reads it.

    >>> read_cell("20-29").range, read_cell("7622*").pattern, read_cell("*").anything
    (Range(low=20.0, high=29.0, low_open=False, high_open=False), True, True)
    """
    if text and not text.strip(SUPPRESSED):
        return Cell(text, anything=True)
    if SUPPRESSED in text:
        return Cell(text, pattern=True)
    if text.startswith("{") and text.endswith("}"):
        return Cell(text, members=frozenset(part.strip() for part in text[1:-1].split(",")))
    found = _read_range(text.strip())
    if found is not None:
        return Cell(text, range=found)
    return Cell(text, date=DATE.fullmatch(text) is not None and len(text) < len("1975-04-17"))


def _read_range(text: str) -> Range | None:
    if match := FROM_TO.fullmatch(text):
        low, high = float(match[1]), float(match[2])
        return Range(low, high) if low <= high else None
    if match := BRACKETS.fullmatch(text):
        low, high = float(match[2]), float(match[3])
        return Range(low, high, match[1] != "[", match[4] != "]") if low <= high else None
    if match := BOUND.fullmatch(text):
        number, is_open = float(match[2]), match[1] in "<>"
        if match[1] in ("<", "<=", "≤"):
            return Range(-np.inf, number, False, is_open)
        return Range(number, np.inf, is_open, False)
    if match := AND_MORE.fullmatch(text):
        return Range(float(match[1]), np.inf)
    return None


class Values:
    """Plain values, prepared for being compared with many cells."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self.place = {text: index for index, text in enumerate(self.texts)}
        self.numbers = np.array([_number(text) for text in self.texts], dtype=np.float64)
        by_length: dict[int, list[int]] = {}
        for index, text in enumerate(self.texts):
            by_length.setdefault(len(text), []).append(index)
        self._letters = {
            length: (np.array(places, dtype=np.int64), _letters([self.texts[i] for i in places], length))
            for length, places in by_length.items()
        }
        self._days: dict[str, list[int]] = {}
        for index, text in enumerate(self.texts):
            if len(text) > len("1975") and DATE.fullmatch(text):
                for period in {text[:4], text[:7]} - {text}:
                    self._days.setdefault(period, []).append(index)

    def under(self, cell: Cell) -> Indices:
        """The values that a cell stands for."""
        if cell.anything:
            return np.arange(len(self.texts))
        itself = [self.place[cell.text]] if cell.text in self.place else []
        if cell.pattern:
            places, letters = self._letters.get(len(cell.text), (None, None))
            if places is None or letters is None:
                return np.array(itself, dtype=np.int64)
            wanted = _letters([cell.text], len(cell.text))[0]
            fixed = wanted != ord(SUPPRESSED)
            return np.union1d(places[(letters[:, fixed] == wanted[fixed]).all(axis=1)], itself).astype(int)
        if cell.range is not None:
            return np.union1d(np.flatnonzero(cell.range.holds(self.numbers)), itself).astype(np.int64)
        if cell.members:
            return np.array(sorted(self.place[m] for m in cell.members if m in self.place), dtype=np.int64)
        if cell.date:
            return np.array(sorted({*self._days.get(cell.text, ()), *itself}), dtype=np.int64)
        return np.array(itself, dtype=np.int64)


def _number(text: str) -> float:
    """The number that a text is; of a date, the year."""
    if DATE.fullmatch(text):
        return float(text[:4])
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _letters(texts: Sequence[str], length: int) -> npt.NDArray[np.uint32]:
    return np.array(texts, dtype=f"<U{max(length, 1)}").view(np.uint32).reshape(len(texts), -1)


def covering(
    labels: Sequence[str], values: Sequence[str], hierarchy: Hierarchy | None = None
) -> scipy.sparse.csr_array:
    """Which cells (rows) stand for which values (columns), as a sparse matrix of ones.

    >>> covering(["7622*", "*"], ["76227", "76139"]).toarray().tolist()
    [[1, 0], [1, 1]]
    """
    known = Values(values)
    if hierarchy is None:
        return _matrix((known.under(read_cell(label)) for label in labels), len(known.texts))
    place = {label: index for index, label in enumerate(labels)}
    pairs: set[tuple[int, int]] = set()
    for row in hierarchy.rows():
        value = known.place.get(MISSING if row[0] is None else row[0])
        if value is not None:
            pairs.update((place[label], value) for label in row[1:] if label in place)
    pairs.update((place[text], index) for text, index in known.place.items() if text in place)
    pairs.update((place[SUPPRESSED], index) for index in range(len(values)) if SUPPRESSED in place)
    under: list[list[int]] = [[] for _ in labels]
    for label, index in sorted(pairs):
        under[label].append(index)
    return _matrix((np.array(some, dtype=np.int64) for some in under), len(known.texts))


def agreeing(
    ours: Sequence[str], theirs: Sequence[str], hierarchy: Hierarchy | None = None
) -> scipy.sparse.csr_array:
    """Which of our cells (rows) can be true of the same person as which of theirs (columns).

    >>> agreeing(["7622*", "*"], ["762**", "7613*"]).toarray().tolist()
    [[1, 0], [1, 1]]
    """
    if hierarchy is not None:
        values = [MISSING if value is None else value for value in hierarchy.values]
        outside = [text for text in dict.fromkeys([*ours, *theirs]) if text != SUPPRESSED]
        domain = list(dict.fromkeys([*values, *(t for t in outside if t not in _labels(hierarchy))]))
        shared = covering(ours, domain, hierarchy) @ covering(theirs, domain, hierarchy).T
        return _ones(shared)
    # A plain text is compared like a value with all cells; cells with a meaning are compared in pairs.
    there = covering(ours, theirs)
    back = covering(theirs, ours).T
    broad_ours = [(i, read_cell(text)) for i, text in enumerate(ours) if not read_cell(text).plain]
    broad_theirs = [(j, read_cell(text)) for j, text in enumerate(theirs) if not read_cell(text).plain]
    pairs = [(i, j) for i, a in broad_ours for j, b in broad_theirs if _can_agree(a, b)]
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    shape = (len(ours), len(theirs))
    broad = scipy.sparse.csr_array((np.ones(len(pairs), np.int64), (places[:, 0], places[:, 1])), shape=shape)
    return _ones(there + back + broad)


def meet(ours: str, theirs: str, hierarchy: Hierarchy | None = None) -> str | None:
    """What two cells about one person say together, or None if they contradict each other.

    >>> meet("**.**.81", "05.07.8*"), meet("M", "*"), meet("M", "W"), meet("20-29", "≥ 25")
    ('05.07.81', 'M', None, '25-29')
    """
    if ours == theirs or theirs == SUPPRESSED:
        return ours
    if ours == SUPPRESSED:
        return theirs
    if hierarchy is not None:
        return _narrower(ours, theirs, hierarchy)
    a, b = read_cell(ours), read_cell(theirs)
    if not _can_agree(a, b):
        return None
    if a.pattern and b.pattern:
        return "".join(y if x == SUPPRESSED else x for x, y in zip(ours, theirs, strict=True))
    if a.range and b.range:
        both = a.range.meet(b.range)
        return ours if both == a.range else theirs if both == b.range else _range_text(both)
    if a.members and b.members:
        return "{" + ", ".join(sorted(a.members & b.members)) + "}"
    if a.plain and b.plain:  # dates: the longer text is the shorter time
        return max(ours, theirs, key=len)
    return ours if a.plain or b.anything else theirs if b.plain or a.anything else f"{ours} & {theirs}"


def widen(cells: Sequence[str]) -> str:
    """One cell that stands for everything that some cells stand for: a range, a pattern, or anything.

    >>> widen(["34", "31"]), widen(["76227", "76228"]), widen(["30-39", "41"]), widen(["m", "f"])
    ('31-34', '7622*', '30-41', '*')
    """
    distinct = sorted(set(cells))
    if len(distinct) == 1:
        return distinct[0]
    lengths = {len(text) for text in distinct}
    if len(lengths) == 1 and len(distinct[0]) > 2 and not any(read_cell(text).range for text in distinct):
        merged = "".join(
            letters[0] if len(set(letters)) == 1 else SUPPRESSED for letters in zip(*distinct, strict=True)
        )
        return merged if merged.strip(SUPPRESSED) else SUPPRESSED
    ranges = [_widest(read_cell(text)) for text in distinct]
    if any(found is None for found in ranges):
        return SUPPRESSED
    known = [found for found in ranges if found is not None]
    low = min((found.low, found.low_open) for found in known)
    high = max((found.high, not found.high_open) for found in known)
    if low[0] == -np.inf and high[0] == np.inf:
        return SUPPRESSED
    return _range_text(Range(*(low[0], high[0], low[1], not high[1])))


def _widest(cell: Cell) -> Range | None:
    """A cell as a range of numbers, if it can be read as one."""
    found = _as_range(cell)
    if found is None and cell.plain:
        number = _number(cell.text)
        return None if np.isnan(number) else Range(number, number)
    return found


def _narrower(ours: str, theirs: str, hierarchy: Hierarchy) -> str | None:
    """Of two labels of one hierarchy the one that stands for fewer values, if one lies in the other."""
    values = [MISSING if value is None else value for value in hierarchy.values]
    under = covering([ours, theirs], values, hierarchy).toarray().astype(bool)
    both = under[0] & under[1]
    if not both.any():
        return None
    if both.sum() == under[0].sum():
        return ours
    return theirs if both.sum() == under[1].sum() else f"{ours} & {theirs}"


def _can_agree(a: Cell, b: Cell) -> bool:
    if a.anything or b.anything or a.text == b.text:
        return True
    if a.pattern and b.pattern:
        same = len(a.text) == len(b.text)
        pairs = zip(a.text, b.text, strict=True) if same else ()
        return same and all(x == y or SUPPRESSED in (x, y) for x, y in pairs)
    if a.members or b.members:
        some, other = (a, b) if a.members else (b, a)
        return any(_can_agree(read_cell(member), other) for member in some.members)
    first, second = _as_range(a), _as_range(b)
    if first is not None and second is not None:
        return first.meet(second) is not None
    return any(len(Values([x.text]).under(y)) > 0 for x, y in ((a, b), (b, a)) if x.plain)


def _as_range(cell: Cell) -> Range | None:
    """A range, or a pattern of digits as the range from its least to its greatest number, and so a bit more
    than it stands for: what may be possible is never excluded.
    """
    if cell.range is not None:
        return cell.range
    digits = cell.text.replace(SUPPRESSED, "")
    if cell.pattern and digits.isdigit():
        return Range(float(cell.text.replace(SUPPRESSED, "0")), float(cell.text.replace(SUPPRESSED, "9")))
    return None


def _range_text(both: Range | None) -> str:
    assert both is not None
    if both.low == -np.inf:
        return f"{'<' if both.high_open else '<='}{both.high:g}"
    if both.high == np.inf:
        return f"{'>' if both.low_open else '>='}{both.low:g}"
    if both.low_open or both.high_open:
        return f"{'(' if both.low_open else '['}{both.low:g}, {both.high:g}{')' if both.high_open else ']'}"
    return f"{both.low:g}" if both.low == both.high else f"{both.low:g}-{both.high:g}"


def _labels(hierarchy: Hierarchy) -> set[str]:
    return {label for names in hierarchy.names for label in names}


def _matrix(rows: Iterable[Indices], width: int) -> scipy.sparse.csr_array:
    found = list(rows)
    lengths = np.array([len(row) for row in found], dtype=np.int64)
    indices = np.concatenate(found) if found else np.zeros(0, np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return scipy.sparse.csr_array(
        (np.ones(len(indices), np.int64), indices, offsets), shape=(len(found), width)
    )


def _ones(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array(matrix > 0).astype(np.int64)
