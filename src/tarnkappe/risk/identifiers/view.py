"""A column as detectors see it: its header in words, its different values and how often each occurs."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.table import SUPPRESSED
from tarnkappe.table.encoding import as_numbers, as_text

SAMPLE = 2000
"""Shapes are judged on so many different values; what hides inside cells is looked for in all of them."""

LONG_ENOUGH = 4
"""A word of a list is also found at the ends of longer words if it has so many letters."""
DRAWN = 100
"""The rarefied share is that of so many cells."""
DECIMAL = re.compile(r"[-+]?[0-9]*[.,][0-9]+(?:[eE][-+]?[0-9]+)?")
"""A decimal number: whatever its digits are, they are no number that an institution gave."""

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

    @cached_property
    def rarefied_share(self) -> float:
        """How many different values some cells have, drawn without replacement, per cell: 1 if all differ."""
        return rarefied_share(self.counts)

    @cached_property
    def sample(self) -> list[str]:
        """Some of the different values, spread over all of them."""
        some: list[str] = self.texts.take(pa.array(self._sampled)).to_pylist()
        return some

    @cached_property
    def _sampled(self) -> npt.NDArray[np.int64]:
        return np.arange(0, self.distinct, max(1, -(-self.distinct // SAMPLE)))

    @property
    def _sample_counts(self) -> npt.NDArray[np.int64]:
        return self.counts[self._sampled]

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

    def says(self, words: Iterable[str]) -> bool:
        """Whether the header has one of some words."""
        return any(f" {word} " in self.header for word in words)

    def speaks_of(self, words: Iterable[str]) -> bool:
        """Whether the header has one of some words, or a word that begins or ends with a longer one of them.

        >>> ColumnView("Geburtsdatum", pa.chunked_array([[1]])).speaks_of(["datum"])
        True
        """
        return self.says(words) or any(is_like(word, words) for word in self.header.split())

    def share_of(self, holds: Callable[[str], bool]) -> float:
        """The share of the cells that something holds of, or of the different values, if that is larger.

        A share of cells does not depend on how many rows there are. That of values finds what a frequent
        word such as "unknown" would hide.
        """
        if not self.sample:
            return 0.0
        held = np.fromiter(map(holds, self.sample), dtype=bool, count=len(self.sample))
        return max(float(held.mean()), float(self._sample_counts[held].sum() / self._sample_counts.sum()))

    def cells_with(self, pattern: str, valid: Callable[[str], bool]) -> int:
        """How many cells contain something of this pattern that is valid."""
        if not pa.types.is_string(self.type) and not pa.types.is_large_string(self.type):
            return 0
        maybe = pc.match_substring_regex(self.texts, pattern).to_numpy(zero_copy_only=False)
        places = np.flatnonzero(maybe)
        expression = re.compile(pattern)
        cells = 0
        for place, text in zip(places.tolist(), self.texts.take(pa.array(places)).to_pylist(), strict=True):
            found = (match for match in expression.finditer(text) if not _is_fraction(text, match.start()))
            if any(valid(match.group()) for match in found):
                cells += int(self.counts[place])
        return cells


def is_like(word: str, words: Iterable[str]) -> bool:
    """Whether a word is one of some words, or begins or ends with a longer one of them."""
    return any(
        word == each or (len(each) >= LONG_ENOUGH and (word.startswith(each) or word.endswith(each)))
        for each in words
    )


def _is_fraction(text: str, start: int) -> bool:
    """Whether what begins here are the digits of a decimal number after its mark."""
    return (
        start >= 1
        and text[start - 1] in ".,"
        and text[start : start + 1].isdigit()
        and (start == 1 or text[start - 2].isdigit() or not text[start - 2].isalnum())
    )


def rarefied_share(counts: npt.NDArray[np.int64]) -> float:
    """The expected number of different values among m cells drawn without replacement, divided by m.

    With n cells, of which c_i have the i-th value, and m = min(100, n), that is

        (1 / m) sum over i of ( 1 - (n - c_i choose m) / (n choose m) ).

    Unlike the number of different values per row, it does not fall as a table grows: that of a random sample
    of the rows is an unbiased estimate of that of the table, since a sample of a sample is a sample.

    >>> round(rarefied_share(np.array([20] * 1000)), 6), rarefied_share(np.array([1] * 50))
    (0.954327, 1.0)
    """
    cells = int(counts.sum())
    if not cells:
        return 0.0
    drawn = min(DRAWN, cells)
    different = 0.0
    for count, values in zip(*np.unique(counts, return_counts=True), strict=True):
        left = cells - int(count)
        missed = math.exp(_log_choose(left, drawn) - _log_choose(cells, drawn)) if left >= drawn else 0.0
        different += int(values) * (1 - missed)
    return different / drawn


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def words_of(name: str) -> list[str]:
    """The words of a header, whatever separates them.

    >>> words_of("patientPhone_No2"), words_of("SSN"), words_of("Straße")
    (['patient', 'phone', 'no'], ['ssn'], ['strasse'])
    """
    plain = unicodedata.normalize("NFC", name)
    return [word.lower().replace("ß", "ss") for word in _WORD.findall(plain)]
