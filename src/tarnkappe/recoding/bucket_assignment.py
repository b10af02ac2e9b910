"""Groups of rows with different sensitive values, dealt like cards.

The rows lie in the order of their sensitive values (in random order where these are equal), and each goes to
the next of g groups. So a value that at most g rows have is at most once in each group.

Why this is the least loss. The *reconstruction error* of a group of s rows, in which the values occur c1, c2,
... times, is s - (c1² + c2² + ...)/s: so much is missing, squared and summed over rows and values, between
what is true of a row and what its group tells. Let no value have more than 1/l of the rows of a group. Then
c1² + c2² + ... <= s·floor(s/l), and n rows lose at least n - floor(n/l), however they are grouped. Dealing to
g = floor(n/l) groups attains it, whenever no value has more than n/l of the rows (the table is *l-eligible*);
where one has more, no grouping exists.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice.problem import TIE
from tarnkappe.privacy import Model
from tarnkappe.recoding.judging import GroupEvaluator, group_models
from tarnkappe.recoding.randomness import Chance
from tarnkappe.recoding.swapping import swap_until_good
from tarnkappe.table import Column, Tuples
from tarnkappe.table.encoding import Codes, Counts, Progress
from tarnkappe.table.grouping import group_codes

STEPS = 300
"""So many swaps are tried to make groups of one size good; where more seem needed, larger groups are."""


@dataclasses.dataclass(frozen=True, eq=False)
class DealtGroups:
    """Rows in groups.

    Attributes:
        of_row: the group of each row.
        least_size: the size that was aimed at.
        error: the reconstruction error, as a share of the rows.
        optimal: whether no grouping loses less in which a value has at most 1/`least_size` of a group;
            smaller groups break a promise, whatever their values are.
    """

    of_row: Codes
    least_size: int
    error: float
    optimal: bool

    @property
    def number(self) -> int:
        """How many groups there are."""
        return int(self.of_row.max(initial=-1)) + 1


def make_groups(
    rows: Tuples,
    sensitive: Sequence[str],
    models: Sequence[Model],
    *,
    least_size: int | None = None,
    chance: Chance | None = None,
    progress: Progress | None = None,
) -> DealtGroups:
    """Group rows so that every group keeps the promises, with many and therefore small groups.

    Args:
        rows: the rows one by one.
        sensitive: the columns of the second table.
        models: what is promised of every group.
        least_size: a size that groups should have at least, beside what the models demand.
        chance: who decides between rows with equal values.
        progress: told about the progress.

    Raises:
        NoSolutionError: if even all rows together do not keep the promises.
    """
    chance = chance or Chance()
    judge = GroupEvaluator(rows, group_models(models, "anatomy"))
    require_eligible(rows, judge, sensitive)
    columns = [rows.columns[name] for name in sensitive]
    cards = _in_value_order(columns, chance)
    values = group_codes([c.codes for c in columns], [c.cardinality for c in columns]).ids
    floor = max([least_size or 2, *(part.least_size(rows) for part in judge.parts)])
    if floor > len(cards):
        raise NoSolutionError(
            "recoding.rows-cannot-form-group",
            "{cards} {cards:row|rows} cannot form a group of {floor}: ask for less",
            cards=len(cards),
            floor=floor,
        )
    tried: dict[int, Codes | None] = {}

    def good(size: int) -> bool:
        if size not in tried:
            if progress:
                progress("grouping", len(tried), len(tried) + 1, f"groups of {size}")
            tried[size] = _deal_and_swap(cards, size, judge, chance)
        return tried[size] is not None

    size = _smallest(floor, len(cards), good)
    of_row = tried[size]
    assert of_row is not None
    error, least = reconstruction_error(of_row, values), 1 - (len(cards) // floor) / len(cards)
    return DealtGroups(of_row, size, error, size == floor and abs(error - least) < TIE)


def reconstruction_error(of_row: Codes, values: Codes) -> float:
    """What groups do not tell of the values of their rows: 0 if all, below 1 if nearly nothing.

    >>> reconstruction_error(np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 0], np.int32))
    0.25
    """
    sizes = np.bincount(of_row).astype(np.float64)
    pairs = group_codes([of_row, values], [len(sizes), int(values.max(initial=0)) + 1])
    together = np.bincount(pairs.ids, minlength=pairs.num_groups).astype(np.float64)
    told = (together**2 / sizes[of_row[pairs.representatives]]).sum()
    return float(1 - told / max(len(of_row), 1))


def _deal_and_swap(cards: Counts, size: int, judge: GroupEvaluator, chance: Chance) -> Codes | None:
    """Groups of at least some size that keep the promises, if dealing and some swaps give them."""
    number = len(cards) // size
    of_row = np.empty(len(cards), np.int32)
    of_row[cards] = np.arange(len(cards), dtype=np.int32) % number
    forbidden = int(judge.violating(of_row).sum())
    if not forbidden:
        return of_row
    return swap_until_good(of_row, judge, chance, STEPS) if number > 1 and forbidden <= STEPS else None


def _smallest(least: int, greatest: int, good: Callable[[int], bool]) -> int:
    """The smallest size that is good, as far as a search that doubles and halves can tell."""
    size, failed = least, least - 1
    while size < greatest and not good(size):
        failed, size = size, min(max(size + 1, 3 * size // 2), greatest)
    while size - failed > 1:
        middle = (size + failed) // 2
        if good(middle):
            size = middle
        else:
            failed = middle
    if not good(size):
        raise NoSolutionError(
            "recoding.no-groups-keep-promises", "no groups that keep the promises were found: ask for less"
        )
    return size


def _in_value_order(columns: Sequence[Column], chance: Chance) -> Counts:
    """The rows, similar values beside each other, equal ones in random order."""
    ranks: list[Codes] = [similarity_ranks(column)[column.codes] for column in columns]
    keys: list[npt.NDArray[Any]] = [chance.keys(len(ranks[0])), *reversed(ranks)]
    return np.lexsort(keys).astype(np.int64)


def similarity_ranks(column: Column) -> Codes:
    """The place of each value in an order in which the values under one label are beside each other."""
    if column.levels is None:
        return np.arange(column.cardinality, dtype=np.int32)
    order = np.lexsort(column.levels.maps)  # the last, most general level counts first
    ranks = np.empty(column.cardinality, np.int32)
    ranks[order] = np.arange(column.cardinality, dtype=np.int32)
    return ranks


def require_eligible(rows: Tuples, judge: GroupEvaluator, sensitive: Sequence[str]) -> None:
    """Refuse a table that does not keep the promises even as one group: then no grouping does.

    Rows of a value that is too frequent are not suppressed. Quasi-identifiers stay exact, so everybody would
    see who is missing, and with that which value she has.
    """
    if not judge.violating(np.zeros(rows.num_tuples, np.int32)).any():
        return
    promised = ", ".join(map(str, judge.parts))
    frequent = ", ".join(
        f"'{name}' has a value in {rows.columns[name].counts(rows.counts).max() / rows.num_rows:.0%} of the "
        "rows"
        for name in sensitive
    )
    raise NoSolutionError(
        "recoding.even-all-rows-group",
        "even all rows as one group do not meet {promised}, so no group can ({frequent}): ask for less. "
        "Rows are not suppressed, since with exact quasi-identifiers it would show who has that value",
        promised=promised,
        frequent=frequent,
    )
