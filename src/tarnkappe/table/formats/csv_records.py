"""The grammar of CSV, in one place: what a record is, where it ends and what is wrong with it.

One pass over the bytes finds the end of the last whole record, counts records and lines, and notices
everything that a lenient parser would silently mend: quotes that do not close, text after a closing
quote, NUL bytes, records with another number of fields. Delimiters are detected, files are cut into
blocks and mistakes are located with this one function, so that they cannot disagree.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled

Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

NUL, LF, CR = 0, 10, 13
NO_QUOTE = -1

SOUND, UNFINISHED, UNCLOSED_QUOTE, TEXT_AFTER_QUOTE, NUL_BYTE = range(5)
"""What can be said of a record; an unfinished one needs more text to be judged."""


class CsvRecords(NamedTuple):
    """What was found in a piece of text."""

    end: int
    """Where the last whole record ends; everything up to `fault` counts what comes before."""
    lines: int
    """How many line breaks there are."""
    records: int
    """How many records there are."""
    first_end: int
    """Where the first record ends."""
    first_fields: int
    """How many fields the first record has."""
    odd_records: int
    """How many records do not have as many fields as expected."""
    odd_line: int
    """How many line breaks come before the first of them."""
    odd_fields: int
    """How many fields the first of them has."""
    quoted_fields: int
    """How many fields begin with a quote."""
    stray_quotes: int
    """How many quotes stand inside fields that do not begin with one."""
    fault: int
    """What is wrong after `end`."""
    fault_line: int
    """How many line breaks come before what is wrong."""


def find_records(
    data: bytes,
    delimiter: str,
    quote: str,
    *,
    fields: int = 0,
    skip_blank_lines: bool = True,
    complete: bool = True,
) -> CsvRecords:
    r"""Look through a piece of text that starts at the beginning of a record.

    Args:
        data: the text, in UTF-8.
        delimiter: the character between fields.
        quote: the character around fields, or "" where there is none.
        fields: how many fields a record should have; 0 for as many as the first has.
        skip_blank_lines: whether an empty line is no record (else it is a record with one empty field).
        complete: whether the text ends here, so that its last record needs no line break.

    >>> found = find_records(b'a,b\n1,"x\ny"\n2', ",", '"')
    >>> found.records, found.lines, found.odd_records, found.odd_fields
    (3, 3, 1, 1)
    """
    return _find_records(
        np.frombuffer(data, dtype=np.uint8),
        _ends_run(delimiter, quote),
        ord(delimiter),
        ord(quote) if quote else NO_QUOTE,
        fields,
        skip_blank_lines,
        complete,
    )


def without_odd_records(
    data: bytes, delimiter: str, quote: str, fields: int, skip_blank_lines: bool, most: int | None = None
) -> tuple[bytes, list[int]]:
    r"""Whole records without those with another number of fields, and the lines before each of these.

    >>> without_odd_records(b"1,2\n3\n4,5\n", ",", '"', 2, True)
    (b'1,2\n4,5\n', [1])
    """
    kept: list[bytes] = []
    odd: list[int] = []
    start = lines = 0
    ends_run = _ends_run(delimiter, quote)
    array = np.frombuffer(data, dtype=np.uint8)
    mark = ord(quote) if quote else NO_QUOTE
    while start < len(data) and (most is None or len(kept) < most):
        if skip_blank_lines and data[start] in (LF, CR):
            start, lines = _after_line_break(array, start, True), lines + 1
            continue
        end, passed, found, _, _, state = _record(array, start, ends_run, ord(delimiter), mark, True)
        if state != SOUND:
            break
        if found == fields:
            kept.append(data[start:end])
        else:
            odd.append(lines)
        start, lines = end, lines + passed
    return b"".join(kept), odd


def _ends_run(delimiter: str, quote: str) -> Flags:
    """Which bytes end a run of ordinary ones."""
    ends_run = np.zeros(256, dtype=np.bool_)
    ends_run[[NUL, LF, CR, ord(delimiter)]] = True
    if quote:
        ends_run[ord(quote)] = True
    return ends_run


@compiled
def _find_records(
    data: Bytes,
    ends_run: Flags,
    delimiter: int,
    quote: int,
    expected: int,
    skip_blank_lines: bool,
    complete: bool,
) -> CsvRecords:
    # One pass and no memory beyond counters, so a file of any size is read in blocks. Nothing is counted
    # before the record is known to be whole: after a fault, `end`, `lines` and the rest speak of what came
    # before it. A blank line is passed only at the start of a record, where it cannot be part of a quoted
    # field.
    end = lines = records = first_end = first_fields = 0
    odd_records = odd_line = odd_fields = quoted_fields = stray_quotes = 0
    state = SOUND
    fault_line = 0
    while end < len(data):
        if skip_blank_lines and (data[end] == LF or data[end] == CR):
            after = _after_line_break(data, end, complete)
            if after < 0:
                state = UNFINISHED
                break
            end, lines = after, lines + 1
            continue
        position, passed, fields, quoted, strays, state = _record(
            data, end, ends_run, delimiter, quote, complete
        )
        if state != SOUND:
            fault_line = lines + passed
            break
        if records == 0:
            first_end, first_fields = position, fields
            expected = expected if expected else fields
        if fields != expected:
            if odd_records == 0:
                odd_line, odd_fields = lines, fields
            odd_records += 1
        records += 1
        quoted_fields += quoted
        stray_quotes += strays
        end, lines = position, lines + passed
    return CsvRecords(
        end,
        lines,
        records,
        first_end,
        first_fields,
        odd_records,
        odd_line,
        odd_fields,
        quoted_fields,
        stray_quotes,
        state,
        fault_line,
    )


@compiled
def _record(
    data: Bytes, position: int, ends_run: Flags, delimiter: int, quote: int, complete: bool
) -> tuple[int, int, int, int, int, int]:
    """Pass one record: where it ends, its line breaks, fields, quoted fields, stray quotes, what is wrong."""
    # `ends_run` says by one look whether a byte is ordinary; nearly all are, and this loop is where the time
    # goes. A quote opens a field only as its first byte; anywhere else it is stray and only counted. At the
    # end of the data a record is whole only if the file is complete, or the next block would begin within it.
    lines = quoted = strays = 0
    fields = 1
    while True:
        if position < len(data) and data[position] == quote:
            position, passed, state = _quoted_field(data, position, delimiter, quote, complete)
            if state != SOUND:
                return position, lines + passed, fields, quoted, strays, state
            lines += passed
            quoted += 1
        while position < len(data):
            if not ends_run[data[position]]:
                position += 1
            elif data[position] == quote:
                strays += 1
                position += 1
            else:
                break
        if position == len(data):
            return position, lines, fields, quoted, strays, SOUND if complete else UNFINISHED
        if data[position] == NUL:
            return position, lines, fields, quoted, strays, NUL_BYTE
        if data[position] != delimiter:
            after = _after_line_break(data, position, complete)
            return after, lines + 1, fields, quoted, strays, SOUND if after >= 0 else UNFINISHED
        fields += 1
        position += 1


@compiled
def _quoted_field(
    data: Bytes, position: int, delimiter: int, quote: int, complete: bool
) -> tuple[int, int, int]:
    """Pass a quoted field: where it ends, its line breaks, and what is wrong (and after which of them)."""
    # Two quotes are one and do not end the field; this is looked at before anything else. CR LF is one line
    # break, counted at its LF. At the end of a block a closing quote may be the first of two: the record that
    # ends there is unfinished, and is read again with the next block.
    size = len(data)
    lines = 0
    position += 1
    while position < size:
        byte = data[position]
        position += 1
        if byte == quote:
            if position < size and data[position] == quote:
                position += 1
                continue
            follows = data[position] if position < size else LF
            return position, lines, SOUND if follows in (delimiter, LF, CR) else TEXT_AFTER_QUOTE
        if byte == LF or (byte == CR and (position == size or data[position] != LF)):
            lines += 1
        elif byte == NUL:
            return position, lines, NUL_BYTE
    return position, 0, UNCLOSED_QUOTE if complete else UNFINISHED


@compiled
def _after_line_break(data: Bytes, position: int, complete: bool) -> int:
    """Where a line break ends, or -1 where its other half may follow."""
    # A CR at the end of a block may be half of CR LF: only the next byte tells, unless the file is complete.
    # Taking it for a whole break would count the LF as a blank line.
    if data[position] == LF:
        return position + 1
    if position + 1 == len(data):
        return position + 1 if complete else -1
    return position + 2 if data[position + 1] == LF else position + 1
