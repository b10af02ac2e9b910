"""Any other unique number, characteristic or code: what differs from row to row and is no measurement."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.risk.identifiers.detector import Detector, IdentifierFinding, IdentifierKind
from tarnkappe.risk.identifiers.view import CLOCK, CODE, ColumnView
from tarnkappe.risk.identifiers.words import HEADER_WORDS

LEAST_ROWS = 10
MOSTLY = 0.6
NEARLY_ALL = 0.95
DIFFERENT = 0.8
DIFFERENT_IF_NAMED = 0.6
DIFFERENT_IF_UNKNOWN = 0.4
YEARS = 200
LONG = 5
ENOUGH_ROWS = 20
"""Fewer amounts may all have one number of digits by chance."""
EVEN = 0.5
LONGER = 8
"""Amounts have fewer digits."""
ROUNDED = 0.5
"""Numbers of which so many end in 0 are amounts."""
SAME_UNIT = 0.9
NUMBERED = ("nummer", "number", "numero", "szam")
"""How words for numbers end that are put together: `Spendernummer`."""
CHANCE = 0.001
"""What is less probable than this is not by chance."""
_HASH = re.compile(
    r"[0-9a-fA-F]{16,128}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[A-Za-z0-9_-]{20,64}"
)
_MEASURED = re.compile(r"[-+]?[0-9][0-9.,]*(?:e[-+]?[0-9]+)?\s*([^\d\s]{0,6})", re.IGNORECASE)
_FRACTION = re.compile(r"[A-Za-z$€£]{0,3}\s?[-+]?[0-9]+[.,][0-9]+\s?[A-Za-z%]{0,6}")
"""A decimal number, perhaps with a sign or a letter before it: what is measured, not given."""
_DIAGNOSIS = re.compile(r"[A-TV-Z][0-9][0-9AB](?:\.[0-9A-TV-Z]{1,4})?")
_ONE_WORD = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])(?=.{6})[A-Za-z0-9]+(?:[-_/.:#][A-Za-z0-9]+)?")
_ALL = ("known", "sensitive", "date", "group", "thing", "place", "town", "notes")
_OF_DICTIONARY = re.compile(r"[A-Z]{2}(?:TERM|LLT|DECOD|HLT|HLGT|BODSYS|SOC)")
"""How clinical studies (CDISC) name the words and codes of a medical dictionary for what happened."""
LONG_DIFFERENT = 0.1
LONGEST_COUNT = 9
LONGEST_STREET = 4
"""House numbers have at most so many digits."""
_OF_SUBJECTS = ("usubjid", "subjid")
"""How clinical studies (CDISC) name the number of a person; it may repeat over all visits."""


@dataclasses.dataclass(frozen=True)
class UniqueCodes(Detector):
    """Codes that single people out: of a hundred cells most differ.

    Whole numbers count as codes if they fill their range, or if none occurs twice where chance would repeat
    some (running numbers, also with gaps, in a sample, in any order), or if all have the same number of
    digits, five or more, or if the header speaks of numbers of people: measurements have a varying number of
    digits. Numbers with decimals, and numbers that nearly all have the same unit, are measured.
    """

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """The numbers of persons in clinical studies, which go by a fixed name; nothing else."""
        if column.name.strip().lower() in _OF_SUBJECTS and column.distinct >= 2:
            reason = "the header is that of the numbers of persons in a study"
            return self.finding(column, column.filled, reason)
        return None

    def guess(self, column: ColumnView) -> IdentifierFinding | None:
        """Whether the values are codes, and most of them different."""
        if column.numbers_people:
            return self.finding(column, column.filled, "the header speaks of the numbers of people")
        if column.filled < LEAST_ROWS or column.distinct < 3 or pa.types.is_duration(column.type):
            return None
        if _OF_DICTIONARY.fullmatch(column.name) or _is_house_number(column):
            return None
        if column.rarefied_share >= DIFFERENT and (hashes := self._hashes(column)):
            return hashes  # whatever the header speaks of: nobody draws such numbers for groups of people
        named = self._is_named(column)
        if not named and column.about("id") and column.says(HEADER_WORDS["group"]):
            return None  # the number of a team, a ward, a school: others know it
        if not column.is_numeric and column.cell_share(_is_time) >= MOSTLY:
            return None
        if not _is_different(column, DIFFERENT_IF_NAMED if named else DIFFERENT, named):
            return self._hashes(column) or self._one_word(column) or self._long_number(column)
        whole = column.numbers is not None
        codes = self._whole_numbers(column, named) if whole else self._texts(column, named)
        if not codes:
            return None
        reason = f"most rows have a {codes} of their own, which names one person"
        found = self.finding(column, column.filled, reason)
        long = column.cell_share(lambda text: bool(_ONE_WORD.fullmatch(text))) >= SAME_UNIT
        varies = not named and (whole or (column.about("known", "date") and not long))
        return dataclasses.replace(found, by_variety=varies)

    def _is_named(self, column: ColumnView) -> bool:
        """Whether the header speaks of numbers of people, and not of those of groups of people."""
        ends = re.search(r"(?:ID|Id|_id|No|Nr)\.?$", column.name) is not None
        put_together = any(word.endswith(NUMBERED) for word in column.header_words)
        speaks = ends or column.about("id") or self.named(column)
        speaks = speaks or (put_together and not column.about("group"))
        return speaks and not column.is_amount and not column.says(HEADER_WORDS["group"])

    def _hashes(self, column: ColumnView) -> IdentifierFinding | None:
        """A hash or a random identifier stands for a person even if several rows have the same."""
        if column.numbers is not None:
            return None
        hashed = column.share_of(
            lambda text: bool(_HASH.fullmatch(text) and re.search(r"\d", text)), NEARLY_ALL
        )
        if hashed < NEARLY_ALL:
            return None
        return self.finding(column, column.filled, "the values are hashes or random identifiers of persons")

    def _one_word(self, column: ColumnView) -> IdentifierFinding | None:
        """Codes that repeat somewhat, of one form, under a header that says nothing."""
        if column.is_numeric or column.rarefied_share <= DIFFERENT_IF_UNKNOWN or column.about(*_ALL):
            return None
        if column.cell_share(lambda text: bool(_ONE_WORD.fullmatch(text))) < SAME_UNIT:
            return None
        return self.finding(column, column.filled, "the values are codes, and many of them differ")

    def _long_number(self, column: ColumnView) -> IdentifierFinding | None:
        """Numbers of nine or more digits, all of one length: those of doctors, devices, accounts repeat."""
        if not column.is_whole_number or column.rarefied_share < LONG_DIFFERENT or column.about(*_ALL):
            return None
        lengths = {len(text) for text in column.sample}
        if len(lengths) > 1 or min(lengths) < LONGEST_COUNT or column.distinct < LEAST_ROWS:
            return None
        return self.finding(
            column, column.filled, "the values are numbers of one length that is none of counts"
        )

    def _whole_numbers(self, column: ColumnView, named: bool) -> str:
        numbers = column.numbers
        if numbers is None or not column.is_whole or len(numbers) == 0:
            return ""
        if not named and column.about("known", "date") and numbers.max() - numbers.min() < YEARS:
            return ""  # ages, days and years of few people may all differ
        counted = column.is_amount and bool((column.number_counts > 1).any())
        filled = numbers.max() - numbers.min() < 1.05 * len(numbers)
        if (filled and _given_out(column.number_counts) and not counted) or _never_repeat(column):
            return "running number"
        lengths = np.array([len(text.lstrip("-")) for text in column.sample])
        exempt = (_is_explained(column) or column.is_amount) and lengths.max() < LONGER
        rounded = float(np.mean(numbers % 10 == 0)) > ROUNDED
        enough = named or column.filled >= ENOUGH_ROWS or lengths[0] >= LONGER
        if (
            enough
            and (lengths >= LONG).all()
            and (lengths == lengths[0]).all()
            and not exempt
            and not rounded
        ):
            return "number"
        return "number" if named else ""

    def _texts(self, column: ColumnView, named: bool) -> str:
        units: Counter[str] = Counter()

        def count_units(text: str) -> bool:
            match = None if text.isdigit() else _MEASURED.fullmatch(text)
            units.update([match[1].strip()] if match else [])
            return match is not None

        column.share_of(count_units)
        measured = bool(units) and units.most_common(1)[0][1] >= SAME_UNIT * units.total()

        def is_code(text: str) -> bool:
            unit = not text.isdigit() and _MEASURED.fullmatch(text) is not None
            return (
                len(text) >= 4
                and bool(CODE.fullmatch(text))
                and not (unit and measured)
                and not _FRACTION.fullmatch(text)
                and not _DIAGNOSIS.fullmatch(text)
            )

        varied = column.rarefied_share >= NEARLY_ALL or _repeat_alike(column.counts)
        if not named and _is_explained(column) and not varied:
            return ""
        if column.share_of(is_code) >= MOSTLY:
            return "code"
        return "word" if named and column.about("id") and column.words < 2 and not measured else ""


def _given_out(counts: npt.NDArray[np.int64]) -> bool:
    """Whether numbers that fill their range were given to people, one each, and not measured.

    What is measured fills its range only where there are many rows, and then some values are much more
    frequent than others: their counts vary as chance has it, by their mean, or more. Numbers that were given
    out occur once, or all equally often where the rows of a person do.
    """
    return bool(np.var(counts) < EVEN * np.mean(counts))


def _repeat_alike(counts: npt.NDArray[np.int64]) -> bool:
    """Whether values were given out and repeat with the rows of a person: about evenly, twice or more."""
    return len(counts) >= ENOUGH_ROWS and bool(np.mean(counts) >= 2) and _given_out(counts)


def _never_repeat(column: ColumnView) -> bool:
    """Whether numbers are given out, not measured: none occurs twice, where chance would repeat some.

    Of n numbers that are drawn from R, however they are distributed, none occurs twice with a probability of
    at most exp(-n (n - 1) / 2R): equal shares make repetitions rarest. Numbers that were given to people one
    after the other never repeat, also if some are left out, the rows are a sample or in another order. Where
    every person has equally many rows, the numbers of persons are looked at.
    """
    numbers, counts = column.numbers, column.number_counts
    if numbers is None or len(numbers) < LEAST_ROWS or counts.min() != counts.max():
        return False
    if counts[0] > 1 and len(numbers) < ENOUGH_ROWS:
        return False  # ten levels of an experiment are equally frequent, too
    pairs = len(numbers) * (len(numbers) - 1) / 2
    return bool(pairs / (numbers.max() - numbers.min() + 1) > -math.log(CHANCE))


def _is_different(column: ColumnView, least: float, named: bool) -> bool:
    """Whether values differ enough; under a header of identifiers it is enough if half of the rows differ."""
    return column.rarefied_share >= least or (named and 2 * column.distinct >= column.filled)


def _is_house_number(column: ColumnView) -> bool:
    """Whether cells are numbers of houses: without the street they tell as little as any small number."""
    return (
        column.is_whole_number and column.about("street") and max(map(len, column.sample)) <= LONGEST_STREET
    )


def _is_time(text: str) -> bool:
    return bool(CLOCK.fullmatch(text))


def _is_explained(column: ColumnView) -> bool:
    """Whether the header speaks of something that people have, and not of what they are called by."""
    return column.about("known", "sensitive", "date")


UNIQUE_CODES = (
    UniqueCodes(
        "unique-code",
        (IdentifierKind.OTHER,),
        "unique numbers or codes",
        (
            "id",
            "identifier",
            "number",
            "no",
            "nr",
            "nummer",
            "code",
            "key",
            "uuid",
            "guid",
            "pseudonym",
            "kennung",
        ),
    ),
)
