"""Randomization in an engine: a cell is compared with thresholds, or looked up in a table of them.

Let u be the number that the keyed hash gives a cell, p the probability of noise and q the distribution. The
cell is noised if u < p, and then becomes the first value whose cumulated probability, times p, exceeds u.
That is randomized response with one number for its two draws: given u < p, u/p is uniform again and tells
nothing about whether the cell was noised. So p = 0 never draws and p = 1 always does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ibis
import pyarrow as pa

from tarnkappe.algebra.lowering.keyed import BITS, DIGITS, threshold
from tarnkappe.algebra.lowering.rows import LoweredRows, id_as_text, kind
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.noise import Draw, Dynamic, NoiseDistribution, Static
from tarnkappe.errors import ParameterError

MOST_CASES = 64
"""A distribution over more values is looked up in a table and not written into the statement."""

ONE = Fraction(1)
UNKNOWN = "the noise distribution of '{}' has no entry for a value of its column: add one for every value"
OUTSIDE = (
    "the noise distribution of '{}' lacks a value of its column, which nothing would hide: no epsilon follows"
)
PREFIX = 2
"""So many digits of a hash choose the part of the table in which its value is found."""

Step = tuple[Any, str | None]
"""A new cell, and the digits that a hash must be below to become it (None: any hash that is left)."""


def randomized(
    rows: LoweredRows,
    noised: Sequence[tuple[str, NoiseDistribution, Fraction, str]],
    site: EngineSnapshot,
    *,
    promised: bool = False,
) -> LoweredRows:
    """The rows with some cells noised: for each column its distribution, its probability and its secret.

    If an epsilon is `promised`, a cell that its distribution could not draw is refused: it would stand out.
    """
    table, cells = rows.table, {}
    for number, (column, noise, p, secret) in enumerate(noised):
        drawn = site.hashed(site.secret(secret) + id_as_text(rows.id))
        cell = _Cell(column, rows.cell(column), drawn, p, number, site)
        if isinstance(noise, Static) and len(noise.probabilities) <= MOST_CASES:
            cells[column] = cell.among(noise.probabilities, p)
        elif isinstance(noise, Static):
            table, cells[column] = cell.looked_up(table, noise)
        elif isinstance(noise, Dynamic):
            table, cells[column] = cell.looked_up_by_old_value(table, noise)
        else:
            raise ParameterError(
                "algebra.no-engine-knows-noise",
                "no engine knows the noise {name} of '{column}'",
                name=type(noise).__name__,
                column=column,
            )
        if promised and isinstance(noise, Static):
            cells[column] = cell.only_if_drawable(noise, cells[column])
    return rows.changed(table, cells)


def borders(chances: Draw, scale: Fraction = ONE) -> Iterator[tuple[Any, Fraction]]:
    """Each value with the number that u must be below to become it, in the order that they are listed in."""
    for value, total in zip(chances, itertools.accumulate(chances.values()), strict=True):
        yield value, scale * total


@dataclass(frozen=True, eq=False)
class _Cell:
    """A cell to be noised.

    Attributes:
        column: its column.
        old: the cell as it is.
        drawn: the hash that decides.
        p: the probability of noise.
        number: that tells its tables from those of other columns.
        site: where this runs.
    """

    column: str
    old: Any
    drawn: Any
    p: Fraction
    number: int
    site: EngineSnapshot

    def among(self, chances: Draw, scale: Fraction) -> Any:
        """The value of the first border above the hash, or the cell itself if none is."""
        listed: list[Step] = [
            (self._constant(value), threshold(top)) for value, top in borders(chances, scale)
        ]
        return self._between([*listed, (self.old, None)] if scale < 1 else listed)

    def _between(self, listed: Sequence[Step]) -> Any:
        """By halving: as many comparisons as the number of values has binary digits."""
        if len(listed) == 1:
            return listed[0][0]
        middle = len(listed) // 2
        border = listed[middle - 1][1]
        assert border is not None  # only the last step has none
        below, above = self._between(listed[:middle]), self._between(listed[middle:])
        return ibis.cases((self.drawn < self.site.digits(border), below), else_=above)

    def looked_up(self, table: Any, noise: Static) -> tuple[Any, Any]:
        """Many values: the first digits of the hash choose a part of a table, the rest a row of it."""
        entries = []
        for value, low, high in _intervals(noise.probabilities, self.p):
            first, last = (int(digits[:PREFIX], 16) for digits in (low, high))
            entries += [(f"{part:0{PREFIX}x}", low, high, value) for part in range(first, last + 1)]
        parts = self.site.prefix(self.drawn, PREFIX)
        joined, found = self._joined(table, parts, pa.string(), entries)
        new, top = found[f"x{self.number}"], threshold(self.p)
        if top is None:
            return joined, new
        return joined, ibis.cases((self.drawn < self.site.digits(top), new), else_=self.old)

    def looked_up_by_old_value(self, table: Any, noise: Dynamic) -> tuple[Any, Any]:
        """A table of all outcomes of each old value, the unchanged one included: every row finds one entry.

        An old value without entries is refused, whether chance would have noised it or not.
        """
        entries = [
            (old, low, high, new)
            for old in noise.kernel
            if old is not None
            for new, low, high in _intervals(noise.outcomes(old, self.p))
        ]
        joined, found = self._joined(table, self.old, self._arrow, entries)
        refused = self._refused(UNKNOWN)
        missing = self.among(noise.outcomes(None, self.p), ONE) if None in noise.kernel else refused
        is_unknown = found[f"l{self.number}"].isnull()
        new = found[f"x{self.number}"]
        return joined, ibis.cases((self.old.isnull(), missing), (is_unknown, refused), else_=new)

    def _joined(
        self, table: Any, key: Any, key_type: pa.DataType, entries: Sequence[tuple[Any, str, str, Any]]
    ) -> tuple[Any, Any]:
        """The table joined with entries of key, least and greatest digits, new value: one for every row."""
        keys, lows, highs, values = zip(*entries, strict=True)
        n = self.number
        with self._fitting():
            columns = {
                f"o{n}": pa.array(keys, key_type),
                f"l{n}": pa.array(lows, pa.string()),
                f"h{n}": pa.array(highs, pa.string()),
                f"x{n}": pa.array(values, self._arrow),
            }
        found = self.site.upload(pa.table(columns))
        low, high = (self.site.as_hash(found[f"{end}{n}"]) for end in "lh")
        return table.left_join(found, [key == found[f"o{n}"], low <= self.drawn, self.drawn <= high]), found

    def only_if_drawable(self, noise: Static, new: Any) -> Any:
        """The new cell, if the distribution could have drawn the old one; else the query is refused."""
        values = [self._constant(value) for value in noise.probabilities if value is not None]
        is_known = self.old.isin(values) if values else ibis.literal(False)
        is_known = is_known | self.old.isnull() if None in noise.probabilities else is_known
        return ibis.cases((is_known, new), else_=self._refused(OUTSIDE))

    def _refused(self, message: str) -> Any:
        return self.site.refusal(message.format(self.column), self.old.type())

    def _constant(self, value: Any) -> Any:
        with self._fitting():
            type_ = self.old.type()
            return ibis.null(type_) if value is None else ibis.literal(value, type_)

    @property
    def _arrow(self) -> pa.DataType:
        return self.old.type().to_pyarrow()

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        try:
            yield
        except (TypeError, ValueError):  # which Arrow's errors are, too
            raise ParameterError(
                "algebra.noise-draws-values",
                "The noise of '{column}' draws values that a {old} cannot have.",
                column=self.column,
                old=kind(self.old),
            ) from None


def _intervals(chances: Draw, scale: Fraction = ONE) -> Iterator[tuple[Any, str, str]]:
    """Each value with the least and the greatest digits of a hash that becomes it."""
    low = 0
    for value, top in borders(chances, scale):
        high = math.ceil(top * 2**BITS)
        if high > low:
            yield value, f"{low:0{DIGITS}x}", f"{high - 1:0{DIGITS}x}"
        low = high
