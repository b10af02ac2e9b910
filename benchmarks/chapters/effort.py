"""What makes a test cheap: projection, roll-ups, snapshots, cores."""

from __future__ import annotations

import os
from typing import Any

from benchmarks.bars import draw_bars
from benchmarks.chapter import Chapter, Experiment, Figures, Grid, Size, Story
from benchmarks.problems import adult_problem, models_of, run_search, shaped_problem, source, warm_up
from benchmarks.texts import number, ratio, seconds, share
from tarnkappe.lattice import EvaluationSettings, Flash, FlashParallel
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.chart import draw_curves

# ------------------------------------------------------------------------------------ what a test starts from

WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("everything on (200 snapshots of 20 %)", {}),
    ("no projection", {"projection": False}),
    ("no roll-up", {"roll_up": False}),
    ("no snapshots", {"snapshots": 0}),
    ("no roll-up, no snapshots", {"roll_up": False, "snapshots": 0}),
    ("nothing", {"projection": False, "roll_up": False, "snapshots": 0}),
    ("with stepping stones", {"stepping_stones": True}),
)
NUMBERS, SHARES = (10, 50, 200, 1000), (0.05, 0.2, 0.5, 1.0)


def _measure_history(size: Size, progress: Progress | None) -> Figures:
    warm_up()
    problem = adult_problem(models_of("k"), "entropy", 0.05, sensitive=False)
    jobs = list(WAYS) + [
        (f"{n} snapshots of {share(part)}", {"snapshots": n, "snapshot_share": part})
        for n in size.pick((50,), NUMBERS)
        for part in size.pick((0.2,), SHARES)
    ]
    lines = []
    for done, (name, effort) in enumerate(jobs):
        if progress:
            progress("history", done, len(jobs), name)
        search = Flash(effort=EvaluationSettings(**effort))
        lines.append({"way": name, **effort, **run_search(search, problem, repeats=size.pick(1, 3))})
    return {"source": source(), "lines": lines}


def _tell_history(figures: Figures) -> Story:
    lines = figures["lines"]
    best = lines[0]
    rows = tuple(
        (
            line["way"],
            seconds(line["seconds"]),
            ratio(line["seconds"] / best["seconds"]),
            number(line["checked"]),
            share(line["rolled_up"] / line["checked"]),
            number(line["from_snapshots"]),
            number(round(line["groups"] / line["checked"])),
            f"{line['megabytes']:.0f} MB",
        )
        for line in lines
    )
    nothing = next(line for line in lines if line["way"] == "nothing")
    others = [x["seconds"] / best["seconds"] for x in lines if "snapshot_share" in x]
    return Story(
        (
            Grid(
                f"Flash, 5-anonymity of nine columns of {figures['source']}, 5 % suppression",
                ("way", "time", "to the default", "tests", "rolled up", "from snapshots", "groups a test", "memory"),
                rows,
            ),
        ),
        f"With projection, roll-ups and the history a test goes through "
        f"{number(round(best['groups'] / best['checked']))} groups on average instead of "
        f"{number(round(nothing['groups'] / nothing['checked']))}, and the search takes "
        f"{ratio(best['seconds'] / nothing['seconds'])} the time.",
        (
            "The literature keeps 200 snapshots of at most 20 % throughout. Other numbers and sizes took "
            f"{ratio(min(others))} to {ratio(max(others))} the time of that here.",
        ),
        draw_bars(
            "What a test starts from", {x["way"]: {"": x["seconds"]} for x in lines}, "seconds", shown=seconds
        ),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ cores


LARGE = "IHIS"
PATIENCE = 10.0
"""Seconds for the large table, in which tests are counted."""


def _measure_cores(size: Size, progress: Progress | None) -> Figures:
    warm_up()
    cores = os.cpu_count() or 1
    threads = [n for n in (1, 2, 4, 8, 16) if n <= cores]
    jobs: list[tuple[str, float]] = [("ADULT", 0.0), ("ADULT", 0.04)]
    jobs += size.pick([], [("ADULT", 0.02), ("FARS", 0.02), ("FARS", 0.04), (LARGE, 0.02)])
    lines = []
    for done, (name, limit) in enumerate(sorted(jobs)):
        if progress:
            progress("cores", done, len(jobs), f"{name} {share(limit)}")
        problem = (
            adult_problem(models_of("k"), "entropy", limit, sensitive=False)
            if name == "ADULT"
            else shaped_problem(name, models_of("k"), "entropy", limit, None)
        )
        for number_of in threads:
            search = FlashParallel(threads=number_of, seconds=PATIENCE if name == LARGE else None)
            measured = run_search(search, problem, repeats=1 if name == LARGE else size.pick(1, 3))
            lines.append({"data": name, "limit": limit, "threads": number_of} | measured)
    return {"source": source(), "cores": cores, "lines": lines}


def _speed_up(alone: dict[str, Any], shared: dict[str, Any]) -> float:
    """How many times as fast: in time, or in tests if it was not waited for the end."""
    if shared["stopped"]:
        return float(shared["checked"] / shared["seconds"] / (alone["checked"] / alone["seconds"]))
    return float(alone["seconds"] / shared["seconds"])


def _tell_cores(figures: Figures) -> Story:
    lines = figures["lines"]
    alone = {(x["data"], x["limit"]): x for x in lines if x["threads"] == 1}
    gains = [(x, _speed_up(alone[x["data"], x["limit"]], x)) for x in lines]
    rows = tuple(
        (
            x["data"],
            share(x["limit"]),
            number(x["threads"]),
            seconds(x["seconds"]) if not x["stopped"] else f"more than {seconds(PATIENCE)}",
            ratio(gain),
            number(x["checked"]),
            seconds(x["seconds"] / x["checked"]),
        )
        for x, gain in gains
    )
    most, best = max(((gain, x) for x, gain in gains), key=lambda each: each[0])
    least = min(x["seconds"] / x["checked"] for x in lines)
    curves: dict[str, list[tuple[float, float]]] = {}
    for x, gain in gains:
        curves.setdefault(f"{x['data']} {share(x['limit'])}", []).append((x["threads"], gain))
    return Story(
        (Grid("Flash with several threads, 5-anonymity", ("data", "suppression", "threads", "time", "speed-up", "tests", "a test"), rows),),
        f"On {figures['cores']} cores the search is up to {ratio(most)} as fast as on one ({best['data']}); where a test "
        f"takes {seconds(least)}, sharing tests gains nothing.",
        (
            "Reported are nearly 4 times on 4 cores. Threads share the tests, and between tests Python lets one thread "
            "run at a time: it is worth it where a test takes long, which after roll-ups and by compiled code only large "
            "tables make it do. The search that users get therefore divides a single large test among the cores instead.",
            f"Speed-ups are reported for up to 12 cores; this machine has {figures['cores']}, so only the beginning "
            "of the curve can be compared.",
        ),
        draw_curves("Speed-up with threads", curves, ("threads", "times as fast")),
    )  # fmt: skip


CHAPTER = Chapter(
    "effort",
    "What makes a test cheap",
    "A test groups the table at one node. It may start from classes that an earlier test left, lift only the "
    "columns that change, and share the work with other cores; the result is the same whatever is chosen.",
    (
        Experiment(
            "history",
            "Projection, roll-up and the history",
            "Flash with each of them switched off, and with other numbers and sizes of snapshots.",
            "A history of 200 snapshots of at most 20 % of the table in all experiments; how much each part saves "
            "was only drawn.",
            _measure_history,
            _tell_history,
        ),
        Experiment(
            "cores",
            "Speed-up with cores",
            "The search that lets every thread test a path of its own, with as many threads as there are cores.",
            "Without suppression small; at 2 and 4 % nearly 4 times on 4 cores and 7 times on 8 for ADULT and FARS.",
            _measure_cores,
            _tell_cores,
        ),
    ),
)
