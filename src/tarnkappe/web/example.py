"""A made-up table to try everything with: people of a hospital, none of whom exists."""

from __future__ import annotations

import io

import pyarrow.csv

from tarnkappe.table import examples

ROWS = 2000


def example_csv() -> bytes:
    """The example as a file of comma-separated values."""
    stream = io.BytesIO()
    pyarrow.csv.write_csv(examples.hospital(rows=ROWS, seed=1).table.data, stream)
    return stream.getvalue()
