"""Numbers and dates written as runs of the labels of level 1: readable ends that are nobody's value.

An interval from the least to the greatest value of a class shows two values of real rows. A run of labels
does not: the class of ages 23 to 33 reads `20-34`, and so does any other class between the same labels. A run
that is a label of a higher level reads as that label.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tarnkappe.recoding.labels import SEPARATOR, YEARS
from tarnkappe.table import Column, Levels
from tarnkappe.table.encoding import Codes, Counts

Bounds = npt.NDArray[np.float64]

WHOLE_NUMBERS = re.compile(r"(-?\d+)-(-?\d+)")
HALF_OPEN = re.compile(r"\[([^\[\], ]+), ([^\[\], ]+)\)")


@dataclasses.dataclass(frozen=True, eq=False)
class Runs:
    """The labels of level 1 in the order of the values.

    Attributes:
        label_of: for each value that is not missing, the number of its label in this order.
        texts: the labels.
        first_leaf: how many leaves of the hierarchy lie before each label.
        last_leaf: how many lie before the end of each label.
        bounds: the least and the greatest number under each label, if the hierarchy has numbers.
        exact: the runs that are a label of a higher level, and that label.
        taken: every text that means something already.
    """

    label_of: Codes
    texts: tuple[str, ...]
    first_leaf: Counts
    last_leaf: Counts
    bounds: Bounds | None
    exact: dict[tuple[int, int], str]
    taken: frozenset[str]

    def word(self, first: int, last: int) -> str:
        """How a run from one label to another reads."""
        if first == last:
            return self.texts[first]
        if (first, last) in self.exact:
            return self.exact[first, last]
        joined = self._joined(self.texts[first], self.texts[last])
        if joined is not None and joined not in self.taken:
            return joined
        return f"[{self.texts[first]}{SEPARATOR}{self.texts[last]}]"

    @cached_property
    def _shared(self) -> frozenset[str]:
        """Numbers that two labels begin with, or end with: a run would not tell which of them it means."""
        found = [form.fullmatch(text) for form in (WHOLE_NUMBERS, HALF_OPEN) for text in self.texts]
        ends = (Counter(each[place] for each in found if each) for place in (1, 2))
        return frozenset(number for counts in ends for number, times in counts.items() if times > 1)

    @cached_property
    def _in_years(self) -> bool:
        """Whether every label is a period of years after the one before: no other can begin or end alike."""
        ends = [found.groups() for text in self.texts if (found := YEARS.fullmatch(text))]
        flat = [year for pair in ends for year in pair]
        later = all(a <= b if place % 2 == 0 else a < b for place, (a, b) in enumerate(pairwise(flat)))
        return len(ends) == len(self.texts) and later

    def _joined(self, first: str, last: str) -> str | None:
        """`20-24` to `30-34` is `20-34`, `[0, 5)` to `[10, 15)` is `[0, 15)`; months look like the former."""
        if self.bounds is None:
            return f"{first[:4]}-{last[5:]}" if self._in_years else None
        for form, shape in ((WHOLE_NUMBERS, "{}-{}"), (HALF_OPEN, "[{}, {})")):
            low, high = form.fullmatch(first), form.fullmatch(last)
            if low and high and low[1] not in self._shared and high[2] not in self._shared:
                return shape.format(low[1], high[2])
        return None


def runs_of(column: Column) -> Runs | None:
    """The labels of level 1 as steps of a scale; None if they are none.

    They are one if the values under each label are neighbours, no label has missing values beside others,
    and no text of level 1 means something else on another level.
    """
    levels, numbers = column.levels, column.numbers
    if levels is None or numbers is None or levels.height < 1:
        return None
    present = int(np.count_nonzero(~np.isnan(numbers)))
    own, missing = levels.maps[1][:present], levels.maps[1][present:]
    changes = np.ones(present, dtype=bool)
    changes[1:] = own[1:] != own[:-1]
    codes = own[changes]
    if len(np.unique(codes)) < len(codes) or np.isin(missing, codes).any():
        return None
    leaves = levels.leaves[1][codes]
    bounds = None if levels.bounds is None else levels.bounds[1][codes]
    if bounds is None or levels.numbers is None:
        last_leaf = np.cumsum(leaves)
        first_leaf = last_leaf - leaves
    else:
        if (bounds[1:, 0] <= bounds[:-1, 1]).any():
            return None
        first_leaf = np.searchsorted(levels.numbers, bounds[:, 0], "left")
        last_leaf = np.searchsorted(levels.numbers, bounds[:, 1], "right")
        if (last_leaf - first_leaf != leaves).any():
            return None
    meant = _meanings(levels)
    label_of = (np.cumsum(changes) - 1).astype(np.int32)
    texts = tuple(levels.labels[1][code] for code in codes.tolist())
    starts = np.append(np.flatnonzero(changes), present)
    for number, text in enumerate(texts):
        if meant[text] != set(range(starts[number], starts[number + 1])):
            return None
    exact: dict[tuple[int, int], str] = {}
    for text, values in meant.items():
        least, most = min(values), max(values)
        if most < present and len(values) == most - least + 1:
            first, last = int(label_of[least]), int(label_of[most])
            whole = starts[first] == least and starts[last + 1] == most + 1
            if first < last and whole and _leaves(levels, text) == last_leaf[last] - first_leaf[first]:
                exact.setdefault((first, last), text)
    return Runs(label_of, texts, first_leaf, last_leaf, bounds, exact, frozenset(meant))


def _meanings(levels: Levels) -> dict[str, set[int]]:
    """What each text may stand for, whatever its level."""
    meant: dict[str, set[int]] = {}
    for names, labels in zip(levels.labels, levels.maps, strict=True):
        for code, label in enumerate(labels.tolist()):
            meant.setdefault(names[label], set()).add(code)
    return meant


def _leaves(levels: Levels, text: str) -> int:
    """How many leaves lie under a label, on the highest level where it stands."""
    there = [
        int(counts[names.index(text)])
        for names, counts in zip(levels.labels, levels.leaves, strict=True)
        if text in names
    ]
    return max(there)
