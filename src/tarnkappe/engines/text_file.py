"""A CSV file as a stream of rows for DuckDB, read by our own reader.

So a file that does not fit in memory is understood exactly as one that does: the same delimiters, the same
quotes, the same missing values, the same errors with their lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tarnkappe.engines.statements import unused
from tarnkappe.errors import TarnkappeError
from tarnkappe.table.files import opened
from tarnkappe.table.formats.csv_read import text_blocks


class TextFile:
    """A CSV file that can be streamed as often as it is asked for.

    Attributes:
        names: its columns.
        row: the name of one column more, which numbers the rows.
        fault: what was wrong with the file when it was last read; the engine cannot pass it on.
    """

    def __init__(self, path: Path, delimiter: str | None, encoding: str | None) -> None:
        self._path, self._options = path, {"delimiter": delimiter, "encoding": encoding}
        with opened(path) as file:
            self.names = text_blocks(file, **self._options)[0]
        self.row = unused("row", self.names)
        self.fault: TarnkappeError | None = None

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
                for columns in text_blocks(file, **self._options)[1]:
                    count = len(columns[0])
                    numbers = pa.array(range(rows, rows + count), pa.int64())
                    texts = [column.cast(pa.string()) for column in columns]
                    yield pa.record_batch([*texts, numbers], [*self.names, self.row])
                    rows += count
        except TarnkappeError as error:
            self.fault = error
            raise
