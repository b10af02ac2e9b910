"""How large a table becomes when it is read: told by what its file says of itself, before a row is read.

This runs in a process of its own: what parses a format may have bugs that a made-up file could use.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tarnkappe.errors import InputError, LimitError
from tarnkappe.table.compression import compression_of
from tarnkappe.table.files import PIECE, Format, OpenFile, format_of

HARMLESS = 2**30
"""Bytes that any file may become, however small it is: columns of one value are written in a few bytes."""
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
"""Bytes that a value takes at least when it is read, by its physical type; texts take theirs besides."""


def require_unpackable(path: Path, unpacked_bytes: int, compression: int) -> None:
    """Refuse a table that would become too large.

    Args:
        path: of the file.
        unpacked_bytes: the most that any file may become.
        compression: how many times larger than the file it may become, beyond what is harmless.

    Raises:
        LimitError: it says of itself that it would.
        InputError: it is no file of its format.
    """
    size_on_disk = path.stat().st_size
    packed = compression_of(path) is not None
    most = min(unpacked_bytes, max(size_on_disk * compression, 0 if packed else HARMLESS))
    try:
        if packed:
            size = _text_size(path, size_on_disk, most)
        elif format_of(path) is Format.PARQUET:
            size = _parquet_size(path)
        else:
            size = _arrow_size(path, most)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(
            "service.file-damaged-cut-off",
            "the file is damaged or cut off ({name})",
            name=type(error).__name__,
        ) from None
    if size > most:
        raise LimitError(
            "service.unpacked-table-more-bytes",
            "unpacked, the table has more than {most:,} bytes: split it, or put it into a database",
            most=most,
        )


def _text_size(path: Path, size_on_disk: int, most: int) -> int:
    """Unpacked into nothing, until it is too much."""
    size = 0
    try:
        with path.open("rb") as raw:
            file = OpenFile(path, size_on_disk, raw)
            while size <= most and (piece := file.read(PIECE)):
                size += len(piece)
    except InputError:  # its words name the path that the file has here
        raise InputError(
            "service.file-not-compressed-name",
            "the file is not compressed as its name says, damaged or cut off",
        ) from None
    if not size:
        raise InputError("service.file-empty", "the file is empty")
    return size


def _parquet_size(path: Path) -> int:
    """From the footer: what pages become, or what their values take, whichever is more."""
    with pq.ParquetFile(path) as file:
        told, size = file.metadata, 0
        for group in range(told.num_row_groups):
            row_group = told.row_group(group)
            for place in range(row_group.num_columns):
                column = row_group.column(place)
                width = WIDTHS.get(column.physical_type, 1)
                values = max(column.num_values, row_group.num_rows)
                size += max(column.total_uncompressed_size, values * width)
        return int(max(size, told.num_rows * max(told.num_columns, 1)))


def _arrow_size(path: Path, most: int) -> int:
    """Of all batches until it is too much; those that are compressed are unpacked one after the other."""
    size = 0
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        for place in range(file.num_record_batches):
            size += file.get_batch(place).nbytes
            if size > most:
                break
    return size
