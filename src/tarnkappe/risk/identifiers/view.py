"""A column as detectors see it: its header in words, its different values and how often each occurs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.table import SUPPRESSED
from tarnkappe.table.encoding import as_numbers, as_text

SAMPLE = 2000
"""Shapes are judged on so many different values; what hides inside cells is looked for in all of them."""

_WORD = re.compile(r"[A-ZÄÖÜ]+(?![a-zäöüß])|[A-ZÄÖÜ]?[a-zäöüß]+")


class ColumnView:
    """One column. Missing, empty and suppressed cells say nothing and are left out."""

    def __init__(self, name: str, data: pa.ChunkedArray) -> None:
        self.name = name
        self.type: pa.DataType = data.type.value_type if pa.types.is_dictionary(data.type) else data.type
        self.rows = len(data)
        self.is_binary = bool(
            pa.types.is_binary(self.type)
            or pa.types.is_large_binary(self.type)
            or pa.types.is_fixed_size_binary(self.type)
        )
        self.is_nested = bool(pa.types.is_nested(self.type))
        self._data = data

    @cached_property
    def _counted(self) -> tuple[pa.Array, npt.NDArray[np.int64]]:
        data = self._data
        if pa.types.is_dictionary(data.type):
            data = data.cast(self.type)
        if self.is_binary or self.is_nested:
            return pa.array([], pa.string()), np.zeros(0, np.int64)
        counted = data.drop_null().combine_chunks().value_counts()
        return counted.field("values"), counted.field("counts").to_numpy()

    @cached_property
    def _texts(self) -> tuple[pa.Array, npt.NDArray[np.int64]]:
        values, counts = self._counted
        texts = pc.utf8_trim_whitespace(as_text(values).cast(pa.string()))
        said = pc.and_(pc.not_equal(texts, ""), pc.not_equal(texts, SUPPRESSED))
        return texts.filter(said), counts[said.to_numpy(zero_copy_only=False)]

    @property
    def texts(self) -> pa.Array:
        """The different values as text."""
        return self._texts[0]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How often each of them occurs."""
        return self._texts[1]

    @cached_property
    def filled(self) -> int:
        """How many cells say something."""
        return int(self.counts.sum())

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return len(self.texts)

    @property
    def distinct_share(self) -> float:
        """Different values per cell: 1 if no two cells are alike."""
        return self.distinct / self.filled if self.filled else 0.0

    @cached_property
    def sample(self) -> list[str]:
        """Some of the different values, spread over all of them."""
        step = max(1, -(-self.distinct // SAMPLE))
        some: list[str] = self.texts.take(pa.array(np.arange(0, self.distinct, step))).to_pylist()
        return some

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64] | None:
        """The different values as numbers, if they are numbers; dates are none."""
        if pa.types.is_temporal(self.type):
            return None
        values, _ = self._counted
        found = as_numbers(values)
        return None if found is None else found[np.isfinite(found)]

    @cached_property
    def number_counts(self) -> npt.NDArray[np.int64]:
        """How often each number occurs."""
        values, counts = self._counted
        found = as_numbers(values)
        return counts if found is None else counts[np.isfinite(found)]

    @cached_property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.numbers is not None and len(self.numbers) > 0 and bool((self.numbers % 1 == 0).all())

    @cached_property
    def words(self) -> float:
        """How many words a value has on average."""
        return sum(len(text.split()) for text in self.sample) / max(len(self.sample), 1)

    @cached_property
    def header(self) -> str:
        """The header as words in lower case, with a space at both ends."""
        return f" {' '.join(words_of(self.name))} "

    def says(self, words: Sequence[str]) -> bool:
        """Whether the header has one of some words."""
        return any(f" {word} " in self.header for word in words)

    def share_of(self, holds: Callable[[str], bool]) -> float:
        """The share of the different values that something holds of."""
        return sum(map(holds, self.sample)) / len(self.sample) if self.sample else 0.0

    def cells_with(self, pattern: str, valid: Callable[[str], bool]) -> int:
        """How many cells contain something of this pattern that is valid."""
        if not pa.types.is_string(self.type) and not pa.types.is_large_string(self.type):
            return 0
        maybe = pc.match_substring_regex(self.texts, pattern).to_numpy(zero_copy_only=False)
        places = np.flatnonzero(maybe)
        expression = re.compile(pattern)
        cells = 0
        for place, text in zip(places.tolist(), self.texts.take(pa.array(places)).to_pylist(), strict=True):
            if any(valid(match.group()) for match in expression.finditer(text)):
                cells += int(self.counts[place])
        return cells


def words_of(name: str) -> list[str]:
    """The words of a header, whatever separates them.

    >>> words_of("patientPhone_No2"), words_of("SSN"), words_of("Straße")
    (['patient', 'phone', 'no'], ['ssn'], ['strasse'])
    """
    plain = unicodedata.normalize("NFC", name)
    return [word.lower().replace("ß", "ss") for word in _WORD.findall(plain)]
