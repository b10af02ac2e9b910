"""The release check: may this package leave the house?"""

from __future__ import annotations

from benchmarks.bars import draw_bars
from benchmarks.chapter import Chapter, Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number, seconds
from tarnkappe.table.encoding import Progress
from tarnkappe_bench import exchange


def _measure(size: Size, progress: Progress | None) -> Figures:
    small = {"rows": 1000, "earlier": 3}
    return exchange.run(progress, **size.pick(small, {}))


def _tell(figures: Figures) -> Story:
    rows = (
        ("check, all steps but making the package", seconds(figures["check_seconds"])),
        ("package by levels", seconds(figures["package_seconds"])),
        ("package by k-Optimize", seconds(figures["k_optimize_package_seconds"])),
        ("package by Mondrian", seconds(figures["mondrian_package_seconds"])),
        ("patients", number(figures["patients"])),
        ("earlier packages", number(figures["earlier"])),
        ("patients in the package", number(figures["selected"])),
    )
    return Story(
        (Grid("One request", ("", "measured"), rows),),
        f"A request is checked in {seconds(figures['check_seconds'])} at an institution with "
        f"{number(figures['patients'])} patients and {number(figures['earlier'])} earlier packages.",
        (),
        draw_bars(
            "Where the time goes",
            {name: {"": took} for name, took in figures["steps"].items()},
            "seconds",
            shown=seconds,
        ),
    )


CHAPTER = Chapter(
    "exchange",
    "The release check",
    "Another institution asks; every step of the check runs before anything is decided.",
    (
        Experiment(
            "request",
            "A request at a large institution",
            "100,000 patients, 1,000 earlier packages, seven columns asked for.",
            "The component was not measured. Target: under a second on 100,000 records.",
            _measure,
            _tell,
            exchange.LIMITS,
        ),
    ),
)
