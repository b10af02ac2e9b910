"""What a job has made, as a stream in the format that is asked for."""

from __future__ import annotations

import dataclasses
import io
import json
import tempfile
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from tarnkappe.errors import LimitError
from tarnkappe.service.spreadsheet import neutral
from tarnkappe.table.formats.excel_write import write_excel
from tarnkappe.table.formats.text_write import CsvStyle, csv_blocks
from tarnkappe.table.reading import Reading
from tarnkappe.table.write import csv_style

PIECE = 2**20
ROWS = 2**16
MOST_CELLS = 2_000_000
"""Of a workbook, which is made here as a whole: larger ones would keep others waiting."""


class Form(StrEnum):
    """In which tables are handed out."""

    PARQUET = "parquet"
    ARROW = "arrow"
    CSV = "csv"
    CSV_FOR_EXCEL = "csv-for-excel"
    EXCEL = "xlsx"

    @property
    def suffix(self) -> str:
        """Of a file of this kind."""
        return ".csv" if self is Form.CSV_FOR_EXCEL else f".{self}"


class Formulas(StrEnum):
    """What becomes of texts that a spreadsheet program would run."""

    NEUTRALIZE = "neutralize"
    KEEP = "keep"


MEDIA = {
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.stream",
    ".csv": "text/csv; charset=utf-8",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
}


def whole(path: Path) -> Iterator[bytes]:
    """A file as it is."""
    yield from _from(path.open("rb"))


def style_of(manifest: Path, form: Form) -> CsvStyle:
    """How a CSV file is written: as the file was that the rows come from, if the manifest tells of one."""
    reading = None
    if manifest.is_file():
        told = json.loads(manifest.read_text(encoding="utf-8")).get("reading")
        reading = None if told is None else Reading.from_dict(told)
    return csv_style(reading, ".csv", None, excel=form is Form.CSV_FOR_EXCEL)


def table_as(path: Path, form: Form, formulas: Formulas, style: CsvStyle | None = None) -> Iterator[bytes]:
    """A table, which is kept as Parquet, in another format, piece by piece; CSV in a style.

    Raises:
        LimitError: it is too large for a workbook.
        ParameterError: it has what a workbook cannot hold; so is a `ColumnError`.
    """
    if form is Form.PARQUET:
        return whole(path)
    return _workbook(path) if form is Form.EXCEL else _pieces(path, form, formulas, style or CsvStyle())


def _workbook(path: Path) -> Iterator[bytes]:
    """It is made before the first piece is asked for, so that a refusal comes in time.

    Texts are texts in a workbook, so no formula among them is run.
    """
    with pq.ParquetFile(path) as file:
        if file.metadata.num_rows * file.metadata.num_columns > MOST_CELLS:
            raise LimitError(
                "service.workbook-most-cells-here-take",
                "a workbook has at most {most_cells:,} cells here: take CSV or Parquet",
                most_cells=MOST_CELLS,
            )
        table = file.read()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / "release.xlsx"
        write_excel(table, made)
        stream = made.open("rb")  # it stays readable after its folder is gone
    return _from(stream)


def _from(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(PIECE):
            yield piece


def _pieces(path: Path, form: Form, formulas: Formulas, style: CsvStyle) -> Iterator[bytes]:
    with pq.ParquetFile(path) as file:
        pieces = (pa.Table.from_batches([batch]) for batch in file.iter_batches(ROWS))
        empty = file.schema_arrow.empty_table()
        yield from _arrow(empty, pieces) if form is Form.ARROW else _csv(empty, pieces, formulas, style)


def _arrow(empty: pa.Table, pieces: Iterator[pa.Table]) -> Iterator[bytes]:
    page = io.BytesIO()
    with pa.ipc.new_stream(page, empty.schema) as stream:
        for piece in pieces:
            stream.write_table(piece)
            yield page.getvalue()
            page.seek(0)
            page.truncate()
    yield page.getvalue()


def _csv(empty: pa.Table, pieces: Iterator[pa.Table], formulas: Formulas, style: CsvStyle) -> Iterator[bytes]:
    """With a header even where there are no rows; formulas are guarded once, here."""
    made_safe = neutral if formulas is Formulas.NEUTRALIZE else lambda table: table
    style = dataclasses.replace(style, guard_formulas=False)
    yield from map(bytes, csv_blocks(made_safe(empty), style))
    rest = dataclasses.replace(style, mark=False)
    for piece in pieces:
        yield from map(bytes, csv_blocks(made_safe(piece), rest, header=False))
