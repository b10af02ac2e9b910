"""Whether every cell that a method wrote is true of the row it was made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import VerificationError
from tarnkappe.job.release import plain
from tarnkappe.job.result import Result
from tarnkappe.recoding.labels import LabelReader
from tarnkappe.table import MISSING, Column
from tarnkappe.table.encoding import as_text


def require_true_cells(result: Result, release: pa.Table) -> dict[str, Column]:
    """Refuse a release with a cell that does not stand for the original value of its row.

    Every word is understood by `LabelReader`, which knows the hierarchy and nothing of the method.

    Returns the columns that models look at, the quasi-identifiers with the words that were written, so that
    models that depend on how general labels are can be verified.
    """
    columns = dict(result.problem.tuples.columns)
    source = pa.array(result.source_rows)
    for name in result.problem.quasi_identifiers:
        column = columns[name]
        reader = LabelReader(column)
        originals = plain(result.input.data.column(name)).take(source)
        pairs = pa.table({"original": _texts(originals), "written": _texts(release.column(name))})
        pairs = pairs.group_by(["original", "written"]).aggregate([])
        code = {label: place for place, label in enumerate(column.labels)}
        words = set()
        for pair in pairs.to_pylist():
            meaning = reader.meaning(pair["written"])
            if meaning is None or code[pair["original"]] not in meaning:
                raise VerificationError(
                    "job.column-release-holds-value",
                    "the column '{name}' of the release holds a value that is not true of its row: it was "
                    "not handed over; please report this, it is a fault of the program",
                    name=name,
                )
            words.add(pair["written"])
        columns[name] = _with_words(column, sorted(words), reader)
    return columns


def _texts(values: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # makes 0 of -0, as the encoding does
    chunks = [as_text(chunk).fill_null(MISSING) for chunk in values.chunks]
    return pa.chunked_array(chunks, pa.string())


def _with_words(column: Column, words: Sequence[str], reader: LabelReader) -> Column:
    """The column with one more level, below the root: the words that were written."""
    levels = column.levels
    assert levels is not None, "a quasi-identifier has a hierarchy"
    leaves = np.array([reader.leaves(word) for word in words], dtype=np.int64)
    return column.with_levels(
        dataclasses.replace(
            levels,
            maps=(*levels.maps[:-1], levels.maps[-1], levels.maps[-1]),
            labels=(*levels.labels[:-1], tuple(words), levels.labels[-1]),
            leaves=(*levels.leaves[:-1], leaves, levels.leaves[-1]),
            bounds=None,
        )
    )
