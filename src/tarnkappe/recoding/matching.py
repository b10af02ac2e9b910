"""How probable a sensitive value is for a person in a sliced table, as the literature on slicing counts it.

A person with quasi-identifiers t may be in every bucket that has all parts of t, one in each group of
columns. The weight of a bucket is the share of its rows that would show t if the parts were put together at
random; in the bucket her sensitive value is one of those beside the part of t that is grouped with it.
Slicing keeps more than this: in *every* bucket these values meet the models, so every weighing of buckets
does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are used

from tarnkappe.table.encoding import Codes
from tarnkappe.table.grouping import group_codes

ROWS_AT_ONCE = 2000


@dataclasses.dataclass(frozen=True, eq=False)
class Matching:
    """A sliced table as its attacker sees it.

    Attributes:
        buckets: the bucket of each row.
        parts: for each group of columns, the part of each row: the values of its quasi-identifiers as one
            code.
        sensitive: the sensitive value of each row.
        beside: which of the parts is grouped with the sensitive column.
    """

    buckets: Codes
    parts: Sequence[Codes]
    sensitive: Codes
    beside: int

    def probabilities(self, people: Sequence[Codes]) -> npt.NDArray[np.float64]:
        """How probable each sensitive value is for people with the given parts; 0 where nobody has them."""
        values = int(self.sensitive.max()) + 1
        sizes = np.bincount(self.buckets).astype(np.float64)
        shares = [self._shares(codes, sizes) for codes in self.parts]
        shown = [
            self._shares(np.where(self.sensitive == value, self.parts[self.beside], -1), sizes)
            for value in range(values)
        ]
        found = np.zeros((len(people[0]), values))
        for start in range(0, len(found), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            weights: scipy.sparse.csr_array | None = None
            for place, codes in enumerate(people):
                if place != self.beside:
                    own = shares[place][codes[rows]]
                    weights = own if weights is None else weights.multiply(own).tocsr()
            for value, table in enumerate(shown):
                own = table[people[self.beside][rows]]
                both = own if weights is None else weights.multiply(own)
                found[rows, value] = np.asarray(both.sum(axis=1)).ravel()
        total = found.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(found, total, out=np.zeros_like(found), where=total > 0))

    def greatest(self) -> float:
        """The greatest probability of a sensitive value for anybody in the table."""
        columns = [codes for codes in self.parts if len(codes)]
        distinct = group_codes(columns, [int(codes.max()) + 1 for codes in columns]).representatives
        return float(self.probabilities([codes[distinct] for codes in self.parts]).max())

    def _shares(self, codes: Codes, sizes: npt.NDArray[np.float64]) -> scipy.sparse.csr_array:
        """For each part (rows) and bucket (columns), the share of the bucket's rows that show the part."""
        chosen = codes >= 0
        number = int(max(part.max(initial=0) for part in self.parts)) + 1
        counts = scipy.sparse.coo_array(
            (1.0 / sizes[self.buckets[chosen]], (codes[chosen], self.buckets[chosen])),
            shape=(number, len(sizes)),
        )
        return counts.tocsr()


def part_codes(columns: Sequence[Codes], num_rows: int) -> Codes:
    """Several columns as one; without any, everybody has the same part."""
    if not columns:
        return np.zeros(num_rows, np.int32)
    return group_codes(columns, [int(codes.max(initial=0)) + 1 for codes in columns]).ids
