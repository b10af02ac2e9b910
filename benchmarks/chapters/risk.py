"""Checks and attacks: how long they take, and how often k-anonymity alone betrays."""

from __future__ import annotations

import numpy as np

from benchmarks.bars import draw_bars
from benchmarks.chapter import Chapter, Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number, seconds
from tarnkappe.table.encoding import Progress
from tarnkappe_bench import risk


def _measure_checks(size: Size, progress: Progress | None) -> Figures:
    small = size is Size.SHORT
    return risk.run(progress, rows=20_000 if small else 1_000_000, people=2000 if small else 50_000)


def _tell_checks(figures: Figures) -> Story:
    named = {
        "adult_seconds": "Adult, every measure and attack",
        "million_rows_seconds": f"{number(figures['rows'])} rows, every measure and attack",
        "history_store_seconds": f"{number(figures['people'])} people after 20 releases, from the history",
        "history_files_seconds": "the same, from the files of the earlier releases",
    }
    rows = tuple((text, seconds(figures[key])) for key, text in named.items())
    return Story(
        (Grid("A whole check", ("", "time"), rows),),
        f"A million rows are measured and attacked in every way in {seconds(figures['million_rows_seconds'])}."
        if figures["rows"] >= 1_000_000
        else f"{number(figures['rows'])} rows are measured and attacked in {seconds(figures['million_rows_seconds'])}.",
        (),
        draw_bars(
            "Checks", {text[:30]: {"": figures[key]} for key, text in named.items()}, "seconds", shown=seconds
        ),
    )


GROUPS, K, VALUES = 12_000, 5, 3


def _measure_homogeneity(size: Size, progress: Progress | None) -> Figures:
    """Groups of k people with values drawn at random: in how many do all have the same?"""
    del progress
    rng = np.random.default_rng(5)
    drawn = [
        int((np.ptp(rng.integers(0, VALUES, (GROUPS, K)), axis=1) == 0).sum())
        for _ in range(size.pick(20, 1000))
    ]
    return {
        "runs": len(drawn),
        "expected": GROUPS * VALUES ** (1 - K),
        "mean": float(np.mean(drawn)),
        "least": min(drawn),
        "most": max(drawn),
    }


def _tell_homogeneity(figures: Figures) -> Story:
    return Story(
        (
            Grid(
                "12,000 groups of five, three values",
                ("", "groups"),
                (
                    ("reported", "148"),
                    ("expected: 12,000 / 3⁴", number(figures["expected"])),
                    (f"mean of {figures['runs']} draws", number(figures["mean"])),
                    ("least and most", f"{figures['least']} and {figures['most']}"),
                ),
            ),
        ),
        f"About {round(figures['mean'])} groups, hence {round(figures['mean'] * K)} people, are betrayed by "
        "k-anonymity alone, without any further knowledge.",
    )


CHAPTER = Chapter(
    "risk",
    "Checks and attacks",
    "What a table gives away is measured by code that had no part in making it.",
    (
        Experiment(
            "checks",
            "How long a check takes",
            "Adult; a million rows with a long column of postcodes; a release after twenty earlier ones. Every measure "
            "and every attack that applies.",
            "Nothing; targets are 10 s for Adult and the histories and 60 s for a million rows.",
            _measure_checks,
            _tell_checks,
            risk.LIMITS,
        ),
        Experiment(
            "homogeneity",
            "Homogeneous groups by chance",
            "60,000 people in groups of five, with one of three values each, drawn evenly.",
            "148 of 12,000 groups, 740 people.",
            _measure_homogeneity,
            _tell_homogeneity,
        ),
    ),
)
