"""What a reader of a release knows of its columns: all values that a column may have, and what its words
mean.

A word that stands for several values says no more than that: each of them is as likely as the others. This is
the *uniformity assumption*, by which a reader answers queries on generalized cells.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy  # its parts are loaded when they are used

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.labels import LabelReader
from tarnkappe.table import MISSING, Column
from tarnkappe.table.encoding import Codes, as_text, encode_column
from tarnkappe.utility.plain_words import meaning_by_form

Weights = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class ColumnDomain:
    """All values of a column: those of its hierarchy, and those that occur."""

    column: Column

    @classmethod
    def of(cls, column: Column, hierarchy: Hierarchy | None) -> ColumnDomain:
        """The domain of a column of the original table."""
        if hierarchy is None:
            return cls(column)
        try:
            known = pa.array(hierarchy.values, pa.string()).cast(column.values.type)
        except pa.ArrowInvalid:  # a hierarchy may know words that the type of the column does not
            return cls(hierarchy.attach(column))
        whole = encode_column(column.name, pa.chunked_array([column.values, known]))
        return cls(hierarchy.attach(whole))

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.column.cardinality

    @cached_property
    def numbers(self) -> Weights | None:
        """The values as numbers, or None."""
        return self.column.numbers

    @property
    def summable(self) -> bool:
        """Whether a sum of the values has a meaning: they are numbers, and no dates."""
        return self.numbers is not None and not pa.types.is_temporal(self.column.values.type)

    def codes(self, values: pa.ChunkedArray) -> Codes:
        """Exact values as codes of the domain."""
        encoded = encode_column(self.column.name, values)
        return np.array([self._places[label] for label in encoded.labels], np.int32)[encoded.codes]

    def meanings(self, words: Sequence[str]) -> scipy.sparse.csr_array:
        """For each word (rows), how likely each value (columns) is."""
        found = [self._meaning(word) for word in words]
        lengths = np.array([len(some) for some in found], np.int64)
        places = np.concatenate(found) if found else np.zeros(0, np.int64)
        weights = np.repeat(1.0 / np.maximum(lengths, 1), lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return scipy.sparse.csr_array((weights, places, offsets), shape=(len(found), self.size))

    def _meaning(self, word: str) -> npt.NDArray[np.int64]:
        if self.column.levels is not None:
            meaning = self._reader.meaning(word)
            if meaning is not None:
                return np.array(list(meaning), dtype=np.int64)
        if word in self._places:
            return np.array([self._places[word]], dtype=np.int64)
        return self._near(word)

    def _near(self, word: str) -> npt.NDArray[np.int64]:
        """What the form of a word says; else a number that is no value (an aggregate) is the nearest one.

        Anything else is taken for '*'.
        """
        numbers = self.numbers
        shaped = meaning_by_form(word, self.column.labels, numbers)
        if shaped is not None:
            return shaped
        try:
            number = float(word)
        except ValueError:
            number = np.nan
        if numbers is None or np.isnan(number):
            return np.arange(self.size)
        return np.array([int(np.nanargmin(np.abs(numbers - number)))], dtype=np.int64)

    @cached_property
    def _reader(self) -> LabelReader:
        return LabelReader(self.column)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.column.labels)}


@dataclasses.dataclass(frozen=True, eq=False)
class ReleasedCells:
    """One column of a release as its reader understands it.

    Attributes:
        words: for each row, the number of its word.
        meanings: for each word, how likely each value of the domain is.
    """

    words: npt.NDArray[np.int64] | Codes
    meanings: scipy.sparse.csr_array

    @classmethod
    def exact(cls, domain: ColumnDomain, values: pa.ChunkedArray) -> ReleasedCells:
        """Values as they are."""
        return cls(domain.codes(values), scipy.sparse.eye_array(domain.size, format="csr"))

    @classmethod
    def written(cls, domain: ColumnDomain, values: pa.ChunkedArray) -> ReleasedCells:
        """Words of a release."""
        encoded = encode_column(domain.column.name, values)
        texts = [MISSING if text is None else text for text in as_text(encoded.values).to_pylist()]
        return cls(encoded.codes, domain.meanings(texts))

    def expectation(self, wanted: Weights) -> Weights:
        """What is to be expected of each row: how likely it has a value, or the mean of some number."""
        return np.asarray((self.meanings @ wanted)[self.words], dtype=np.float64)
