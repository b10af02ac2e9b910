"""How long a check with every measure and every attack may take.

Processor time is measured: it does not depend on what else the machine does, and on more than one core a user
waits less.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.risk import MEASURES, check
from tarnkappe.table import Table, examples, read


def test_adult_is_checked_with_all_measures_and_attacks_in_ten_seconds(adult: Path) -> None:
    table = read(adult / "adult.csv")
    known = [name for name in table.column_names if name != "occupation"]
    start = time.process_time()
    report = check(
        table,
        quasi_identifiers=known,
        sensitive=["occupation"],
        measures=[kind() for kind in MEASURES],
        sampling_fraction="1/20",
        safe_harbor=True,
    )
    assert time.process_time() - start < 10
    assert list(report.measures) == list(MEASURES.names)
    special = report.measures["special-uniques"].to_dict()
    assert special["number"] == {"1": 2, "2": 1006, "3": 7852}
    assert report.measures["contributions"].to_dict()["exact"]


@pytest.mark.slow
def test_a_million_rows_are_checked_in_a_minute_special_uniques_included() -> None:
    table = examples.shaped("ADULT", rows=1_000_000).table
    zips = pa.array(np.random.default_rng(1).zipf(1.3, table.num_rows) % 8000)
    known = [*table.quasi_identifiers, "zip"]
    wide = Table(table.data.append_column("zip", zips))
    start = time.process_time()
    report = check(
        wide,
        quasi_identifiers=known,
        sensitive=["occupation"],
        measures=[kind() for kind in MEASURES],
        sampling_fraction=0.01,
        safe_harbor=True,
    )
    assert time.process_time() - start < 60
    assert report.measures["special-uniques"].to_dict()["largest"] == 3
    assert report.measures["special-uniques"].to_dict()["rows"] > 0
