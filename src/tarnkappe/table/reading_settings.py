"""How a file is written, where it is not found out: the keys that every document has which names a file."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from tarnkappe.schema import MOST_NAMES, NO_NUL, Name, Parameters, Text, fields_of, param

Short = Annotated[str, Meta(min_length=1, max_length=100, pattern=NO_NUL)]


class ReadingSettings(Parameters, kw_only=True):
    """What is stated about how a file is written; the rest is found out."""

    delimiter: Annotated[Short | None, param("what separates cells of a CSV file; found if not said")] = None
    encoding: Annotated[Short | None, param("the encoding of a CSV file; found if not said")] = None
    sheet: Annotated[Name | None, param("the sheet of a workbook; the first if not said")] = None
    quote: Annotated[Short | None, param("what stands around cells of a CSV file; found if not said")] = None
    header: Annotated[bool | Short | None, param("whether the first line is names; found if not said")] = None
    decimal: Annotated[Short | None, param("the decimal mark, a point or a comma; found if not said")] = None
    dates: Annotated[Short | None, param("the order of dates, such as dmy; found if not said")] = None
    missing: Annotated[
        Annotated[tuple[Text, ...], Meta(max_length=MOST_NAMES)] | None,
        param("the words for missing values; found if not said"),
    ] = None
    bad_lines: Annotated[Short | None, param("skip leaves out a few lines with too many or few cells")] = None

    @property
    def stated(self) -> dict[str, Any]:
        """The keys that are stated, as `read` takes them."""
        given = {each.name: getattr(self, each.name) for each in fields_of(ReadingSettings)}
        return {name: value for name, value in given.items() if value is not None}
