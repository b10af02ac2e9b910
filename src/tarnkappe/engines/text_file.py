"""A CSV file as a stream of rows for DuckDB, read by our own reader.

So a file that does not fit in memory is understood exactly as one that does: the same delimiters, the same
quotes, the same missing values, the same errors with their lines.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.engines.statements import unused
from tarnkappe.errors import TarnkappeError
from tarnkappe.table.files import opened
from tarnkappe.table.formats.csv_options import CsvFile, CsvOptions
from tarnkappe.table.formats.csv_read import open_csv, text_blocks
from tarnkappe.table.read import csv_options, csv_reading, stated_spelling
from tarnkappe.table.spelling.columns import spell_texts
from tarnkappe.table.spelling.converting import QUOTED_MARK
from tarnkappe.table.spelling.marks import MARKS

MOST_DISTINCT = 2**18
"""So many different texts of a column are remembered to see what they stand for; with more it is text."""


MANY_TEXTS = "\0many"
"""Stands for the texts of a crowded column, which is text."""


class TextFile:
    """A CSV file that can be streamed as often as it is asked for.

    It is read once to see how it is written and spelled, as a file in memory would be.

    Attributes:
        names: its columns.
        reading: how it is read.
        row: the name of one column more, which numbers the rows.
        fault: what was wrong with the file when it was last read; the engine cannot pass it on.
    """

    def __init__(self, path: Path, options: Mapping[str, Any]) -> None:
        self._path, self._options = path, csv_options(options)
        with opened(path) as file:
            csv = open_csv(file, self._options)
            counts = _counted(csv)
            stated = stated_spelling(options, semicolons=csv.dialect.delimiter == ";")
            spellings, self._changes = spell_texts(counts, stated)
            self.reading = csv_reading(csv, spellings)
        self._finish(csv)

    @classmethod
    def written(cls, path: Path, delimiter: str) -> TextFile:
        """A file that was written by an engine: every word in it means itself."""
        made = cls.__new__(cls)
        made._path, made._options = path, CsvOptions("utf-8", delimiter, '"', header=True)
        made._changes = {}
        with opened(path) as file:
            csv = open_csv(file, made._options)
            made.reading = csv_reading(csv, {})
        made._finish(csv)
        return made

    def _finish(self, csv: CsvFile) -> None:
        self.names = csv.names
        self.fault: TarnkappeError | None = None
        self.row = unused("row", self.names)
        # What was found out is not found out again: the file is read for every statement.
        self._options = dataclasses.replace(
            self._options,
            encoding=self._options.encoding
            or (csv.encoding.name if csv.encoding.errors == "strict" else None),
            delimiter=csv.dialect.delimiter,
            quote=csv.dialect.quote,
        )

    def reader(self) -> pa.RecordBatchReader:
        """The rows, from the first to the last; all columns are text."""
        self.fault = None
        fields = [(name, pa.string()) for name in self.names]
        return pa.RecordBatchReader.from_batches(
            pa.schema([*fields, (self.row, pa.int64())]), self._batches()
        )

    def _batches(self) -> Iterator[pa.RecordBatch]:
        rows = 0
        try:
            with opened(self._path) as file:
                for columns in text_blocks(open_csv(file, self._options)):
                    count = len(columns[0])
                    numbers = pa.array(range(rows, rows + count), pa.int64())
                    texts = [self._spelled(*each) for each in zip(self.names, columns, strict=True)]
                    yield pa.record_batch([*texts, numbers], [*self.names, self.row])
                    rows += count
        except TarnkappeError as error:
            self.fault = error
            raise

    def _spelled(self, name: str, column: pa.DictionaryArray) -> pa.Array:
        """The texts of a block, some of them missing or written as the most frequent text of their value."""
        new = self._changes.get(name, {})
        texts = [new.get(t, t.removeprefix(QUOTED_MARK)) for t in column.dictionary.to_pylist()]
        return pa.array(texts, pa.string()).take(column.indices)


def _counted(csv: CsvFile) -> dict[str, dict[str, int]]:
    """The distinct texts of every column and in how many cells each is; with too many only the marks."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in csv.names}
    crowded: set[str] = set()
    for columns in text_blocks(csv):
        for name, column in zip(csv.names, columns, strict=True):
            numbers = np.bincount(column.indices.drop_null().to_numpy(), minlength=len(column.dictionary))
            found = zip(column.dictionary.to_pylist(), numbers.tolist(), strict=True)
            kept = {text: count for text, count in found if name not in crowded or text in MARKS}
            counts[name].update(kept)
            if len(counts[name]) > MOST_DISTINCT:
                crowded.add(name)
                counts[name] = Counter({text: n for text, n in counts[name].items() if text in MARKS})
    for name in crowded:
        counts[name][MANY_TEXTS] = 10**12
    return {name: dict(found) for name, found in counts.items()}
