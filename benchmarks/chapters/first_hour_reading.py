"""How files are read that nobody has described: an experiment of the chapter on the first hour."""

from __future__ import annotations

import dataclasses

from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number, seconds
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.first_hour_reading import measure, seconds_of_a_release


def _measure(size: Size, progress: Progress | None) -> Figures:
    if progress:
        progress("reading", 0, 2)
    found = measure()
    rows, columns = size.pick((1_000, 10), (20_000, 30))
    if progress:
        progress("a large table", 1, 2)
    return {
        **dataclasses.asdict(found),
        "rows": rows,
        "columns": columns,
        "unread_share_of_dates": 1 - found.dates_found / max(found.dates, 1),
        "unread_share_of_numbers": 1 - found.numbers_found / max(found.numbers, 1),
        "release_seconds": seconds_of_a_release(rows, columns),
    }


def _tell(figures: Figures) -> Story:
    rows = (
        ("files read without an option", f"{figures['read']} of {figures['tried']}"),
        ("columns of dates and times understood", f"{figures['dates_found']} of {figures['dates']}"),
        ("columns of numbers understood", f"{figures['numbers_found']} of {figures['numbers']}"),
        (
            f"processor time of a release, {number(figures['rows'])} rows, {figures['columns']} columns",
            seconds(figures["release_seconds"]),
        ),
    )
    return Story(
        (Grid("Reading without an option", ("figure", "measured"), rows),),
        f"{figures['read']} of {figures['tried']} files are read without an option; of their columns "
        f"{figures['dates_found']} of {figures['dates']} of dates and {figures['numbers_found']} of "
        f"{figures['numbers']} of numbers are understood.",
        tuple(f"Not understood: {name}." for name in figures["odd"]),
    )


EXPERIMENT = Experiment(
    "reading",
    "Reading a file that nobody has described",
    "The labelled corpus of public files (where they are present: TARN_CORPUS; without them three made-up files in known "
    "spellings). A file counts if it is read without an option; a column of dates or numbers if it is read as "
    "such. The time is that from a CSV file of made-up people to the written and verified release.",
    "Nothing comparable that is published with its files.",
    _measure,
    _tell,
    {"unread_share_of_dates": 0.06, "unread_share_of_numbers": 0.08, "release_seconds": 10.0},
)
