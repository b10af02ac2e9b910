"""Searches with parameters, from a job file and from flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarnkappe.errors import JobError, ParameterError
from tarnkappe.job import Job
from tarnkappe.job.search_plan import create_search
from tarnkappe.lattice import SEARCHES, AutoSearch, EvaluationSettings, FlashParallel

CONTENT = {
    "input": {"path": "data.csv"},
    "columns": {"age": {"role": "quasi-identifier"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}


def search_of(**settings: object) -> object:
    return Job.from_dict(CONTENT | {"search": settings}, Path("/nowhere")).search


def test_a_job_file_sets_the_parameters_of_a_search_and_of_its_effort() -> None:
    found = search_of(
        seconds=60,
        implied_criteria=False,
        lower_bounds=False,
        snapshots=10,
        snapshot_share=0.5,
        roll_up=False,
    )
    assert found == AutoSearch(
        seconds=60,
        implied_criteria=False,
        lower_bounds=False,
        effort=EvaluationSettings(roll_up=False, snapshots=10, snapshot_share=0.5),
    )
    assert search_of(algorithm="flash-parallel", threads=2) == FlashParallel(threads=2)
    assert search_of() == AutoSearch()


@pytest.mark.parametrize("name", SEARCHES.names)
def test_every_search_takes_a_time_limit(name: str) -> None:
    assert create_search(name, {"seconds": 1.5}).seconds == 1.5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"secnds": 60}, "[search], secnds: there is no such key: did you mean 'seconds'?"),
        ({"los": "entropy"}, "los: there is no such key: did you mean 'loss'?"),
        ({"colour": 1}, "colour: there is no such key: known are "),
        ({"threads": 2}, "[search], threads: there is no such key"),
        ({"seconds": "60"}, "[search], seconds: a number is needed, not '60'"),
        ({"seconds": True}, "[search], seconds: a number is needed, not True"),
        ({"lower_bounds": 1}, "[search], lower_bounds: true or false is needed, not 1"),
        ({"snapshots": 1.5}, "[search], snapshots: a whole number is needed, not 1.5"),
        ({"algorithm": "flush"}, "unknown algorithm 'flush': did you mean 'flash'"),
        ({"seconds": 0}, "[search], seconds: a number above 0 is needed, not 0"),
        ({"snapshots": -1}, "at least 0 is needed, not -1"),
        ({"snapshot_share": 2.0}, "[search], snapshot_share: at most 1 is allowed, not 2.0"),
        ({"effort": {"snapshots": 1}}, "[search.effort]: there is no such key"),
    ],
)
def test_what_a_search_does_not_take_is_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises((JobError, ParameterError)) as refusal:
        search_of(**settings)
    assert words in str(refusal.value)
