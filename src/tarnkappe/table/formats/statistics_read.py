"""Reading files of statistics packages: Stata, SPSS, SAS."""

from __future__ import annotations

import contextlib
import datetime
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import PIECE, OpenFile
from tarnkappe.table.formats.names import check_names, chosen_names
from tarnkappe.table.formats.worksheet import column_of

TOLD = b"tarnkappe"
"""The key of the metadata of a column."""


def read_statistics(
    source: OpenFile, *, columns: Sequence[str] | None = None, progress: Progress | None = None
) -> pa.Table:
    """Read a file of a statistics package; values that have a label become this label.

    What the package says beside the values is in the metadata of the columns; `described` reads it there.
    """
    content, described = _read(source)
    names = check_names(list(content), str(source.path))
    wanted = chosen_names(names, columns, str(source.path))
    arrays, fields = [], []
    for name in wanted:
        labels = described.variable_value_labels.get(name, {})
        arrays.append(_column(content[name], labels))
        fields.append(pa.field(name, arrays[-1].type, metadata=_told(described, name, labels)))
    if progress:
        progress("reading", source.size, source.size)
    return pa.table(arrays, schema=pa.schema(fields))


def described(table: pa.Table) -> dict[str, dict[str, Any]]:
    """What a package says about each column: its `label`, and the `order` of its values."""
    found = {}
    for field in table.schema:
        told = (field.metadata or {}).get(TOLD)
        content = {} if told is None else json.loads(told)
        found[field.name] = {"label": content.get("label", ""), "order": tuple(content.get("order", ()))}
    return found


def _told(described: Any, name: str, labels: Mapping[Any, str]) -> dict[bytes, bytes]:
    """The label of a column, and its values in the order of their codes unless they are said to have none."""
    label = described.column_names_to_labels.get(name) or ""
    nominal = getattr(described, "variable_measure", {}).get(name) == "nominal"
    codes = sorted(code for code in labels if isinstance(code, int | float))
    order = [] if nominal or len(codes) < len(labels) else list(dict.fromkeys(labels[c] for c in codes))
    return {TOLD: json.dumps({"label": label, "order": order}).encode()}


def _readers() -> dict[str, Callable[..., Any]]:
    try:
        import pyreadstat
    except ImportError:
        raise ParameterError(
            "table.files-statistics-packages-need",
            "files of statistics packages need pyreadstat: pip install 'tarnkappe[statistics]'",
        ) from None
    return {
        ".dta": pyreadstat.read_dta,
        ".sav": pyreadstat.read_sav,
        ".zsav": pyreadstat.read_sav,
        ".por": pyreadstat.read_por,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".xpt": pyreadstat.read_xport,
    }


def _read(source: OpenFile) -> tuple[Mapping[str, list[Any]], Any]:
    reader = _readers()[source.suffix]
    with _named_copy(source) as path:
        try:
            content, described = reader(str(path), output_format="dict")
        except Exception as error:  # the library has no class of its own for damaged files
            raise InputError(
                "table.no-file-kind-damaged",
                "{path}: this is no file of its kind, or it is damaged ({name})",
                path=source.path,
                name=type(error).__name__,
            ) from None
    return content, described


@contextlib.contextmanager
def _named_copy(source: OpenFile) -> Iterator[Path]:
    """The open file under a name that the library can open: what was stamped is what is read."""
    with tempfile.NamedTemporaryFile(suffix=source.suffix) as copy:
        while piece := source.read(PIECE):
            copy.write(piece)
        copy.flush()
        yield Path(copy.name)


def _column(values: Sequence[Any], labels: Mapping[Any, str]) -> pa.Array:
    missing = [None if _is_missing(value) else value for value in values]
    if labels:
        return column_of([None if value is None else labels.get(value, value) for value in missing])
    return column_of([_whole(value) for value in missing])


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and value != value)


def _whole(value: Any) -> Any:
    """Packages keep whole numbers as floating point; they are whole numbers all the same."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    return value
