"""Verification of an answer before it is handed over: from its values alone, whoever computed them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tarnkappe.algebra.promises import Promise
from tarnkappe.errors import VerificationError
from tarnkappe.table.encoding import Counts


@dataclass(frozen=True)
class VerifiedPromise:
    """A promise and what was measured of it.

    Attributes:
        promise: what was promised.
        measured: the number of rows of the smallest class, or of people; None if there are no rows.
        people: whether people were counted, and not rows.
    """

    promise: Promise
    measured: int | None
    people: bool = False

    def as_dict(self) -> dict[str, object]:
        """The finding for machines."""
        counted = "people" if self.people else "rows"
        return {**self.promise.as_dict(), "measured": self.measured, "counted": counted}

    def __str__(self) -> str:
        if self.measured is None:
            return f"{self.promise}: no rows"
        if self.people:
            others = f"the rows of at least {self.measured - 1} other people"
            return f"{self.promise}: every row shares it with {others}"
        others = f"every row shares it with at least {self.measured - 1} other rows"
        return f"{self.promise}: {others} (rows were counted, not people)"


def verify(
    answer: pa.Table, promised: Iterable[Promise], *, person: str | None = None
) -> tuple[VerifiedPromise, ...]:
    """Measure every promise in the values of an answer.

    `person` is the column of the answer that tells people apart; then people are counted, and not rows.

    Raises:
        VerificationError: one is broken; then nothing may be handed over.
    """
    found = tuple(
        VerifiedPromise(promise, smallest_class(answer, promise.columns, person), person is not None)
        for promise in promised
    )
    for kept in found:
        if kept.measured is not None and kept.measured < kept.promise.k:
            raise VerificationError(
                "algebra.answer-not-query-promises",
                "the answer is not {promise}, as the query promises: a class has {measured} {what}; nothing"
                " is handed over",
                promise=kept.promise,
                measured=kept.measured,
                what="people" if kept.people else "rows",
            )
    return found


def degree_of(answer: pa.Table, columns: Collection[str], verified: Iterable[VerifiedPromise]) -> int | None:
    """How many rows the smallest class of some columns has; it is not counted twice."""
    for kept in verified:
        if kept.promise.columns == frozenset(columns) and not kept.people:
            return kept.measured
    return smallest_class(answer, columns)


def smallest_class(answer: pa.Table, columns: Iterable[str], person: str | None = None) -> int | None:
    """How many rows the smallest class of these columns has; missing values are a value like any other.

    With a `person` column, how many different people; rows that lack one are nobody's.
    """
    if not answer.num_rows:
        return None
    classes, number = np.zeros(answer.num_rows, np.int64), 1
    for place, name in enumerate(sorted(columns)):
        codes, values = _codes(answer.column(name))
        if not place:
            classes, number = codes, values
            continue
        if not _is_dense(number * values, len(codes)):  # else gaps cost less than closing them
            classes, number = _numbered(classes, number)
        classes, number = classes * values + codes, number * values
    if person is None and _is_dense(number, len(classes)):
        sizes = np.bincount(classes, minlength=number)
        return int(sizes[sizes > 0].min())
    classes, number = _numbered(classes, number)
    if person is None:
        return int(np.bincount(classes, minlength=number).min())
    people, known = _codes(answer.column(person))
    somebody = np.asarray(answer.column(person).is_valid())
    pairs = np.unique((classes * known + people)[somebody])
    return int(np.bincount(pairs // known, minlength=number).min())


def _codes(column: pa.ChunkedArray) -> tuple[Counts, int]:
    """For each row the number of its value, and how many numbers there are; a missing value has one, too."""
    if pa.types.is_dictionary(column.type):  # two equal entries of a dictionary would split a class
        column = column.unify_dictionaries()
        texts = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
        if len(texts.unique()) == len(texts) and not texts.null_count:
            codes = pa.chunked_array([chunk.indices for chunk in column.chunks], column.type.index_type)
            return codes.cast(pa.int64()).fill_null(len(texts)).to_numpy(), len(texts) + 1
        column = column.cast(column.type.value_type)
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices, np.int64), max(len(encoded.dictionary), 1)


def _numbered(codes: Counts, size: int) -> tuple[Counts, int]:
    """The same classes with numbers that have no gaps, so that the next column leaves them in 64 bits."""
    if _is_dense(size, len(codes)):
        present = np.bincount(codes, minlength=size) > 0
        return (np.cumsum(present) - 1)[codes], int(present.sum())
    values, places = np.unique(codes, return_inverse=True)
    return places.astype(np.int64), len(values)


def _is_dense(size: int, rows: int) -> bool:
    """Whether so many numbers can be counted in a table of them all."""
    return size <= 4 * rows + 4096
