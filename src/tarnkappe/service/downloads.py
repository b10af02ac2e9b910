"""What a job has made, as a stream in the format that is asked for."""

from __future__ import annotations

import io
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tarnkappe.service.spreadsheet import neutral
from tarnkappe.table.formats.text_write import csv_blocks

PIECE = 2**20
ROWS = 2**16


class Form(StrEnum):
    """In which tables are handed out."""

    PARQUET = "parquet"
    ARROW = "arrow"
    CSV = "csv"


class Formulas(StrEnum):
    """What becomes of texts that a spreadsheet program would run."""

    NEUTRALIZE = "neutralize"
    KEEP = "keep"


MEDIA = {
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.stream",
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
}


def whole(path: Path) -> Iterator[bytes]:
    """A file as it is."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def table_as(path: Path, form: Form, formulas: Formulas) -> Iterator[bytes]:
    """A table, which is kept as Parquet, in another format, piece by piece."""
    if form is Form.PARQUET:
        yield from whole(path)
        return
    with pq.ParquetFile(path) as file:
        pieces = (pa.Table.from_batches([batch]) for batch in file.iter_batches(ROWS))
        empty = file.schema_arrow.empty_table()
        yield from _arrow(empty, pieces) if form is Form.ARROW else _csv(empty, pieces, formulas)


def _arrow(empty: pa.Table, pieces: Iterator[pa.Table]) -> Iterator[bytes]:
    page = io.BytesIO()
    with pa.ipc.new_stream(page, empty.schema) as stream:
        for piece in pieces:
            stream.write_table(piece)
            yield page.getvalue()
            page.seek(0)
            page.truncate()
    yield page.getvalue()


def _csv(empty: pa.Table, pieces: Iterator[pa.Table], formulas: Formulas) -> Iterator[bytes]:
    """With a header even where there are no rows."""
    made_safe = neutral if formulas is Formulas.NEUTRALIZE else lambda table: table
    yield from map(bytes, csv_blocks(made_safe(empty), ","))
    for piece in pieces:
        yield from map(bytes, csv_blocks(made_safe(piece), ",", header=False))
