"""How fast the gate answers, how many artificial values it needs, and how far from the least that is.

All ten setups of `gate_workloads`, every strategy where it is of interest, next to what the literature
reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tarnkappe.drawing import Drawing
from tarnkappe.errors import ParameterError
from tarnkappe.gate import STRATEGIES
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.adult import read_adult, reference_folder
from tarnkappe_bench.chart import draw_curves, side_by_side
from tarnkappe_bench.gate_kept import Kept
from tarnkappe_bench.gate_measure import (
    Work,
    against_plain_python,
    exact_signatures,
    measure,
    together,
    without_criterion,
)
from tarnkappe_bench.gate_workloads import SETUPS, adult

LIMITS = {
    "exact_signatures_median_seconds": 0.1,
    "exact_signatures_worst_seconds": 1.0,
    "witness_pool_setup_2_ratio": 1.5,
    "witness_pool_setup_3_ratio": 1.5,
    "witness_pool_setup_10_ratio": 1.5,
    "witness_pool_setup_2_median_seconds": 0.1,
    "witness_pool_setup_3_median_seconds": 0.1,
    "witness_pool_setup_10_median_seconds": 0.1,
    "witness_pool_to_clone_matching_setup_4": 0.999,
    "clone_matching_to_plain_python": 0.1,
    "clone_matching_to_document_setup_4": 1.0,
}
"""What `make bench-check` holds us to. A ratio is of artificial values to the least possible number."""

POOL, CLONE = "witness-pool", "clone-matching"
MATCHINGS = (CLONE, "simple-matching", "max-anonymity", "max-edges")
UNIQUE = ("sa-unique", "sa-unique-a", "sa-unique-b", "sa-unique-c")
BASELINE = "m-invariance"

DOCUMENT = {
    "setup_3-7_k4": {CLONE: 0.07, "sa-unique": 0.54, BASELINE: 0.57},
    "setup_3-6_k4": {CLONE: 0.18},
    "setup_4-10000-50_k10": {CLONE: 0.27},
    "setup_4-10000-100_k10": {CLONE: 0.49, "max-edges": 0.73},
    "setup_4-10000-200_k10": {CLONE: 0.69},
    "setup_4-100000-100_k10": {CLONE: 0.008},
    "setup_8_k10": {"sa-unique": 0.473, BASELINE: 0.689},
    "setup_10_k5": {CLONE: 0.03, "sa-unique": 0.59},
    "setup_10_k7": {CLONE: 0.09, "sa-unique": 1.17},
}
"""The mean shares of artificial values that the literature reports."""
DOCUMENT_LARGEST = {"setup_2_k3": {CLONE: 0.53, "sa-unique": 0.94, BASELINE: 1.30, "exact": 0.12}}
"""The largest shares that it reports."""
DOCUMENT_LATE = {
    "setup_9_k4": {CLONE: 1.80, "sa-unique": 1.40},
    "setup_9_k6": {CLONE: 3.10, "sa-unique": 1.70},
}
"""The shares from query 150 on that it reports."""

PLAN: dict[str, tuple[str, ...]] = {
    "2": (POOL, *MATCHINGS, "sa-unique", BASELINE),
    "3-7": (POOL, *MATCHINGS, "sa-unique", BASELINE),
    "3-6": (POOL, *MATCHINGS, "sa-unique", BASELINE),
    **{name: (CLONE,) for name in SETUPS if name[0] in "4567"},
    "4-10000-100": (POOL, *MATCHINGS, "sa-unique", BASELINE),
    "8": (CLONE, *UNIQUE, BASELINE),
    "9": (CLONE, "max-edges", "sa-unique", BASELINE),
    "10": (POOL, *MATCHINGS, "sa-unique", BASELINE),
}
"""Which strategies run on which setup."""
LONG = ("5", "6", "7")
"""Setups that show how curves go on; they are drawn less often."""
SLOW_FOR_POOL = ("4-10000-100", 25)
PLAIN_SETUP, PLAIN_K = "4-10000-100", 10
"""Where clone matching is compared with its plain Python twin."""


def run(
    progress: Progress | None = None,
    *,
    seeds: int = 20,
    setups: Sequence[str] = (),
    keep: Path | None = None,
    plain_queries: int = 200,
) -> dict[str, Any]:
    """Measure every strategy on the setups where it is of interest.

    `least` is what the witness pool itself has proven to be necessary, answer by answer, in the same run.

    Args:
        progress: told which line is measured.
        seeds: how many times a setup is drawn; setups 5, 6 and 7 a tenth as often.
        setups: only these, by number or by name ("4" or "4-10000-100"); all if not given.
        keep: a file in which lines are kept as they are measured, and from which they are taken if they were.
        plain_queries: how many queries of setup 4 the plain Python twin gets.
    """
    names = _chosen(setups)
    kept = Kept(keep)
    figures: dict[str, Any] = {"seeds": seeds, "setups": ", ".join(names)}
    curves: dict[str, dict[str, Any]] = {}
    if "1" in names:
        figures |= kept.of({"setup": "1", "seeds": seeds}, lambda: exact_signatures(seeds))
        figures["setup_1"] = setup_1 = {
            name: kept.of(
                {"setup": "1", "strategy": name, "seeds": seeds},
                lambda name=name: without_criterion(STRATEGIES[name], seeds),  # type: ignore[misc]
            )
            for name in (*MATCHINGS, "sa-unique")
        }
        curves["setup_1"] = {
            "exact": figures.pop("curve"),
            **{name: each.pop("curve") for name, each in setup_1.items()},
        }
    if PLAIN_SETUP in names:
        figures |= kept.of(
            {"setup": PLAIN_SETUP, "k": PLAIN_K, "plain": plain_queries, "seeds": seeds},
            lambda: against_plain_python(PLAIN_SETUP, PLAIN_K, plain_queries, seeds),
        )
    lines: dict[str, dict[str, Any]] = {}
    jobs = _jobs(names)
    for done, (name, k, strategy) in enumerate(jobs):
        if progress:
            progress("setups", done, len(jobs))
        repeats = max(1, seeds // 10) if name[0] in LONG else seeds
        lines.setdefault(f"setup_{name}_k{k}", {})[strategy] = kept.of(
            {"setup": name, "k": k, "strategy": strategy, "seeds": repeats},
            lambda name=name, k=k, strategy=strategy, repeats=repeats: together(  # type: ignore[misc]
                [measure(*work, k, STRATEGIES[strategy]()) for work in _drawn(name, repeats)]
            ),
        )
    _compare(lines)
    figures["curves"] = curves | {
        name: {strategy: figure.pop("curve") for strategy, figure in line.items()}
        for name, line in lines.items()
    }
    figures["lines"] = [
        {"setup": name, "strategy": strategy} | figure
        for name, line in lines.items()
        for strategy, figure in line.items()
    ]
    figures["document"] = {"mean": DOCUMENT, "largest": DOCUMENT_LARGEST, "late": DOCUMENT_LATE}
    return figures | _summary(lines)


def _chosen(setups: Sequence[str]) -> list[str]:
    """The names of the setups that are asked for."""
    every = ["1", *PLAN]
    for asked in setups:
        if not any(asked in (name, name.split("-")[0]) for name in every):
            raise ParameterError(
                "bench.no-setup",
                "there is no setup '{asked}': there are {every}",
                asked=asked,
                every=", ".join(every),
            )
    return [name for name in every if not setups or name in setups or name.split("-")[0] in setups]


def _jobs(names: Sequence[str]) -> list[tuple[str, int, str]]:
    """What is measured: a setup, k and a strategy."""
    return [
        (name, k, strategy)
        for name, strategies in PLAN.items()
        if name in names
        for k in ((5, 7) if name == "10" else SETUPS[name].ks)
        for strategy in strategies
        if not (strategy == POOL and (name, k) == SLOW_FOR_POOL)
    ]


def _drawn(name: str, repeats: int) -> Iterator[Work]:
    if name == "10":
        data = read_adult(reference_folder()).table.data
        return (adult(data, seed) for seed in range(repeats))
    return (SETUPS[name].draw(seed) for seed in range(repeats))


def _compare(lines: dict[str, dict[str, Any]]) -> None:
    """Set every share beside the least possible one of the same run, and beside that of the literature."""
    reported = (
        ("share", DOCUMENT),
        ("largest_share", DOCUMENT_LARGEST),
        ("last_quarter_share", DOCUMENT_LATE),
    )
    for name, line in lines.items():
        for strategy, figures in line.items():
            if POOL in line and line[POOL]["least_share"]:
                figures["to_least"] = figures["share"] / line[POOL]["least_share"]
            for key, document in reported:
                if strategy in document.get(name, {}):
                    figures["to_document"] = figures[key] / document[name][strategy]


def _summary(lines: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The figures that the limits are about, and their neighbours, under stable names."""
    found: dict[str, Any] = {}
    for number in ("2", "3", "10"):
        own = [line for name, line in lines.items() if name.split("_")[1].split("-")[0] == number]
        if own:
            key = f"witness_pool_setup_{number}"
            found[f"{key}_ratio"] = max(line[POOL]["ratio"] for line in own)
            found[f"{key}_median_seconds"] = max(line[POOL]["median_seconds"] for line in own)
            found[f"clone_matching_setup_{number}_ratio"] = max(
                line[CLONE].get("to_least", 1.0) for line in own
            )
    if (main := lines.get("setup_4-10000-100_k10")) is not None:
        found["witness_pool_to_clone_matching_setup_4"] = main[POOL]["share"] / main[CLONE]["share"]
        found["clone_matching_setup_4_share"] = main[CLONE]["share"]
        compared = [name for name in DOCUMENT if name.startswith("setup_4") and name in lines]
        ours = sum(lines[name][CLONE]["share"] for name in compared)
        found["clone_matching_to_document_setup_4"] = ours / sum(DOCUMENT[name][CLONE] for name in compared)
    return found


PICTURES = {
    "Setup 1: mean degree of anonymity, nothing added": ("setup_1", None),
    "Setup 2, k = 3: strategies": ("setup_2_k3", None),
    "Setup 3, 6 new, k = 4: strategies": ("setup_3-6_k4", None),
    "Setup 4, 10,000 people, 100 values, k = 10": ("setup_4-10000-100_k10", None),
    "Setup 5, k = 10: clone matching": ("setup_5-", "_k10"),
    "Setup 6, k = 10: distributions": ("setup_6-", "_k10"),
    "Setup 7, k = 25: distributions": ("setup_7-", "_k25"),
    "Setup 8, k = 10: SA-unique variants": ("setup_8_k10", None),
    "Setup 9, k = 4: few values, large answers": ("setup_9_k4", None),
    "Setup 10, Adult, k = 7": ("setup_10_k7", None),
}
"""A line with a curve for each strategy, or the curves of clone matching for several lines."""


def draw(measured: dict[str, Any]) -> Drawing:
    """The share of artificial values by query, one picture for each setup that was measured."""
    drawings = []
    for title, (start, end) in PICTURES.items():
        lines = measured["curves"]
        if end is None:
            curves = dict(reversed(lines.get(start, {}).items()))  # the first ones are drawn on top
        else:
            chosen = [name for name in lines if name.startswith(start) and name.endswith(end)]
            curves = {name.removeprefix(start).removesuffix(end): lines[name][CLONE] for name in chosen}
        scale, axis = (1, "values") if start == "setup_1" else (100, "%")
        if curves:
            points = {
                name: [(query, scale * height) for query, height in curve] for name, curve in curves.items()
            }
            drawings.append(draw_curves(title, points, ("query", axis)))
    return side_by_side("Artificial values for 100 real ones, by query", drawings)
