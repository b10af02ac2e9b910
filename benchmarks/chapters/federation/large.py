"""A large table by star."""

from __future__ import annotations

from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.texts import number, ratio, seconds
from tarnkappe.table.encoding import Progress
from tarnkappe_bench import federation


def _measure(size: Size, progress: Progress | None) -> Figures:
    small = {"rows": 5000, "operations": 50, "tested_rows": 200, "compared_rows": 1000, "counter_bits": 512}
    return federation.run(progress, **size.pick(small, {}))


def _tell(figures: Figures) -> Story:
    plain = {k: v for k, v in figures.items() if isinstance(v, (int, float))}
    rows = tuple(
        (name.replace("_", " "), seconds(value) if name.endswith("seconds") else number(value))
        for name, value in plain.items()
    )
    return Story(
        (Grid("Measured", ("", "figure"), rows),),
        f"On {number(figures['ihis_rows'])} rows the star takes {ratio(figures['ihis_star_ratio'])} the time of one "
        "house with all the data.",
    )


EXPERIMENT = Experiment(
    "large",
    "A large table by star",
    "Adult by star and ring, and 1.2 million made-up rows in the shape of IHIS by star, three parties.",
    "B on IHIS: about 13 s vertically and 8 s horizontally, on top of 92 s of anonymization.",
    _measure,
    _tell,
    federation.LIMITS,
)
