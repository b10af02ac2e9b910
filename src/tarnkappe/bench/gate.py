"""How fast the gate answers, how many artificial values it needs, and how far from the least that is."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

from tarnkappe.bench.adult import read_adult, reference_folder
from tarnkappe.bench.gate_workloads import SETUPS, adult
from tarnkappe.gate import Answer, Gate, Knowledge, Population, Strategy, WitnessPool
from tarnkappe.gate.certificate import certify
from tarnkappe.gate.exact_test import settle
from tarnkappe.gate.pool import Pool
from tarnkappe.table.encoding import Progress

CLOCK = time.process_time
"""The gate decides in one thread: its processor time is what a query takes on an idle machine."""

LIMITS = {
    "exact_signatures_median_seconds": 0.1,
    "exact_signatures_worst_seconds": 1.0,
    "witness_pool_setup_2_ratio": 1.5,
    "witness_pool_setup_3_ratio": 1.5,
    "witness_pool_setup_10_ratio": 1.5,
    "witness_pool_setup_2_median_seconds": 0.1,
    "witness_pool_setup_3_median_seconds": 0.1,
    "witness_pool_setup_10_median_seconds": 0.1,
}
"""What `make bench-check` holds us to. A ratio is of artificial values to the least possible number."""


def exact_signatures(seeds: int) -> dict[str, Any]:
    """Setup 1: all exact signatures after every answer."""
    seconds: list[float] = []
    for seed in range(-1, seeds):  # the first run compiles and is not counted
        population, queries = SETUPS["1"].draw(max(seed, 0))
        knowledge = Knowledge(len(population.labels))
        pool = Pool(knowledge)
        number: dict[int, int] = {}
        truth: list[int] = []
        for query in queries:
            for person in query:
                if person not in number:
                    number[person] = len(number)
                    truth.append(population.secret(person))
            known = np.array(truth, dtype=np.int32)
            members = np.array([number[person] for person in query], dtype=np.int32)
            start = CLOCK()
            knowledge.publish(members, np.bincount(known[members], minlength=knowledge.values))
            pool = pool.carried(known, knowledge.values, 100)
            if not settle(pool):
                raise AssertionError("the exact test must decide everything")
            pool.trim(knowledge.values)
            if seed >= 0:
                seconds.append(CLOCK() - start)
    return {
        "exact_signatures_queries": len(seconds),
        "exact_signatures_median_seconds": statistics.median(seconds),
        "exact_signatures_worst_seconds": max(seconds),
    }


def measure(population: Population, queries: list[list[int]], k: int, strategy: Strategy) -> dict[str, Any]:
    """Run a sequence through a gate; what it cost, and what the least possible cost was."""
    gate = Gate(population, k, strategy)
    seconds: list[float] = []
    shares: list[float] = []
    added = least = real = 0
    for query in queries:
        start = CLOCK()
        answer = gate.ask(query)
        seconds.append(CLOCK() - start)
        if not isinstance(answer, Answer):
            raise AssertionError("with artificial values every query can be answered")
        added += answer.artificial
        least += answer.least or 0
        real += len(query)
        shares.append(answer.artificial / len(query))
    if "witnesses" in (state := strategy.state()):
        certify(gate.knowledge, state["witnesses"], k)
    return {
        "added": added,
        "least": least,
        "real": real,
        "mean_share": statistics.mean(shares),
        "largest_share": max(shares),
        "seconds": seconds,
    }


def together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Several runs as one line of figures."""
    seconds = [s for run in runs for s in run["seconds"]]
    least, added = sum(run["least"] for run in runs), sum(run["added"] for run in runs)
    return {
        "share": added / sum(run["real"] for run in runs),
        "least_share": least / sum(run["real"] for run in runs),
        "largest_share": max(run["largest_share"] for run in runs),
        "ratio": added / least if least else (1.0 if not added else float("inf")),
        "median_seconds": statistics.median(seconds),
        "worst_seconds": max(seconds),
    }


def run(progress: Progress | None = None, *, seeds: int = 20) -> dict[str, Any]:
    """Measure the exact test on setup 1 and the witness pool on setups 2, 3, 4 and 10.

    `least` is what the strategy itself has proven to be necessary, answer by answer, in the same run.
    """
    figures = exact_signatures(seeds)
    data = read_adult(reference_folder()).table.data
    few = max(1, seeds // 10)
    plan: list[tuple[str, int, int]] = [
        *((name, k, seeds) for name in ("2", "3-7", "3-6") for k in SETUPS[name].ks),
        ("10", 5, few),
        ("10", 7, few),
        ("4-10000-100", 10, few),
    ]
    lines: dict[str, dict[str, Any]] = {}
    for done, (name, k, repeats) in enumerate(plan):
        if progress:
            progress("setups", done, len(plan))
        drawn = (adult(data, seed) if name == "10" else SETUPS[name].draw(seed) for seed in range(repeats))
        lines[f"setup_{name}_k{k}"] = together([measure(*work, k, WitnessPool()) for work in drawn])
    figures["witness_pool"] = lines
    for number in ("2", "3", "10"):
        own = [
            line
            for (name, _, _), line in zip(plan, lines.values(), strict=True)
            if name.split("-")[0] == number
        ]
        figures[f"witness_pool_setup_{number}_ratio"] = max(line["ratio"] for line in own)
        figures[f"witness_pool_setup_{number}_median_seconds"] = max(line["median_seconds"] for line in own)
    return figures
