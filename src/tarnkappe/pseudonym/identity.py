"""An identity: the values that name a person, written in one way.

Two sources write the same number with blanks around it, the same ü in one character or two. So values
are brought into one form before anything is made of them. What is empty is missing, and somebody of whom
everything is missing is nobody: he gets no pseudonym, or all of his kind would become one person.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table import Table

Identity = tuple[str | None, ...]


def identity(values: Iterable[str | None]) -> Identity | None:
    """The values in one form; None if all of them are missing.

    >>> identity(["  Müller ", "", None]), identity([" ", None])
    (('Müller', None, None), None)
    """
    written = tuple(_written(value) for value in values)
    return written if any(value is not None for value in written) else None


def identities(table: Table, columns: Sequence[str]) -> list[Identity | None]:
    """The identity in each row of a table."""
    if not columns:
        raise ParameterError("pseudonym.name-columns-say", "name the columns that say who it is")
    if len(set(columns)) < len(columns):
        raise ColumnError(
            "pseudonym.column-named-twice-among", "a column is named twice among those that say who it is"
        )
    texts = [_texts(table.data.column(table.require(name)), name) for name in columns]
    return [identity(row) for row in zip(*texts, strict=True)]


def _texts(column: pa.ChunkedArray, name: str) -> list[str | None]:
    if pa.types.is_floating(column.type):
        # A whole number that was read as 7.0, because cells beside it are missing, is the number 7.
        whole = pc.all(pc.equal(pc.floor(column), column), min_count=0).as_py()
        if not whole:
            raise ColumnError(
                "pseudonym.column-fractions-cannot-say",
                "the column '{name}' has fractions: it cannot say who somebody is",
                name=name,
            )
        column = pc.cast(column, pa.int64())
    try:
        texts: list[str | None] = pc.cast(column, pa.string()).to_pylist()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise ColumnError(
            "pseudonym.column-cannot-written-text",
            "the column '{name}' ({type}) cannot be written as text",
            name=name,
            type=column.type,
        ) from None
    return texts


def _written(value: str | None) -> str | None:
    if value is None:
        return None
    return " ".join(unicodedata.normalize("NFC", value).split()) or None
