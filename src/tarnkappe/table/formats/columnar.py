"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from tarnkappe.errors import InputError
from tarnkappe.table.encoding import Progress, with_one_dictionary
from tarnkappe.table.files import OpenFile
from tarnkappe.table.formats.exact_types import TEXT, is_text
from tarnkappe.table.formats.names import check_names, chosen_names
from tarnkappe.table.formats.rendering import pieces, plain_schema

ROW_GROUP = 2**20
PARQUET_COMPRESSION = "zstd"
ARROW_COMPRESSION: str | None = "lz4"


def read_parquet(
    source: OpenFile, *, columns: Sequence[str] | None = None, progress: Progress | None = None
) -> pa.Table:
    """Read a Parquet file; text is kept by its distinct values, as the file itself does."""
    try:
        schema = pa.parquet.read_schema(source.stream)
        texts = [field.name for field in schema if is_text(field.type)]
        wanted = chosen_names(check_names(schema.names, str(source.path)), columns, str(source.path))
        source.stream.seek(0)
        file = pa.parquet.ParquetFile(source.stream, read_dictionary=texts)
        groups = []
        for group in range(file.num_row_groups):
            # The reader takes a name with a dot also for a field of a structure, hence the selection.
            groups.append(file.read_row_group(group, columns=wanted).select(wanted))
            if progress:
                progress("reading", group + 1, file.num_row_groups)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise InputError(
            "table.no-parquet-file-damaged",
            "{path}: this is no Parquet file, or it is damaged",
            path=source.path,
        ) from None
    table = pa.concat_tables(groups) if groups else schema.empty_table().select(wanted)
    return pa.table(
        {
            name: with_one_dictionary(column.cast(TEXT)) if name in texts else column
            for name, column in zip(wanted, table.columns, strict=True)
        }
    )


def read_arrow(
    source: OpenFile, *, columns: Sequence[str] | None = None, progress: Progress | None = None
) -> pa.Table:
    """Read an Arrow file (.arrow, .feather) or a stored Arrow stream."""
    try:
        table = _read_ipc(source)
        table.validate(full=True)  # unlike other formats, this one is taken from the disk as it is
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise InputError(
            "table.no-arrow-file-damaged", "{path}: this is no Arrow file, or it is damaged", path=source.path
        ) from None
    if progress:
        progress("reading", source.size, source.size)
    names = check_names(table.column_names, str(source.path))
    return table.select(chosen_names(names, columns, str(source.path)))


def _read_ipc(source: OpenFile) -> pa.Table:
    content = pa.py_buffer(source.read(source.size))
    try:
        return pa.ipc.open_file(content).read_all()
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(content).read_all()


def write_parquet(table: pa.Table, path: Path, progress: Progress | None = None) -> None:
    """Write a Parquet file."""
    with pa.parquet.ParquetWriter(
        path, plain_schema(table.schema), compression=PARQUET_COMPRESSION
    ) as writer:
        for piece in pieces(table, progress, ROW_GROUP):
            writer.write_table(piece)


def write_arrow(table: pa.Table, path: Path, progress: Progress | None = None) -> None:
    """Write an Arrow file.

    The format shows memory as it is, also behind missing values, where a value that was suppressed
    may still stand. So the rows are taken anew, which leaves nothing there.
    """
    options = pa.ipc.IpcWriteOptions(compression=ARROW_COMPRESSION)
    with pa.ipc.new_file(path, plain_schema(table.schema), options=options) as writer:
        for piece in pieces(table, progress, ROW_GROUP):
            for batch in piece.to_batches():
                writer.write_batch(batch.take(pa.array(range(batch.num_rows))))
