"""What the book measures of the one command: a release counts only if it is one, and a column only if it says something."""

from __future__ import annotations

import pyarrow as pa
import pytest
from benchmarks.chapters.first_hour_release import EXPERIMENT, _summary

from tarnkappe_bench.first_hour_release import Release, release


def people(rows: int) -> pa.Table:
    return pa.table({"age": [20 + n % 40 for n in range(rows)], "sex": ["mf"[n % 2] for n in range(rows)]})


def test_a_release_is_counted_and_so_is_a_column_that_says_nothing() -> None:
    found = release("people", people(60), 50, diverse=True)
    assert (found.rows, found.quasi_identifiers, found.single, found.failed) == (50, 2, 0, "")
    alike = release("few", people(6), 50, diverse=False)
    assert (alike.quasi_identifiers, alike.single) == (2, 2)  # six people are one group
    assert "the largest possible k is 4" in release("too few", people(4), 50, diverse=False).failed


def test_the_story_tells_shares_and_what_failed() -> None:
    found = [Release("a", 100, 10, 1, "", 2.0), Release("b", failed="no table", seconds=0.5)]
    line = {"diverse": False, **_summary(found), "files": [{"name": "b", "failed": "no table"}]}
    assert (line["released"], line["tried"], line["single_share"]) == (1, 2, 0.1)
    story = EXPERIMENT.tell({"lines": [line]})
    assert "1 of 2" in story.meaning
    assert story.differs == ("b: no table.",)
    assert EXPERIMENT.exceeded({"unreleased_share": 0.5, "single_label_share": 0.01}) == {
        "unreleased_share": pytest.approx((0.5, 0.05))
    }
