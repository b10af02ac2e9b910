"""One command on files that nobody has described: an experiment of the chapter on the first hour."""

from __future__ import annotations

import dataclasses
import statistics

from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number, share
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.first_hour_release import Release, measure


def _measure(size: Size, progress: Progress | None) -> Figures:
    lines = []
    for diverse in (False, True):
        found = measure(size.pick(4, None), size.pick(1_000, 5_000), diverse=diverse, progress=progress)
        lines.append({"diverse": diverse, **_summary(found), "files": [dataclasses.asdict(f) for f in found]})
    plain = lines[0]
    return {
        "unreleased_share": 1 - plain["released"] / plain["tried"],
        "single_label_share": plain["single_share"],
        "lines": lines,
    }


def _summary(found: list[Release]) -> Figures:
    good = [each for each in found if not each.failed]
    known = sum(each.quasi_identifiers for each in good)
    return {
        "tried": len(found),
        "released": len(good),
        "quasi_identifiers": known,
        "single_label": sum(each.single for each in good),
        "single_share": sum(each.single for each in good) / max(known, 1),
        "median_seconds": statistics.median(each.seconds for each in found),
        "most_seconds": max(each.seconds for each in found),
    }


def _tell(figures: Figures) -> Story:
    rows = tuple(
        (
            "k = 5, and 2 values of each sensitive column" if line["diverse"] else "k = 5",
            f"{line['released']} of {line['tried']}",
            number(line["quasi_identifiers"]),
            f"{line['single_label']} ({share(line['single_share'])})",
            f"{line['median_seconds']:.1f} s, {line['most_seconds']:.1f} s",
        )
        for line in figures["lines"]
    )
    failed = [f for line in figures["lines"] for f in line["files"] if f["failed"]]
    differs = tuple(dict.fromkeys(f"{each['name']}: {each['failed'].rstrip('.')}." for each in failed))
    plain = figures["lines"][0]
    return Story(
        (
            Grid(
                "Releases by one command without an edit",
                ("promise", "verified", "quasi-identifiers", "with one label", "CPU: median, most"),
                rows,
            ),
        ),
        f"{plain['released']} of {plain['tried']} files become a verified release without an edit, and "
        f"{share(plain['single_share'])} of their quasi-identifiers say nothing any more.",
        differs,
    )


EXPERIMENT = Experiment(
    "release",
    "One command for a file that nobody has described",
    "The labelled corpus of public files (where they are present: TARN_CORPUS; without them made-up patients), at most 5,000 "
    "rows of each. Roles, hierarchies and promise as proposed, method `regions`. A release counts if it was "
    "verified and a check of the written table finds k of at least 5.",
    "Nothing: no tool that we know proposes roles, hierarchies and a promise together.",
    _measure,
    _tell,
    {"unreleased_share": 0.05, "single_label_share": 0.03},
)
