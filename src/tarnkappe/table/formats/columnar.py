"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet

from tarnkappe.errors import InputError
from tarnkappe.table.encoding import Progress, with_one_dictionary
from tarnkappe.table.files import OpenFile
from tarnkappe.table.formats.exact_types import TEXT, is_text
from tarnkappe.table.formats.names import check_names, chosen_names
from tarnkappe.table.formats.rendering import pieces, plain_schema

ROW_GROUP = 2**20
CODES = pa.dictionary(pa.int32(), pa.string())
MOST_CODES = 65_536
"""Entries of a dictionary that is written as one; with more, it costs as much as the texts."""

KEPT_KINDS = (
    pa.types.is_string,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_date32,
    pa.types.is_decimal128,
    lambda kind: kind in (pa.timestamp("us"), pa.timestamp("ns")),
)
"""Types that Parquet itself knows exactly."""

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
    """Write a Parquet file.

    Texts that are dictionaries are written as such: to write out five million labels, and number them again,
    takes four times as long. They have no statistics, for which they would be written out.
    """
    codes = _written_as_codes(table)
    schema = pa.schema(
        [(each.name, CODES if each.name in codes else each.type) for each in plain_schema(table.schema)]
    )
    with pa.parquet.ParquetWriter(
        path,
        schema,
        compression=PARQUET_COMPRESSION,
        store_schema=not codes,  # readers would take such texts for categories
        write_statistics=[name for name in schema.names if name not in codes],
    ) as writer:
        for start in range(0, table.num_rows, ROW_GROUP):
            piece = table.slice(start, ROW_GROUP)
            cells = [
                _only_used(column) if field.name in codes else column.cast(field.type)
                for field, column in zip(schema, piece.columns, strict=True)
            ]
            writer.write_table(pa.table(cells, schema=schema))
            if progress:
                progress("writing", start + piece.num_rows, table.num_rows)


def _written_as_codes(table: pa.Table) -> set[str]:
    """The columns of texts that stay codes; none if another type is known by the schema of Arrow alone."""
    if not all(any(is_kept(each.type) for is_kept in KEPT_KINDS) for each in plain_schema(table.schema)):
        return set()
    return {
        field.name
        for field, column in zip(table.schema, table.columns, strict=True)
        if pa.types.is_dictionary(field.type)
        and pa.types.is_string(field.type.value_type)
        and all(len(chunk.dictionary) <= MOST_CODES for chunk in column.chunks)
    }


def _only_used(column: pa.ChunkedArray) -> pa.Array:
    """The same codes with a dictionary of the texts that occur, in their order.

    What no row has any more, and in which order rows came that a dictionary was made of, is told to nobody.
    """
    if any(chunk.dictionary.null_count for chunk in column.chunks):
        column = column.cast(TEXT).dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    used = whole.indices.drop_null().unique()
    used = used.take(pc.sort_indices(whole.dictionary.take(used)))
    places = np.zeros(len(whole.dictionary), np.int32)
    places[used] = np.arange(len(used))
    return pa.DictionaryArray.from_arrays(pa.array(places).take(whole.indices), whole.dictionary.take(used))


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
