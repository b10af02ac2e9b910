"""A column as detectors see it: its header in words, its different values and how often each occurs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.risk.identifiers.words import HEADER_WORDS, WORD_LISTS, WordList, divided, folded, words_of
from tarnkappe.table import SUPPRESSED
from tarnkappe.table.encoding import as_numbers, as_text
from tarnkappe.table.kinds import is_bytes
from tarnkappe.table.spelling import Spelling, SpellingKind

SAMPLE = 2000
"""Shapes are judged on so many different values; what hides inside cells is looked for in all of them."""

MOST_SPELLED = 100_000
"""So many texts that stand for numbers are read as such."""
AT_ONCE = 100
"""After so many values it is asked whether looking at the rest can change anything."""
DRAWN = 100
"""The rarefied share is that of so many cells."""
DECIMAL = re.compile(r"[-+]?[0-9]*[.,][0-9]+(?:[eE][-+]?[0-9]+)?")
"""A decimal number: whatever its digits are, they are no number that an institution gave."""

NEARLY_ALL = 0.9
"""A column is one of numbers if so large a share of its cells is."""
MOSTLY = 0.6
HALF = 0.5
LEAST_PEOPLE = 5
LONG = 5
"""A number of so many digits is no count of a few."""
CODE = re.compile(r"[^\s,;]*[0-9][^\s,;]*|(?=.*[0-9])[A-Z0-9]+(?:[ -][A-Z0-9]+){1,5}")
"""What may be a code: a digit, and no sentence."""
CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?[AaPp]\.?[Mm]\.?)?")
"""A time of day."""
_PROPER = frozenset(["id", "ids", "identifier", "uuid", "guid", "uid", "pseudonym", "kennung", "identifiant"])
"""Words that need no other beside them to speak of the numbers of people."""
_FEW = 10
"""Fewer different numbers may be levels, or counts of a few."""
_NEARLY_EVEN = 0.35
"""How often people come differs so much, by its variance as a part of the squared mean."""
_LETTERS_AND_NUMBER = re.compile(r"[^\W\d_][^\s,;]*[0-9][^\s,;]*")
_NUMBERED = re.compile(r"column [0-9]+")
_COUNT = ("num", "number", "no", "n", "nb", "nbr", "nr", "cnt", "anzahl", "anz")
"""These words count where others follow: `NumBeds`, not `BedNum`."""
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,14})(?:[.,][0-9]+)?(?:[eE][-+]?[0-9]+)?")


class ColumnView:
    """One column. Missing, empty and suppressed cells say nothing and are left out.

    Args:
        name: its header.
        data: its cells.
        spelling: what its texts stand for, if that is known.
        label: what else the file says about it, as statistics packages do: a second header.
    """

    def __init__(
        self, name: str, data: pa.ChunkedArray, spelling: Spelling | None = None, label: str = ""
    ) -> None:
        self.name = name
        self.spelling = spelling
        self.label = label
        self.type: pa.DataType = data.type.value_type if pa.types.is_dictionary(data.type) else data.type
        self.rows = len(data)
        self.is_binary = is_bytes(self.type)
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
    def has_hidden(self) -> bool:
        """Whether some cells are suppressed: somebody has protected the column already."""
        values, _ = self._counted
        return SUPPRESSED in as_text(values).cast(pa.string()).to_pylist()

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

    @cached_property
    def _sample_counts(self) -> npt.NDArray[np.int64]:
        return self.counts[self._sampled]

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64] | None:
        """The different values as numbers, if they are numbers; dates are none."""
        if pa.types.is_temporal(self.type):
            return None
        found, _ = self._numbers
        return None if found is None else found[np.isfinite(found)]

    @cached_property
    def number_counts(self) -> npt.NDArray[np.int64]:
        """How often each number occurs."""
        found, counts = self._numbers
        return counts if found is None else counts[np.isfinite(found)]

    @cached_property
    def _numbers(self) -> tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.int64]]:
        """The different values as numbers, also of texts that stand for some, and how often each occurs."""
        spelling = self.spelling
        if spelling is not None and spelling.number is not None and self.distinct <= MOST_SPELLED:
            read = [spelling.number_of(text) for text in self.texts.to_pylist()]
            return np.array([np.nan if each is None else float(each) for each in read]), self.counts
        values, counts = self._counted
        return as_numbers(values), counts

    @cached_property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.numbers is not None and len(self.numbers) > 0 and bool((self.numbers % 1 == 0).all())

    @cached_property
    def is_numeric(self) -> bool:
        """Whether nearly all cells are numbers, however they are written; codes of digits are none."""
        if self.numbers is not None:
            return True
        if self.spelling is not None and self.spelling.kind is not SpellingKind.TEXT:
            return self.spelling.kind is SpellingKind.NUMBER
        return self.cell_share(lambda text: bool(_NUMBER.fullmatch(text))) >= NEARLY_ALL

    @cached_property
    def is_whole_number(self) -> bool:
        """Whether nearly all cells are whole numbers."""
        if self.numbers is not None:
            return self.is_whole
        return self.is_numeric and self.cell_share(str.isdigit) >= NEARLY_ALL

    @cached_property
    def words(self) -> float:
        """How many words a value has on average."""
        return sum(len(text.split()) for text in self.sample) / max(len(self.sample), 1)

    @cached_property
    def header(self) -> str:
        """The header as words in lower case, with a space at both ends."""
        return f" {' '.join(self.header_words)} "

    @cached_property
    def header_words(self) -> list[str]:
        """The words of the header, then those of the label; a number in its place has none."""
        return [*([] if self.is_numbered else words_of(self.name)), *words_of(self.label)]

    @property
    def is_numbered(self) -> bool:
        """Whether the file has no header for the column, so that it has only a number."""
        return _NUMBERED.fullmatch(self.name) is not None

    def about(self, *names: str) -> bool:
        """Whether the header speaks of what one of some lists is about."""
        return any(self.last_word(name) for name in names)

    def last_word(self, name: str) -> int:
        """The place of the last word of the header that is in a list, from 1; 0 if it has none."""
        return WORD_LISTS[name].last_in(self.header_words)

    @cached_property
    def is_amount(self) -> bool:
        """Whether cells are numbers and the header speaks of how much or how many, not of whose."""
        words = self.header_words
        counted = len(words) > 1 and words[0] in _COUNT
        return self.is_numeric and (counted or self.says(HEADER_WORDS["amount"]))

    @cached_property
    def numbers_people(self) -> bool:
        """Whether cells are numbers of people by their header; they may repeat over visits.

        The header has words for people and for their numbers, and no others: `patient no`, but not
        `patient age`. A word for people alone is enough for subjects of a study, if no count is so long,
        or if values repeat as numbers of people do and counts do not.
        """
        own = {part for word in self.header_words for part in divided(word)}
        proper = own & (_PROPER | WORD_LISTS["personal"].words)
        people = own & (WORD_LISTS["person"].words | WORD_LISTS["whom"].words)
        codes = own & WORD_LISTS["code"].words
        least = 2 if self._says_subjects else LEAST_PEOPLE
        if not own or own - people - codes - proper or self.distinct < least:
            return False
        sure = (
            proper - WORD_LISTS["carried"].words or (people and codes) or own <= WORD_LISTS["subject"].words
        )
        long = min(map(len, self.sample)) >= LONG
        if not sure and not ((people or proper) and (long or self._come_again(own))):
            return False
        if self.is_numeric:
            return self.is_whole_number
        return self.cell_share(lambda text: bool(CODE.fullmatch(text))) >= MOSTLY

    @cached_property
    def numbers_subjects(self) -> bool:
        """Whether cells are numbers of the people whom rows are about, not of who does something for them."""
        own = {part for word in self.header_words for part in divided(word)}
        about = own & (WORD_LISTS["person"].words | WORD_LISTS["personal"].words)
        return self._says_subjects or (self.numbers_people and bool(about))

    @cached_property
    def _says_subjects(self) -> bool:
        """Whether the header is that of numbers of people however few they are: `patient no`, `user id`."""
        own = {part for word in self.header_words for part in divided(word)}
        people, codes = own & WORD_LISTS["person"].words, own & WORD_LISTS["code"].words
        sure = own & _PROPER or people & WORD_LISTS["subject"].words
        return bool(people and codes and sure) and not own - people - codes - _PROPER

    def _come_again(self, header: set[str]) -> bool:
        """Whether values occur as numbers of people do, who come about equally often, unlike counts.

        Most counts are small, or near to their mean: some values are much more frequent than others.
        """
        if not self.is_numeric:
            own = self.cell_share(lambda text: bool(_LETTERS_AND_NUMBER.fullmatch(text)))
            return self.distinct >= _FEW and own >= NEARLY_ALL
        mean, spread = float(np.mean(self.counts)), float(np.var(self.counts))
        if mean < 2 and (header & WORD_LISTS["several"].words or self.distinct < _FEW):
            return False
        if self.distinct < _FEW:
            return spread < HALF * mean  # every person has as many rows
        return spread <= mean + _NEARLY_EVEN * mean**2

    @cached_property
    def names_things(self) -> bool:
        """Whether most cells have a word that firms, offices and schools have in their names."""
        words = WORD_LISTS["organisation"].words
        return self.share_of(lambda text: not words.isdisjoint(words_of(text)), HALF) >= HALF

    def says(self, words: Iterable[str]) -> bool:
        """Whether the header has one of some words."""
        return any(f" {folded(word)} " in self.header for word in words)

    def speaks_of(self, words: Iterable[str]) -> bool:
        """Whether the header has one of some words, or a word that begins or ends with a longer one of them.

        >>> ColumnView("Geburtsdatum", pa.chunked_array([[1]])).speaks_of(["datum"])
        True
        """
        return WordList.of(words).last_in(self.header_words) > 0

    def share_of(self, holds: Callable[[str], bool], least: float = 0.0) -> float:
        """The share of the cells that something holds of, or of the different values, if that is larger.

        A share of cells does not depend on how many rows there are. That of values finds what a frequent
        word such as "unknown" would hide. A share that cannot reach `least` any more is not counted to its
        end, and 0 is said instead.
        """
        if not self.sample:
            return 0.0
        held = self._held(holds, least)
        return 0.0 if held is None else max(float(held.mean()), self._share(held))

    def shares_of(self, holds: Callable[[str], bool]) -> tuple[float, float]:
        """The share that `share_of` tells and the one that `cell_share` tells, from one look."""
        held = self._held(holds) if self.sample else None
        if held is None:
            return 0.0, 0.0
        cells = self._share(held)
        return max(float(held.mean()), cells), cells

    def cell_share(self, holds: Callable[[str], bool]) -> float:
        """The share of the cells that something holds of."""
        held = self._held(holds) if self.sample else None
        return 0.0 if held is None else self._share(held)

    def _held(self, holds: Callable[[str], bool], least: float = 0.0) -> npt.NDArray[np.bool_] | None:
        """Of which values something holds; None if the rest cannot make the share as large as `least`."""
        held = np.ones(len(self.sample), dtype=bool)
        for start in range(0, len(held), AT_ONCE):
            some = self.sample[start : start + AT_ONCE]
            held[start : start + AT_ONCE] = np.fromiter(map(holds, some), dtype=bool, count=len(some))
            if least and held.mean() < least and self._share(held) < least:
                return None
        return held

    def _share(self, held: npt.NDArray[np.bool_]) -> float:
        return float(self._sample_counts[held].sum() / self._sample_counts.sum())

    def cells_with(self, pattern: str, valid: Callable[[str], bool]) -> int:
        """How many cells contain something of this pattern that is valid."""
        expression = re.compile(pattern)

        def holds(text: str) -> bool:
            found = (match for match in expression.finditer(text) if not _is_fraction(text, match.start()))
            return any(valid(match.group()) for match in found)

        return self.cells_where(pattern, holds)

    def cells_where(self, maybe: str, holds: Callable[[str], bool]) -> int:
        """How many cells something holds of, among those that contain a pattern of Arrow's (RE2)."""
        if not pa.types.is_string(self.type) and not pa.types.is_large_string(self.type):
            return 0
        places = np.flatnonzero(pc.match_substring_regex(self.texts, maybe).to_numpy(zero_copy_only=False))
        texts: list[str] = self.texts.take(pa.array(places)).to_pylist()
        counts = self.counts[places].tolist()
        return sum(count for count, text in zip(counts, texts, strict=True) if holds(text))


def _is_fraction(text: str, start: int) -> bool:
    """Whether what begins here are the digits of a decimal number after its mark."""
    return (
        start >= 1
        and text[start - 1] in ".,"
        and text[start : start + 1].isdigit()
        and (start == 1 or text[start - 2].isdigit() or not text[start - 2].isalnum())
    )


def rarefied_share(counts: npt.NDArray[np.int64], most: int = DRAWN) -> float:
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
    drawn = min(most, cells)
    different = 0.0
    for count, values in zip(*np.unique(counts, return_counts=True), strict=True):
        left = cells - int(count)
        missed = math.exp(_log_choose(left, drawn) - _log_choose(cells, drawn)) if left >= drawn else 0.0
        different += int(values) * (1 - missed)
    return different / drawn


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
