"""The published estimates, by our cost model."""

from __future__ import annotations

from benchmarks.chapter import Experiment, Figures, Grid, Size, Story
from benchmarks.federated import HORIZONTAL, LETTER, MASKED, RING, STAR, VERTICAL
from benchmarks.texts import number, share
from tarnkappe.federation.contract import Protocol
from tarnkappe.federation.cost import FederationWorkload, Speed, estimate
from tarnkappe.table.encoding import Progress

DATA = {
    "ADULT": (30_162, 9, 166, 169, 353),
    "CUP": (63_441, 8, 14_407, 40, 4808),
    "FARS": (100_937, 8, 238, 135, 1464),
    "ATUS": (539_253, 9, 299, 557, 1170),
    "IHIS": (1_193_504, 9, 186, 295, 6376),
}
"""Rows, columns, distinct values, tests and groups of a test."""
SPEEDS = {
    RING: Speed(3000, 88e6, 192),
    STAR: Speed(3_000_000, 88e6, 128),
    MASKED: Speed(3240, 88e6, 128, 768, shared_tests=True),
}
PRINTED = {
    RING: ((21, 32, 1, 1), (58, 85, 20, 31), (69, 105, 1, 3), (369, 560, 7, 13), (816, 1239, 14, 28)),
    STAR: (
        (0.32, 0.37, 0.20, 0.20), (0.66, 0.77, 0.47, 0.49), (0.99, 1.17, 0.59, 0.59), (5.67, 6.65, 3.53, 3.53),
        (12.55, 14.72, 7.81, 7.81),
    ),
    MASKED: ((43, 37, 37, 29), (112, 93, 99, 76), (143, 124, 123, 97), (647, 584, 539, 435), (1557, 1376, 1318, 1048)),
}  # fmt: skip
RUNS = ((VERTICAL, 2), (VERTICAL, 3), (HORIZONTAL, 2), (HORIZONTAL, 3))


def _measure(size: Size, progress: Progress | None) -> Figures:
    del size, progress
    lines = []
    for protocol, speed in SPEEDS.items():
        for (name, (rows, columns, distinct, tests, groups)), printed in zip(
            DATA.items(), PRINTED[protocol], strict=True
        ):
            computed = [
                estimate(
                    protocol,
                    d,
                    FederationWorkload(n, rows, columns, distinct, rows // 4, tests, groups),
                    speed,
                ).seconds
                for d, n in RUNS
            ]
            lines.append(
                {"protocol": str(protocol), "data": name, "computed": computed, "printed": list(printed)}
            )
    return {"lines": lines}


def _tell(figures: Figures) -> Story:
    rows = tuple(
        (
            LETTER[Protocol(x["protocol"])],
            x["data"],
            *(
                f"{number(float(f'{a:.3g}'))} / {number(b)}"
                for a, b in zip(x["computed"], x["printed"], strict=True)
            ),
        )
        for x in figures["lines"]
    )
    off = [
        abs(a / b - 1)
        for x in figures["lines"]
        for a, b in zip(x["computed"], x["printed"], strict=True)
        if b >= 10
    ]
    return Story(
        (
            Grid(
                "Seconds, computed / printed",
                ("protocol", "data", "vertical 2", "vertical 3", "horizontal 2", "horizontal 3"),
                rows,
            ),
        ),
        f"The published estimates of ten seconds and more are reproduced within {share(max(off))}.",
        (
            "The printed formulas multiply operations by a rate; only dividing reproduces the printed tables. Printed "
            "sizes of C leave out a factor, and its times need the test that parties share.",
        ),
    )


EXPERIMENT = Experiment(
    "cost-model",
    "The published estimates",
    "The cost model with the published rates (3,000 commutative, 3,000,000 symmetric and 3,240 homomorphic "
    "operations a second, 88 Mbit/s) for five data sets.",
    "Three tables of estimates, printed beside ours.",
    _measure,
    _tell,
)
