"""Writing Excel workbooks: one sheet, written straight into the file.

The usual library keeps the sheet in a temporary file elsewhere while it writes, and takes an empty
text for no value. A workbook with one sheet is five small parts and one long one, so it is written
here.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import IO
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa
import pyarrow.compute as pc
from openpyxl.utils import get_column_letter

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.rendering import (
    Render,
    interleaved,
    pieces,
    refuse_kinds,
    rendered,
    together,
    with_point,
)

MAX_ROWS = 2**20 - 1
MAX_COLUMNS = 2**14
MAX_TEXT = 32_767
MAX_DIGITS = 15
FORBIDDEN_IN_TITLES = set("[]:*?/\\")

FIRST_DAY, LAST_DAY = -25_508, 2_932_896
"""1900-03-01, before which Excel's calendar has a day that never was, and 9999-12-31, in days since 1970."""
DAYS_BEFORE_1970 = 25_569
MILLISECONDS = 86_400_000

UNWRITABLE = re.compile("_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
"""What XML cannot hold or would change, and what would be taken for the escape of such a character."""

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
DOCUMENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
SHEET = "xl/worksheets/sheet1.xml"
DATE, TIME = 1, 2
"""Places of the formats for dates and times among the styles."""

PARTS = {
    "[Content_Types].xml": f'''<Types xmlns="{PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="{DOCUMENT}.sheet.main+xml"/>
<Override PartName="/xl/styles.xml" ContentType="{DOCUMENT}.styles+xml"/>
<Override PartName="/{SHEET}" ContentType="{DOCUMENT}.worksheet+xml"/></Types>''',
    "_rels/.rels": f'''<Relationships xmlns="{PACKAGE}/relationships">
<Relationship Id="rId1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>''',
    "xl/_rels/workbook.xml.rels": f'''<Relationships xmlns="{PACKAGE}/relationships">
<Relationship Id="rId1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>
<Relationship Id="rId2" Type="{RELATIONS}/styles" Target="styles.xml"/></Relationships>''',
    "xl/styles.xml": f'''<styleSheet xmlns="{MAIN}"><numFmts count="2">
<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>
<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/></numFmts>
<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill>
<fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>
<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>
<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>''',
}
WORKBOOK = f'''<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">
<sheets><sheet name={{title}} sheetId="1" r:id="rId1"/></sheets></workbook>'''


def write_excel(
    table: pa.Table, path: Path, *, sheet: str = "Data", progress: Progress | None = None
) -> None:
    """Write a workbook with one sheet; what Excel would change or cannot hold is refused."""
    _refuse_what_does_not_fit(table, sheet)
    with path.open("xb") as stream, zipfile.ZipFile(stream, "w") as archive:
        title = WORKBOOK.format(title=quoteattr(sheet))
        for name, content in (PARTS | {"xl/workbook.xml": title}).items():
            archive.writestr(_part(name), '<?xml version="1.0" encoding="UTF-8"?>\n' + content)
        with archive.open(_part(SHEET), "w", force_zip64=True) as part:
            part.write(
                f'<?xml version="1.0" encoding="UTF-8"?>\n<worksheet xmlns="{MAIN}"><sheetData>'.encode()
            )
            _write_rows(table, part, progress)
            part.write(b"</sheetData></worksheet>")


def _part(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # with a fixed date, so that the same table gives the same file
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _refuse_what_does_not_fit(table: pa.Table, sheet: str) -> None:
    if not 0 < len(sheet) <= 31 or FORBIDDEN_IN_TITLES & set(sheet) or sheet.strip("'") != sheet:
        raise ParameterError(
            "table.cannot-name-sheet-use",
            "{sheet!r} cannot be the name of a sheet: use at most 31 letters or digits",
            sheet=sheet,
        )
    if table.num_rows > MAX_ROWS or table.num_columns > MAX_COLUMNS:
        raise ParameterError(
            "table.excel-holds-most-rows",
            "Excel holds at most {max_rows:,} rows and {max_columns:,} columns: write Parquet or CSV instead",
            max_rows=MAX_ROWS,
            max_columns=MAX_COLUMNS,
        )
    refuse_kinds(table.schema, "Excel")
    for field in table.schema:
        if pa.types.is_timestamp(field.type) and field.type.tz:
            raise ColumnError(
                "table.column-time-zone-excel",
                "the column '{field}' has a time zone: Excel knows none, so cast it first",
                field=field.name,
            )


def _write_rows(table: pa.Table, part: IO[bytes], progress: Progress | None) -> None:
    names = pa.table({name: [name] for name in table.column_names})
    part.write(_rows(names, 1))
    row = 2
    for piece in pieces(table, progress):
        part.write(_rows(piece, row))
        row += piece.num_rows


def _rows(piece: pa.Table, first: int) -> memoryview:
    numbers = pa.array(range(first, first + piece.num_rows)).cast(pa.large_string())
    contents = [_contents(piece, field) for field in piece.schema]
    missing = [pc.equal(pc.binary_length(content), 0) for content in contents]
    _refuse_empty_rows(missing, first)
    cells = [
        pc.if_else(
            none,
            pa.scalar("", pa.large_string()),
            together(f'<c r="{get_column_letter(place)}', numbers, content),
        )
        for place, (content, none) in enumerate(zip(contents, missing, strict=True), 1)
    ]
    return interleaved([together('<row r="', numbers, '">'), *[""] * (len(cells) - 1), "</row>"], cells)


def _refuse_empty_rows(missing: list[pa.Array], first: int) -> None:
    """Where nothing is written there is no row, so a row of missing values would be lost."""
    empty = missing[0]
    for column in missing[1:]:
        empty = pc.and_(empty, column)
    place = pc.index(empty, True).as_py()
    if place >= 0:
        raise ColumnError(
            "table.row-no-value-any-column",
            "row {first} has no value in any column, which Excel cannot hold: write CSV",
            first=first + place - 1,
        )


def _contents(piece: pa.Table, field: pa.Field) -> pa.Array:
    """What follows the row number in the cells of a column; nothing where a value is missing."""
    name, kind, column = field.name, field.type, piece.column(field.name)
    if pa.types.is_date(kind):
        return rendered(pa.table({name: _days(name, column)}), name, _styled(DATE), "")
    if pa.types.is_timestamp(kind):
        return rendered(pa.table({name: _moments(name, column)}), name, _styled(TIME), "")
    if pa.types.is_boolean(kind):
        return rendered(piece, name, _booleans, "")
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return rendered(piece, name, _floats, "")
    if pa.types.is_integer(kind):
        return rendered(piece, name, _integers, "")
    return rendered(piece, name, _texts, "")


def _days(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    days = column.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
    _refuse_other_times(name, days, 1)
    return pc.add(days, DAYS_BEFORE_1970)


def _moments(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        moments = column.cast(pa.timestamp("ms")).cast(pa.int64())
    except pa.ArrowInvalid:
        raise ColumnError(
            "table.column-holds-times-finer",
            "the column '{name}' holds times finer than milliseconds: Excel would round them",
            name=name,
        ) from None
    _refuse_other_times(name, moments, MILLISECONDS)
    return pc.add(pc.divide(moments.cast(pa.float64()), MILLISECONDS), DAYS_BEFORE_1970)


def _refuse_other_times(name: str, times: pa.ChunkedArray, a_day: int) -> None:
    least, greatest = pc.min_max(times).as_py().values()
    if least is not None and not (FIRST_DAY * a_day <= least and greatest < (LAST_DAY + 1) * a_day):
        raise ColumnError(
            "table.column-holds-dates-before-1900",
            "the column '{name}' holds dates before 1900-03-01 or after 9999-12-31: Excel cannot hold them",
            name=name,
        )


def _styled(style: int) -> Render:
    return lambda _, texts: together(f'" s="{style}"><v>', texts, "</v></c>")


def _booleans(_: str, texts: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(texts, "true"), '" t="b"><v>1</v></c>', '" t="b"><v>0</v></c>')


def _floats(name: str, texts: pa.Array) -> pa.Array:
    return together('"><v>', with_point(name, texts), "</v></c>")


def _integers(name: str, texts: pa.Array) -> pa.Array:
    if pc.any(pc.match_substring_regex(texts, rf"\d{{{MAX_DIGITS + 1}}}")).as_py():
        raise ColumnError(
            "table.column-holds-whole-numbers",
            "the column '{name}' holds whole numbers of more than {max_digits} digits: Excel would round "
            "them, so make them text first",
            name=name,
            max_digits=MAX_DIGITS,
        )
    return together('"><v>', texts, "</v></c>")


def _texts(name: str, texts: pa.Array) -> pa.Array:
    if pc.any(pc.greater(pc.utf8_length(texts), MAX_TEXT)).as_py():
        raise ColumnError(
            "table.column-holds-text-more-characters",
            "the column '{name}' holds text of more than {max_text:,} characters: Excel cannot hold it",
            name=name,
            max_text=MAX_TEXT,
        )
    opening, closing = '" t="inlineStr"><is><t xml:space="preserve">', "</t></is></c>"
    return pa.array([opening + _escaped(text) + closing for text in texts.to_pylist()], pa.string())


def _escaped(text: str) -> str:
    return escape(UNWRITABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", text))
